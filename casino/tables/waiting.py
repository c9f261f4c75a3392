"""The waiting list: players who wait for a seat at any table of a game, or at one table.

They are called in the order of their numbers, which are given one after the other; clocks decide nothing. A player
is passed over only for a reason that is on record. Sitting down with the number ends the wait, in one write.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from casino.audit.events.waiting import WaitingAdded, WaitingCalled, WaitingNoShow, WaitingRemoved
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.players import persons
from casino.safeguards import standing
from casino.tables import selectors
from casino.tables.models import Table, TableState, Waiting, WaitingEntry

_LIST = OfHouse(lock=locks.lock_waiting)


def add(*, command: Command, player_ref: str, game: str | None, table_code: str | None) -> Answer:
    """Put a player on the list: for any table of a game, or for one table only.

    Raises NotFound for an unknown player or table, or a game without a table, Gone person_forgotten, Conflict
    table_retired, already_seated or already_waiting.
    """

    def change(house: House, work: Work) -> Outcome:
        player = standing.lock(house, player_ref)
        persons.require_not_forgotten(player)
        standing.require_not_excluded(house, player)
        table = _table(house, table_code) if table_code is not None else None
        wanted = table.game if table is not None else _game(house, game or "")
        if table is not None and any(seating.player_id == player.pk for seating in selectors.seated(table)):
            raise Conflict(f"{player_ref} already sits at this table.", code="already_seated")
        ours = WaitingEntry.objects.filter(house=house)
        there = ours.filter(player=player, game=wanted, state__in=WaitingEntry.OPEN).first()
        if there is not None:
            raise Conflict(f"{player_ref} waits for {wanted} already.", code="already_waiting", ticket=there.number)
        last = ours.order_by("-number").first()
        entry = WaitingEntry.objects.create(
            house=house, number=last.number + 1 if last else 1, game=wanted, table=table, player=player
        )
        event = WaitingAdded(ticket=entry.number, player=player_ref, game=wanted, table=table.code if table else None)
        return _outcome(entry, event, status=201)

    return write.write(command, _LIST, change)


def call(*, command: Command, number: int, table_code: str, reason: str | None) -> Answer:
    """Offer the player a seat at a table, or at another one than before.

    Raises NotFound, VersionConflict, Conflict waiting_ended, other_table where the player does not wait for this one,
    table_closed or table_retired, and not_first where a player who came earlier waits for it and no reason is given.
    """

    def change(house: House, work: Work) -> Outcome:
        entry, table = _open(command, house, number), _table(house, table_code)
        if table.state == TableState.CLOSED:
            raise Conflict(f"Table {table.code} is closed.", code="table_closed", state=table.state)
        standing.require_not_excluded(house, entry.player)
        if entry.game != table.game or entry.table_id not in (None, table.pk):
            raise Conflict(f"Number {number} does not wait for table {table.code}.", code="other_table")
        if entry.called_to_id == table.pk:
            raise Conflict(f"Number {number} has been called to table {table.code}.", code="no_change")
        passed = _earlier(entry, table)
        if passed is not None and reason is None:
            raise Conflict(
                f"Number {passed.number} came earlier; pass it over with a reason.",
                code="not_first",
                ticket=passed.number,
            )
        entry.state, entry.called_to = Waiting.CALLED, table
        _update(entry, called_to=table, called_at=ClockTimestamp())
        event = WaitingCalled(ticket=number, table=table.code, reason=reason if passed is not None else None)
        return _outcome(entry, event)

    return write.write(command, _LIST, change)


def no_show(*, command: Command, number: int) -> Answer:
    """End the wait of a player who was called and did not come. Raises NotFound, VersionConflict, Conflict
    waiting_ended or not_called."""

    def change(house: House, work: Work) -> Outcome:
        entry = _open(command, house, number)
        if entry.state != Waiting.CALLED:
            raise Conflict(f"Number {number} has not been called.", code="not_called")
        _end(entry, Waiting.NO_SHOW)
        return _outcome(entry, WaitingNoShow(ticket=number))

    return write.write(command, _LIST, change)


def remove(*, command: Command, number: int, reason: str) -> Answer:
    """Take a player off the list. Raises NotFound, VersionConflict, Conflict waiting_ended."""

    def change(house: House, work: Work) -> Outcome:
        entry = _open(command, house, number)
        _end(entry, Waiting.REMOVED)
        return _outcome(entry, WaitingRemoved(ticket=number, reason=reason))

    return write.write(command, _LIST, change)


def seating(table: Table, player_ref: str, number: int) -> sql.Statement:
    """What ends the wait of a player who sits down at the locked table with this number. Raises NotFound, and Conflict
    not_called where that player was not called to this table."""
    with locks.gathered() as locking:
        locks.lock_waiting(table.house_id)
    *_, found = sql.together(*locking, _named(table.house, number))
    entry = _one(found, number)
    if (entry.state, entry.called_to_id, entry.player.ref) != (Waiting.CALLED, table.pk, player_ref):
        raise Conflict(f"{player_ref} was not called to table {table.code} with number {number}.", code="not_called")
    entry.state = Waiting.SEATED
    rows, values = _next(entry)
    return sql.updating(rows, **values, ended_at=ClockTimestamp())


def describe(entry: WaitingEntry) -> dict[str, Any]:
    """An entry as answers carry it."""
    return {
        "ticket": entry.number,
        "player": entry.player.ref,
        "game": entry.game,
        "table": entry.table.code if entry.table else None,
        "state": entry.state,
        "called_to": entry.called_to.code if entry.called_to else None,
        "version": entry.version,
    }


# --- Parts ----------------------------------------------------------------------------------------------------------


def _outcome(entry: WaitingEntry, event: Any, *, status: int = 200) -> Outcome:
    return Outcome(event, describe(entry), status, version=entry.version)


def _get(house: House, number: int) -> WaitingEntry:
    return _one(list(_named(house, number)), number)


def _named(house: House, number: int) -> QuerySet[WaitingEntry]:
    """What reads an entry."""
    return WaitingEntry.objects.select_related("player", "table", "called_to").filter(house=house, number=number)


def _one(found: Sequence[WaitingEntry], number: int) -> WaitingEntry:
    for entry in found:
        return entry
    raise NotFound(f"The waiting list has no number {number}.")


def _open(command: Command, house: House, number: int) -> WaitingEntry:
    """An entry that has not ended, at the command's version. Raises NotFound, VersionConflict, Conflict
    waiting_ended."""
    entry = _get(house, number)
    command.require_version(entry.version)
    if entry.state not in WaitingEntry.OPEN:
        raise Conflict(f"Number {number} is {entry.state}.", code="waiting_ended", state=entry.state)
    return entry


def _earlier(entry: WaitingEntry, table: Table) -> WaitingEntry | None:
    """Who came first of those before this entry who wait for the table and have not been called."""
    before = WaitingEntry.objects.filter(
        house=entry.house_id, game=entry.game, state=Waiting.WAITING, number__lt=entry.number
    )
    wanting = before.filter(table=None) | before.filter(table=table)
    return wanting.order_by("number").first()


def _end(entry: WaitingEntry, state: Waiting) -> None:
    entry.state = state
    _update(entry, ended_at=ClockTimestamp())


def _update(entry: WaitingEntry, **columns: Any) -> None:
    """Save the entry's state with its next version and these columns."""
    rows, values = _next(entry)
    rows.update(**values, **columns)


def _next(entry: WaitingEntry) -> tuple[QuerySet[WaitingEntry], dict[str, Any]]:
    """The entry's row, and what it gets with its next version."""
    entry.version += 1
    return WaitingEntry.objects.filter(id=entry.pk), {"state": entry.state, "version": entry.version}


def _table(house: House, code: str) -> Table:
    """A table that is not retired. Raises NotFound, Conflict table_retired."""
    table = selectors.get(house, code)
    if table.state == TableState.RETIRED:
        raise Conflict(f"Table {code} is retired.", code="table_retired", state=table.state)
    return table


def _game(house: House, name: str) -> str:
    """A game that some table of the house plays. Raises NotFound."""
    if not Table.objects.filter(house=house, game=name).exclude(state=TableState.RETIRED).exists():
        raise NotFound(f"This house has no table of {name}.")
    return name
