"""Counts of a table's tray: opener, closer, at a change of boxes, and any other, by the dealer and by the floor, blind
of each other.

Neither is shown what the other has counted, nor what the books expect. When both have counted the same, what is over or
short is posted at the table. An opener that is not what the last closer left, with what was sent and received since, is
an exception; so is one without a closer before it.
"""

from dataclasses import dataclass
from typing import Any

from casino.audit.events.custody import TrayConfirmed, TrayCounted, TrayCountsDiffered
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import moved_anything
from casino.chips import selectors as chips
from casino.chips.counts import chip_variance
from casino.core import denominations, locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import Conflict, NotFound
from casino.core.work import Outcome, Work
from casino.houses import days
from casino.houses.models import ClockTimestamp
from casino.staff.models import Staff
from casino.tables import services as tables
from casino.tables.models import Table, TableState
from casino.transfers import selectors, serials
from casino.transfers.choosing import Pieces
from casino.transfers.models import Purpose, TrayCount, TrayCountState, TrayException
from casino.transfers.services import require_another


def count(*, command: Command, code: str, purpose: Purpose, pieces: Pieces) -> Answer:
    """Enter what the dealer has counted in the tray. Nothing moves; a count that waits for its witness is replaced.

    Not during a hand. Raises Conflict table_..., Unprocessable for wrong pieces.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.OPEN, TableState.CLOSED)
        begun = begin(table, purpose, pieces, by=command.context.staff)
        return Outcome(
            TrayCounted(tray_count=begun.described, pieces=begun.pieces, replaced=begun.replaced), status=201
        )

    return write.write(command, tables.AtTable(code), change)


@dataclass(frozen=True, slots=True)
class Begun:
    """A count that waits for its witness, as an event says it, and the number of the count that waited before it."""

    described: dict[str, Any]
    pieces: dict[str, int]
    replaced: int | None


def begin(table: Table, purpose: Purpose, pieces: Pieces, *, by: Staff) -> Begun:
    """Let a count of the tray of a locked table wait for its witness. Raises Unprocessable for wrong pieces."""
    house = table.house
    there, tray = sql.together(
        TrayCount.objects.filter(house=house, table=table, state=TrayCountState.WAITING), _holding(table)
    )
    waiting: TrayCount | None = next(iter(there), None)
    counted = denominations.parse(chips.in_use(house), pieces)
    ended = [] if waiting is None else [_ending(waiting, TrayCountState.REPLACED)]
    found = TrayCount.objects.create(
        house=house,
        serial=serials.next_of(house, "tray", *ended),
        table=table,
        purpose=purpose,
        expected=_held(table, tray).as_json(),
        pieces=counted.as_json(),
        counted_by=by,
    )
    described = selectors.describe_tray_count(found, figures=False)
    return Begun(described, found.pieces, None if waiting is None else waiting.serial)


def at_box_change(table: Table) -> int | None:
    """The number of the newest count of a table's tray, if it was made at a change of boxes, has not ended otherwise
    than confirmed, and no chip has come into the tray or left it since: several boxes are changed with one count."""
    counts, tray = sql.together(
        TrayCount.objects.filter(house=table.house, table=table).order_by("-serial")[:1], _holding(table)
    )
    newest: TrayCount | None = next(iter(counts), None)
    if newest is None or newest.purpose != Purpose.BOX_CHANGE:
        return None
    left = {TrayCountState.WAITING: newest.expected, TrayCountState.CONFIRMED: newest.pieces}
    state = TrayCountState(newest.state)
    return newest.serial if state in left and _held(table, tray).as_json() == left[state] else None


def witness(*, command: Command, code: str, serial: int, pieces: Pieces) -> Answer:
    """Count the tray as the witness. The same as the first count is posted; another count ends it, and both count
    again.

    Raises NotFound, Conflict tray_count_... or tray_moved, table_..., Forbidden four_eyes, Unprocessable for wrong
    pieces.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.OPEN, TableState.CLOSED)
        found = _lock(table, serial)
        require_another(command, found.counted_by, "counted this")
        chip_set = chips.in_use(table.house)
        counted, expected = denominations.parse(chip_set, pieces), denominations.parse(chip_set, found.expected)
        if _tray(table) != expected:
            raise Conflict("Chips of the tray have moved since the first count; count again.", code="tray_moved")
        found.witnessed, found.witnessed_by = counted.as_json(), command.context.staff
        if counted != denominations.parse(chip_set, found.pieces):
            _end(found, TrayCountState.DIFFERED)
            described = selectors.describe_tray_count(found, figures=False)
            return Outcome(TrayCountsDiffered(tray_count=described, pieces=found.witnessed))
        found.exception = _exception(found)
        postings = chip_variance(table.account(Account.TRAY), table.code, counted - expected)
        if moved_anything(postings):
            work.post(
                key=f"tray_count:{found.serial}",
                kind="tray.counted",
                postings=postings,
                metadata={"tray_count": found.serial, "table": table.code} | _for_day(found),
            )
        _end(found, TrayCountState.CONFIRMED)
        return Outcome(
            TrayConfirmed(
                tray_count=selectors.describe_tray_count(found),
                pieces=found.witnessed,
                approver=command.context.staff.login,
            )
        )

    return write.write(command, tables.AtTable(code), change)


