"""What players have paid in and were paid, twice over: as the ledger has it, and as the events record it; with the
control points that were in force at each transaction. Both are read up to the moment of the report."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from heapq import merge
from operator import itemgetter
from typing import Any

from casino.bookkeeping import flows
from casino.bookkeeping.flows import CASH, KINDS, MOVED, Direction
from casino.houses import control_points
from casino.houses.models import Limits
from casino.reports.frame import span
from casino.reports.frame.filters import EVER, DayRange
from casino.reports.frame.movements import events
from casino.reports.frame.reading import stream
from casino.reports.frame.report import Scope

_FLOWS = f"""
SELECT flow.id, flow.posted_at, flow.kind, flow.day, flow.who, flow.direction, flow.amount::bigint,
    coalesce(flow.metadata ->> 'drawer', flow.metadata ->> 'table', flow.metadata ->> 'place', ''),
    event.id, chain.name, event.seq, event.doc ->> 'actor', event.doc ->> 'approver'
FROM ({flows.FLOWS_AS_OF} AND (%s OR t.period_id = ANY(%s)
    OR t.metadata ? 'for_day' AND t.metadata ->> 'for_day' = ANY(%s))) flow
JOIN audit_posting noted ON noted.transaction_id = flow.id
JOIN audit_event event ON event.id = noted.event_id
JOIN audit_chainhead chain ON chain.id = event.chain_id
ORDER BY flow.id
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Flow:
    """One transaction: amount in minor units, below zero where compliance took it back from a person. `who` is empty
    for somebody of whom nothing is known, `day` where the house had no gaming day."""

    transaction: int
    at: datetime
    kind: str
    day: str
    who: str
    direction: str
    amount: int
    place: str
    event: int
    chain: str
    seq: int
    by: str
    approver: str

    @property
    def is_cash(self) -> bool:
        """Whether it was paid in cash."""
        return self.kind in CASH

    @property
    def means(self) -> str:
        """Cash in, cash out, or without cash; attributed by compliance."""
        return "attributed" if self.kind in MOVED else f"{'cash' if self.is_cash else 'non-cash'} {self.direction}"


_NAMES = tuple(one.name for one in fields(Flow))


def transactions(scope: Scope, days: DayRange = EVER) -> Iterator[Flow]:
    """Every one that was not taken back, in the order of the postings, in flat memory; of days with a first one those
    that are of these days or for them, and few others."""
    until, lies = scope.as_of.transaction, span.within(scope, days)
    bounds = [lies.is_whole, lies.ids, lies.names]
    parameters = [scope.house.currency, scope.house.id, list(KINDS), until, until, *bounds]
    for row in stream(_FLOWS, parameters):
        known = dict(zip(_NAMES, row, strict=True))
        yield Flow(**known | {name: known[name] or "" for name in ("day", "who", "approver")})


@dataclass(frozen=True, slots=True)
class Said:
    """One transaction as its event says it."""

    event: int
    at: datetime
    kind: str
    who: str
    direction: str
    amount: int
    reached: bool
    #: The gaming day to which compliance has said that it belongs; empty otherwise.
    for_day: str


_DIRECTIONS = {
    "cage.buy_in": "in", "cage.bearer_buy_in": "in", "cage.deposit_taken": "in", "table.buy_in": "in",
    "cage.noncash_buy_in": "in",
    "cage.cash_out": "out", "cage.bearer_cash_out": "out", "cage.deposit_returned": "out",
    "cage.payout_released": "out", "cage.late_claim_paid": "out", "cage.foreign_chips": "out",
    "cage.noncash_paid": "out", "payout.paid_by_bank": "out",
}  # fmt: skip


def said(scope: Scope, days: DayRange = EVER) -> list[Said]:
    """The same by the events alone: what a correction has taken back is left out, what it made instead is there."""
    found: dict[tuple[str, int], Said] = {}
    # What is corrected or attributed later may be of these days, too.
    paid = events(scope, [kind for kind in KINDS if kind not in MOVED], days)
    later = events(scope, (*MOVED, "cage.corrected"), DayRange(days.first, None))
    for event, chain, seq, doc in merge(paid, later, key=itemgetter(0)):
        kind, data = doc["kind"], doc["data"]
        if kind == "cage.corrected":
            found.pop((chain, data["corrects"]), None)
            data = data.get("right") or {}
            kind = data.get("kind", "")
        if kind in _DIRECTIONS or kind in MOVED:
            found[chain, seq] = _said(event, datetime.fromisoformat(doc["at"]), kind, data)
    return list(found.values())


def _said(event: int, at: datetime, kind: str, data: dict[str, Any]) -> Said:
    amount, reached = data.get("foreign_chips", data)["amount"], "threshold_reached" in data
    direction = _DIRECTIONS.get(kind) or data.get("direction", str(Direction.IN))
    if kind in MOVED and (kind == "chips.attributed") != (direction == Direction.IN):
        amount = -amount
    return Said(event, at, kind, data.get("player", ""), direction, amount, reached, data.get("for_day", ""))


class Points:
    """The control points by the moment at which they were in force; what was set is never edited."""

    def __init__(self, scope: Scope) -> None:
        rows = list(Limits.objects.filter(house=scope.house).order_by("valid_from", "number"))
        self._since = [row.valid_from for row in rows]
        self._points = [control_points.defaults(scope.house) | row.points for row in rows]
        self._first = control_points.defaults(scope.house)

    def at(self, moment: datetime) -> dict[str, int]:
        """By name."""
        before = bisect_right(self._since, moment)
        return self._points[before - 1] if before else self._first

    def least(self, name: str) -> int:
        """The smallest value that a point ever had."""
        return min(int(points[name]) for points in (self._first, *self._points))

    def longest_window(self) -> timedelta:
        """The longest one that ever was looked at."""
        every = (self._first, *self._points)
        return max(timedelta(**{unit: points[name]}) for points in every for name, unit in flows.WINDOWS.items())

    def windows(self, moment: datetime) -> dict[str, timedelta]:
        """The windows that were looked at besides the gaming day, by name."""
        points = self.at(moment)
        lengths = {name: timedelta(**{unit: points[name]}) for name, unit in flows.WINDOWS.items()}
        return {name: length for name, length in lengths.items() if length}
