"""Changing seats: at the same table, or to another one with the stack.

A move is one transaction: both tables are locked in the order of their ids, the stack goes from one to the other in one
posting, and each table's chain has its half of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from casino.audit.events import AuditEvent
from casino.audit.events.tables import MovedIn, MovedOut, SeatChanged
from casino.bookkeeping import chart
from casino.bookkeeping.postings import posting
from casino.core import commands, locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp
from casino.players import persons
from casino.safeguards import standing
from casino.tables import carrying, selectors, services, waiting
from casino.tables.carrying import Session
from casino.tables.models import Seating, Table, TableState
from casino.tables.services import AtTable, at_seat, require_none_prepared, require_state

#: Terms in which two tables agree between which a stack is moved whatever it has become.
_SAME = ("game", "min_stack", "max_stack")


def change_seat(*, command: Command, code: str, seat: int, to_seat: int, session: Session) -> Answer:
    """Let a player take another seat of the table, with the same stack. The key of the seat's device ends.

    Raises NotFound, Conflict table_..., deal_prepared, seat_taken, no_change, session_under_way where the game's
    session goes by seats, Unprocessable no_such_seat.
    """

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.OPEN)
        require_none_prepared(table)
        seatings = selectors.seated(table)
        seating = at_seat(table, seat, seatings)
        if seat == to_seat:
            raise Conflict(f"{seating.player.ref} sits on seat {seat} already.", code="no_change")
        standing.require_not_excluded(table.house, seating.player)
        found = session(table, seatings)
        carrying.require_settled(found, seating.player.ref)
        if found.under_way:
            raise Conflict("A session is under way, in the order of the seats.", code="session_under_way", owed={})
        services.occupy(table, to_seat, seating.player, _stands_up(seating))
        return Outcome(SeatChanged(seat=seat, to_seat=to_seat, player=seating.player.ref))

    return write.write(command, AtTable(code), change)


@dataclass(frozen=True, slots=True)
class _Both:
    """The table that a player leaves, at whose terminal this is written, and the one where the player sits down."""

    left: Table
    taken: Table


@dataclass(frozen=True, slots=True)
class _BetweenTables:
    """Two tables as the subject of a write at the terminal of the first, whose version is checked."""

    code: str
    to_code: str

    def open(self, command: Command) -> _Both:
        """Lock both. Raises NotFound, WrongTerminal, VersionConflict, Conflict no_change where they are one."""
        house, here = command.context.house, AtTable(self.code)
        if self.code == self.to_code:
            raise Conflict(f"{self.code} is the table where the player sits.", code="no_change")
        (left, taken), _ = commands.locked_two(command, Table, locks.Rank.DESK, code=(self.code, self.to_code))
        both = _Both(left, taken)
        both.left.house = both.taken.house = house
        here.require_place(command.context, both.left)
        command.require_version(both.left.version)
        return both

    def chain(self, both: _Both) -> str:
        """That of the table which the player leaves."""
        return both.left.chain

    def advance(self, both: _Both, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """The next version of the table which the player leaves."""
        return AtTable(self.code).advance(both.left, work, outcome)

    def answer(self, both: _Both, outcome: Outcome) -> Mapping[str, Any]:
        """The table which the player leaves, as it is now."""
        return AtTable(self.code).answer(both.left, outcome)


def move(
    *, command: Command, code: str, seat: int, to_code: str, to_seat: int, session: Session, ticket: int | None = None
) -> Answer:
    """Let a player go to a seat of another table with the whole stack. It must keep to the limits there, unless the
    two tables have the same game and the same limits. `ticket`: the player's number on the waiting list.

    Raises NotFound, Gone person_forgotten, Conflict table_..., no_change, seat_taken, already_seated, not_called or
    session_under_way, Unprocessable no_such_seat or stack_out_of_range.
    """

    def change(both: _Both, work: Work) -> Outcome:
        left, taken = both.left, both.taken
        require_state(left, TableState.OPEN)
        require_state(taken, TableState.OPEN, TableState.PLAYING, TableState.SETTLING)
        seating = at_seat(left, seat)
        player = seating.player.ref
        carrying.require_settled(session(left, [seating]), player)
        ended = [] if ticket is None else [waiting.seating(taken, player, ticket)]
        stack = chart.money_at(left.house, left.stack_account(player))
        locked, [[(amount,)]] = standing.lock_beside(left.house, player, stack)
        if any(getattr(left, name) != getattr(taken, name) for name in _SAME):
            services.require_limits(taken, amount)
        persons.require_not_forgotten(locked)
        standing.require_play(left.house, locked)
        services.occupy(taken, to_seat, seating.player, *ended, _stands_up(seating))
        _record_arrival(
            work, taken, MovedIn(seat=to_seat, player=player, amount=amount, from_table=code, ticket=ticket)
        )
        if amount:
            work.post(
                key=command.ledger_key(),
                kind="table.moved",
                postings=[
                    posting("left", {"table": code, "player": player}, amount=amount),
                    posting("sat_down", {"table": to_code, "player": player}, amount=amount),
                ],
                metadata={"table": code, "to": to_code, "player": player},
            )
        return Outcome(MovedOut(seat=seat, player=player, amount=amount, to_table=to_code, to_seat=to_seat))

    return write.write(command, _BetweenTables(code, to_code), change)


def _record_arrival(work: Work, table: Table, event: MovedIn) -> None:
    """The half of the move in the chain of the table where the player sits down."""
    arrival = Work(work.house, work.actor)
    services.advance(table, arrival)
    arrival.record(chain=table.chain, event=services.at_version(event, table.version))


def _stands_up(seating: Seating) -> sql.Statement:
    return sql.updating(Seating.objects.filter(id=seating.pk), left_at=ClockTimestamp())