def open_table(*, command: Command, code: str) -> Answer:
    """Open the table, with the count of its tray on record; see :func:`casino.tables.services.open_table`."""
    return tables.open_table(command=command, code=code, counted=_opener)


def closer(table: Table) -> int | None:
    """The number of the newest confirmed opener or closer of a table's tray, if that is a closer and the tray is still
    as it was counted."""
    last = _last(table)
    if last is None or last.purpose != Purpose.CLOSER:
        return None
    return last.serial if _tray(table).as_json() == last.pieces else None


# --- Parts ----------------------------------------------------------------------------------------------------------


def _lock(table: Table, serial: int) -> TrayCount:
    found = locks.lock(TrayCount, locks.Rank.CUSTODY, house=table.house, serial=serial)
    if found.table_id != table.pk:
        raise NotFound(f"Tray count {serial} was not made at table {table.code}.")
    if found.state != TrayCountState.WAITING:
        raise Conflict(
            f"Tray count {serial} is {found.state}; make a new one.",
            code=f"tray_count_{found.state}",
            state=found.state,
        )
    found.table = table
    return found


def _for_day(count: TrayCount) -> dict[str, str]:
    """The gaming day to which a count belongs, however late its witness counts: that of the first count. Nothing where
    the house books without days."""
    return days.belongs_to(count.house, count.counted_at)


def _tray(table: Table) -> Chips:
    """What the books have in the tray."""
    return _held(table, sql.read(_holding(table)))


def _holding(table: Table) -> sql.Statement:
    """What reads that, for who reads it with something else."""
    return chart.holding_all(table.house, table.account(Account.TRAY))


def _held(table: Table, found: list[tuple[str, int]]) -> Chips:
    """What the books have in the tray, by what `_holding` has found."""
    return chart.held_in(table.house, chips.in_use(table.house).code, found)


def _exception(count: TrayCount) -> TrayException:
    """What is wrong with an opener. The last closer was posted, so that the books have had what it has counted, and
    then what was sent and received: what is expected now is what the closer left."""
    if count.purpose != Purpose.OPENER:
        return TrayException.NONE
    last = _last(count.table)
    if last is not None and last.purpose != Purpose.CLOSER:
        return TrayException.NO_CLOSER
    return TrayException.DIFFERS if count.pieces != count.expected else TrayException.NONE


def _opener(table: Table) -> int | None:
    """The number of the newest confirmed opener of a table's tray, None where a closer came after it."""
    last = _last(table)
    return last.serial if last is not None and last.purpose == Purpose.OPENER else None


def _last(table: Table) -> TrayCount | None:
    """The newest confirmed opener or closer."""
    ends = (Purpose.OPENER, Purpose.CLOSER)
    found = TrayCount.objects.filter(table=table, state=TrayCountState.CONFIRMED, purpose__in=ends)
    return found.order_by("serial").last()


def _end(count: TrayCount, state: TrayCountState) -> None:
    sql.together(_ending(count, state))


def _ending(count: TrayCount, state: TrayCountState) -> sql.Statement:
    count.state = state
    return sql.updating(
        TrayCount.objects.filter(id=count.pk),
        state=state,
        witnessed=count.witnessed,
        witnessed_by=count.witnessed_by,
        exception=count.exception,
        ended_at=ClockTimestamp(),
    )
