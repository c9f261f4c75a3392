"""The log of transactions as the cage and the tables write it: who was in a transaction of the books, on whose behalf
it was made, and what was seen beside the books. A line that is wrong is withdrawn with a reason, and stays."""

import re
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import CharField, Max, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Concat

from casino.audit.events.watching import LogLineEntered, LogLineWithdrawn
from casino.audit.models import Posting
from casino.bookkeeping import chart, flows
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.flows import Direction
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.moments import utc, utc_or_none
from casino.core.work import Outcome, Work
from casino.houses import days
from casino.houses.models import ClockTimestamp, House
from casino.players import persons
from casino.players.models import Player
from casino.safeguards import notes
from casino.watching import unknown
from casino.watching.models import Capacity, Filing, LogLine, UnknownPerson

R = TypeVar("R", LogLine, Filing)
#: An event by its chain and its number there, as reports write it: `drawer/C1#17`.
TRADE = r"^(drawer|table|house)/[A-Za-z0-9_-]{1,32}#[1-9][0-9]{0,9}\Z"
_WHAT = "line of the log"
_NAMED = ("unknown_person", "player", "entered_by", "withdrawn_by")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a line says of itself that is about no transaction of the books; amount in minor units."""

    place: str
    kind: str
    direction: str
    amount: int


def enter(
    *, command: Command, unknown_person: int | None, player: str | None, capacity: Capacity, trade: str | None,
    seen: Seen | None, note: str,
) -> Answer:  # fmt: skip
    """Enter a line: of a transaction of the books, or of what was seen. Raises NotFound, Unprocessable log_line_form,
    Conflict person_identified, trade_has_player, trade_attached."""

    def change(house: House, work: Work) -> Outcome:
        _require_form(unknown_person, player, capacity, trade, seen)
        person = None if unknown_person is None else unknown.require_unidentified(house, unknown_person)
        who = None if player is None else persons.get(house, player)
        if trade is not None:
            found = of_books(house, trade)
            _require_free(house, found, capacity, person, who)
        elif seen is not None:
            found = _seen(house, seen)
        row = _add(work, person, who, capacity, found, note)
        event = LogLineEntered(
            line=row.number, unknown_person=unknown_person, player=player, capacity=str(capacity),
            transaction=row.transaction, day=row.day, place=row.place, line_kind=row.kind, direction=row.direction,
            amount=row.amount, note_sha256=notes.digest(bytes(row.note)),
        )  # fmt: skip
        linked = None if person is None else linked_of(person, row.day)
        return Outcome(event, describe(row, trade) | {"linked": linked}, 201, version=row.number)

    return write.write(command, unknown.LOG, change)


def withdraw(*, command: Command, number: int, reason: str) -> Answer:
    """Withdraw a line: it stays, and counts no more. Raises NotFound, Conflict log_line_withdrawn."""

    def change(house: House, work: Work) -> Outcome:
        rows = LogLine.objects.filter(house=house, number=number)
        row = rows.first()
        if row is None:
            raise NotFound(f"The log of this house has no line {number}.")
        if row.withdrawn_at is not None:
            raise Conflict(f"Line {number} was withdrawn.", code="log_line_withdrawn")
        staff = command.context.staff
        rows.update(withdrawn_by=staff, withdrawn_at=ClockTimestamp(), withdrawn_reason=reason)
        now = with_trades(rows).get()
        return Outcome(LogLineWithdrawn(line=number, reason=reason), describe(now, trade_of(now)), version=number)

    return write.write(command, unknown.LOG, change)


def of_books(house: House, trade: str) -> flows.Trade:
    """The transaction of the books that an event records, named as reports do (`drawer/C1#17`). Raises NotFound where
    it records none, or that was taken back."""
    found = None
    if re.match(TRADE, trade):
        chain, _, seq = trade.partition("#")
        found = flows.trade(house, chain, int(seq))
    if found is None:
        raise NotFound(f"This house has no transaction {trade}, or it was taken back.")
    return found


def of_trade(
    work: Work, person: UnknownPerson, transaction: int, *, day: str, place: str, kind: str, direction: Direction,
    amount: int,
) -> tuple[LogLine, dict[str, Any]]:  # fmt: skip
    """The line of a trade that has named an unknown person, who is locked; and what that person has paid and was paid
    in the gaming day, this included. The trade's own event proves the line."""
    found = flows.Trade(transaction, day, "", str(direction), amount, kind, place)
    return _add(work, person, None, Capacity.SELF, found, ""), linked_of(person, day)


