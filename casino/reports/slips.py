"""The slips of drawers that reports show: Z slips of shifts that have ended, X readings as they were taken.

What a slip says is read again from the events of its shift and from the entries that they posted; neither changes when
the shift has ended, or what comes after the reading is left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import face_value
from casino.cage.blind import CONTENTS
from casino.cage.models import Drawer, Shift
from casino.cage.readings import MONEY, ShiftRead
from casino.reports.frame.blind import open_drawers
from casino.reports.frame.columns import Row, coded, count, money, ref, text
from casino.reports.frame.filters import DRAWER
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Filter, FilterKind, Scope
from casino.reports.frame.trail import DaysOfEvents, at, place

OPENED, CLOSED, READ = ("drawer.opened", "drawer.reopened"), "drawer.closed", "drawer.x_read"
#: What an account of the drawer held before an event.
_HELD = """
SELECT account.code, account.commodity, newest.balance_after::bigint
FROM ledger_account account
CROSS JOIN LATERAL (
    SELECT entry.balance_after FROM ledger_entry entry
    JOIN audit_posting noted ON noted.transaction_id = entry.transaction_id
    WHERE entry.account_id = account.id AND noted.event_id < %s ORDER BY entry.version DESC LIMIT 1
) newest
WHERE account.book = %s AND account.code = ANY(%s) ORDER BY account.code, account.commodity
"""
NUMBER_Z = Filter("z", FilterKind.CODE, "Only the slips of this number.")
NUMBER_X = Filter("x", FilterKind.CODE, "Only the readings of this number.")
#: Columns of what moved, kind by kind, after those that say of which slip.
MOVEMENTS = (
    coded("kind", "Kind"), count("count", "Times"), money("cash_in", "Cash in"), money("cash_out", "Cash out"),
    money("chips_in", "Chips in"), money("chips_out", "Chips out"), money("foreign_in", "Other houses' in"),
    money("foreign_out", "Other houses' out"), count("first_serial", "First serial", total=False),
    count("last_serial", "Last serial", total=False),
)  # fmt: skip
#: Columns of sums that must be equal.
CHECKS = (
    text("sum", "Sum"), money("money_one", "One, money", total=False),
    money("money_other", "Other, money", total=False), count("one", "One", total=False),
    count("other", "Other", total=False), count("holds", "Holds"),
)  # fmt: skip
_MOVED = (
    "kind", "count", "cash_in", "cash_out", "chips_in", "chips_out", "foreign_in", "foreign_out", "first_serial",
    "last_serial",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slip:
    """A shift that has ended, its gaming day (that in which it began), and the event that closed it, by id and by its
    number in the chain."""

    drawer: Drawer
    shift: Shift
    day: str
    event: int
    seq: int

    @property
    def name(self) -> Row:
        """What its rows begin with."""
        return self.drawer.code, self.shift.number

    def read(self) -> ShiftRead:
        """Its events and what they posted."""
        return ShiftRead(self.drawer, self.shift)


@dataclass(frozen=True, slots=True)
class Reading:
    """An X reading: its number at the drawer, its shift, its event by id and by number in the chain, by whom, when."""

    drawer: Drawer
    shift: Shift
    number: int
    day: str
    event: int
    seq: int
    by: str
    at: datetime

    @property
    def name(self) -> Row:
        """What its rows begin with."""
        return self.drawer.code, self.number

    def is_blind(self, scope: Scope) -> bool:
        """Whether the reader of this run may still have to count, without knowing it, what the reading has
        seen: its shift had not ended."""
        opened = open_drawers(scope).get(self.drawer.code) if scope.blind else None
        return opened is not None and opened < self.event

    def read(self) -> ShiftRead:
        """What it has seen."""
        return ShiftRead(self.drawer, self.shift, before=self.seq)

    def held(self) -> dict[str, dict[str, int]]:
        """What the ledger had in the drawer then: units by account number and commodity."""
        codes = [self.drawer.account(number) for number in CONTENTS]
        found: dict[str, dict[str, int]] = {str(number): {} for number in CONTENTS}
        for code, commodity, balance in fetched(_HELD, [self.event, self.drawer.house_id, codes]):
            found[code.partition("/")[0]][commodity] = balance
        return found


OF_Z = (ref("drawer", "Drawer"), count("z", "Z", total=False))
OF_X = (ref("drawer", "Drawer"), count("x", "X", total=False))


def closings(scope: Scope) -> dict[tuple[str, int], tuple[int, int, str]]:
    """By drawer and shift: the event that closed it (id, number in the chain) and the gaming day in which it began,
    as the run asks for them."""
    days, began = DaysOfEvents(scope), {}
    found: dict[tuple[str, int], tuple[int, int, str]] = {}
    for event, chain, seq, doc in events(scope, [*OPENED, CLOSED]):
        drawer, data = place(chain), doc["data"]
        if doc["kind"] != CLOSED:
            began[drawer, data["shift"]] = event
            continue
        key = drawer, data["reconciliation"]["shift"]
        opened = began.get(key, event)
        if days.takes(opened) and _asked(scope, DRAWER, drawer) and _asked(scope, NUMBER_Z, str(key[1])):
            found[key] = event, seq, days.of(opened)
    return found


def slips(scope: Scope) -> Iterator[Slip]:
    """The Z slips that a run asks for, by drawer and number."""
    closed = closings(scope)
    rows = Shift.objects.filter(house=scope.house, drawer__code__in={drawer for drawer, _ in closed})
    people = ("drawer__house", "handed_to", "opened_by", "counted_by", "recounted_by", "closed_by")
    for shift in rows.select_related(*people).order_by("drawer__code", "number"):
        found = closed.get((shift.drawer.code, shift.number))
        if found is not None and shift.closed_at is not None:
            yield Slip(shift.drawer, shift, found[2], *found[:2])


def readings(scope: Scope) -> Iterator[Reading]:
    """The X readings that a run asks for, as they were taken."""
    days = DaysOfEvents(scope)
    rows = Shift.objects.filter(house=scope.house).select_related("drawer__house", "opened_by")
    for event, chain, seq, doc in events(scope, [READ], days.range):
        drawer, data = place(chain), doc["data"]
        if days.takes(event) and _asked(scope, DRAWER, drawer) and _asked(scope, NUMBER_X, str(data["x_reading"])):
            shift = rows.get(drawer__code=drawer, number=data["shift"])
            yield Reading(
                shift.drawer, shift, data["x_reading"], days.of(event), event, seq, doc["actor"], at(doc)
            )  # fmt: skip


def movements(name: Row, read: ShiftRead) -> Iterator[Row]:
    """What moved, kind by kind."""
    for row in read.as_json()["movements"]:
        yield (*name, *(row[column] for column in _MOVED))


def checks(name: Row, equalities: list[dict[str, Any]]) -> Iterator[Row]:
    """Sums of a slip that must be equal: money apart from pieces and counts."""
    for one in equalities:
        sums = (one["left"], one["right"])
        nothing = (None, None)
        of_money, others = (sums, nothing) if one["type"] == MONEY else (nothing, sums)
        yield (*name, one["name"], *of_money, *others, int(one["equal"]))


def worth(pieces: Mapping[Any, int] | None) -> int:
    """What pieces by denomination are worth, in minor units."""
    return sum(int(value) * number for value, number in (pieces or {}).items())


def by_value(pieces: Mapping[str, int]) -> dict[int, int]:
    """Pieces by what one of them is worth, from pieces by commodity."""
    found: dict[int, int] = {}
    for commodity, number in pieces.items():
        found[face_value(commodity)] = found.get(face_value(commodity), 0) + number
    return found


def cash_of(held: Mapping[str, Mapping[str, int]], number: Account) -> int:
    """Minor units on one account of a drawer."""
    return sum(held[str(number)].values())


def _asked(scope: Scope, one: Filter, value: str) -> bool:
    return scope.filters.get(one.name) in (None, value)