def linked_of(person: UnknownPerson, day: str) -> dict[str, Any]:
    """What a person has paid in and was paid in a gaming day, in minor units."""
    paid = unknown.sums(person, day)
    return {"day": day or None, "paid_in": paid[Direction.IN], "paid_out": paid[Direction.OUT]}


# --- Parts -----------------------------------------------------------------------------------------------------------


def _require_form(
    unknown_person: int | None, player: str | None, capacity: Capacity, trade: str | None, seen: Seen | None
) -> None:
    if (unknown_person is None) == (player is None):
        raise _form("A line is about an unknown person or about a player.")
    if (trade is None) == (seen is None):
        raise _form("A line names a transaction, or says place, kind, direction and amount of what was seen.")
    if capacity == Capacity.BEHALF and trade is None:
        raise _form("On whose behalf it was made is said of a transaction of the books.")


def _form(detail: str) -> Unprocessable:
    return Unprocessable(detail, code="log_line_form")


def _require_free(
    house: House, trade: flows.Trade, capacity: Capacity, person: UnknownPerson | None, who: Player | None
) -> None:
    """One person makes a transaction, and nobody is in it twice."""
    if capacity == Capacity.SELF and trade.who:
        raise Conflict(f"The transaction names the player {trade.who}.", code="trade_has_player", player=trade.who)
    standing = LogLine.objects.filter(house=house, transaction=trade.transaction, withdrawn_at=None)
    own = trade.who and who is not None and who.ref == trade.who
    if own or standing.filter(unknown_person=person, player=who).exists():
        raise Conflict("This person is in the transaction already.", code="trade_attached")
    if capacity == Capacity.SELF and standing.filter(capacity=Capacity.SELF).exists():
        raise Conflict("Somebody else is in the log as who has made it.", code="trade_attached")


def _seen(house: House, seen: Seen) -> flows.Trade:
    try:
        chart.ids(house, {(f"{Account.CHIPS_UNATTRIBUTED}/{seen.place}", house.currency)})
    except KeyError:
        raise NotFound(f"This house has no table or drawer {seen.place}.") from None
    return flows.Trade(0, days.newest(house), "", seen.direction, seen.amount, seen.kind, seen.place)


def _add(
    work: Work, person: UnknownPerson | None, who: Player | None, capacity: Capacity, found: flows.Trade, note: str
) -> LogLine:
    """Add a line under the lock of the log."""
    if work.command is None:
        raise AssertionError("a line is entered by a person")
    house, staff = work.house, work.command.context.staff
    number = 1 + (LogLine.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0)
    return LogLine.objects.create(
        house=house, number=number, unknown_person=person, player=who, capacity=capacity,
        transaction=found.transaction or None, day=found.day, place=found.place, kind=found.kind,
        direction=found.direction, amount=found.amount, note=notes.seal(house, note, _WHAT, number), entered_by=staff,
    )  # fmt: skip


def with_events(rows: QuerySet[R]) -> QuerySet[R]:
    """Rows that have a `transaction`, with the event that records it (`trade`, `drawer/C1#17`)."""
    noted = Posting.objects.filter(transaction_id=OuterRef("transaction"))
    event = Concat("event__chain__name", Value("#"), Cast("event__seq", CharField()), output_field=CharField())
    return rows.annotate(trade=Subquery(noted.annotate(named=event).values("named")[:1]))


def with_trades(rows: QuerySet[LogLine]) -> QuerySet[LogLine]:
    """Lines with whom they name, and with the events of their transactions."""
    return with_events(rows.select_related(*_NAMED))


def trade_of(row: LogLine) -> str | None:
    """The event of a listed line's transaction, `drawer/C1#17`; None for what was seen."""
    found: str | None = getattr(row, "trade", None)
    return found


def note_of(row: LogLine) -> str:
    """What was said. Raises SealedUnreadable, SealKeyWrong."""
    return notes.unseal(row.house, row.note, _WHAT, row.number)


def describe(row: LogLine, trade: str | None) -> dict[str, Any]:
    """A line as answers have it, without what was said."""
    return {
        "line": row.number,
        "unknown_person": row.unknown_person.number if row.unknown_person else None,
        "player": row.player.ref if row.player else None,
        "capacity": row.capacity,
        "trade": trade,
        "day": row.day or None,
        "place": row.place,
        "kind": row.kind,
        "direction": row.direction,
        "amount": row.amount,
        "entered_by": row.entered_by.login,
        "entered_at": utc(row.entered_at),
        "withdrawn_by": row.withdrawn_by.login if row.withdrawn_by else None,
        "withdrawn_at": utc_or_none(row.withdrawn_at),
        "withdrawn_reason": row.withdrawn_reason,
    }
