"""Later adjustments by the trail alone: what events of later work have posted, and the gaming day in which that work
began, as the events before it say.

The ledger has the day in the metadata of each posting, which the code that posts writes there. Here it follows from the
event with which the work began, so that the two can be compared."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from casino.bookkeeping.chart import kind_of
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import DaysOfEvents

#: What begins work that may end in another gaming day, and what it ends with.
_BEGUN = ("day.opened", "drawer.opened", "drawer.reopened", "tray.counted", "vault.counted")
_LATER = (
    "drawer.closed", "tray.confirmed", "vault.count_signed_off", "variance.offset", "box.received", "hand.ruled_later",
    "chips.attributed", "chips.unattributed",
)  # fmt: skip
#: Of the ends of hands, which are as many as hands, only those of hands that were ruled on later.
_ENDED = """
SELECT doc #>> '{data,hand}', min(id) FROM audit_event
WHERE house_id = %s AND id <= %s AND doc ->> 'kind' IN ('hand.settled', 'hand.ruled')
AND doc #>> '{data,hand}' = ANY(%s) GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class Said:
    """What an event has posted on one account for another day than its own: on the account's normal side, minor units
    or pieces."""

    for_day: str
    day: str
    transaction: int
    code: str
    commodity: str
    amount: int


@dataclass(slots=True)
class _Begun:
    """The events with which work began, by what it is, and the gaming days by the events that opened them."""

    events: dict[tuple[str, ...], int] = field(default_factory=dict)
    openings: list[int] = field(default_factory=list)
    days: list[str] = field(default_factory=list)

    def add(self, event: int, chain: str, doc: Mapping[str, Any]) -> None:
        """Take an event up. Who counts once more goes on with work that has begun."""
        kind, data = doc["kind"], doc["data"]
        if kind == "day.opened":
            self.openings.append(event)
            self.days.append(data["day"])
        elif kind.startswith("drawer."):
            self.events.setdefault((chain, str(data["shift"])), event)
        elif kind == "tray.counted":
            self.events.setdefault((chain, "tray", str(data["tray_count"]["tray_count"])), event)
        else:
            self.events.setdefault(("vault", str(data["vault_count"]["vault_count"])), event)

    def day(self, chain: str, doc: Mapping[str, Any]) -> str:
        """The gaming day to which later work belongs; empty where the house had opened none when it began."""
        kind, data = doc["kind"], doc["data"]
        if kind == "box.received":
            return str(data["box"]["for_day"] or "")
        if kind.startswith("chips."):
            return str(data.get("for_day", ""))
        event = self.events.get(_work(kind, chain, data), 0)
        before = bisect_right(self.openings, event)
        return self.days[before - 1] if before else ""


def _work(kind: str, chain: str, data: Mapping[str, Any]) -> tuple[str, ...]:
    """What later work is about, as `_Begun` has it."""
    match kind:
        case "drawer.closed":
            return chain, str(data["reconciliation"]["shift"])
        case "tray.confirmed":
            return chain, "tray", str(data["tray_count"]["tray_count"])
        case "vault.count_signed_off":
            return "vault", str(data["vault_count"]["vault_count"])
        case "variance.offset" if data.get("drawer"):
            return f"drawer/{data['drawer']}", str(data["count"])
        case "variance.offset":
            return "vault", str(data["count"])
    return "hand", data["hand"]


def said(scope: Scope, numbers: Collection[str]) -> Iterator[Said]:
    """What events have posted on the accounts of these numbers for another day than the one in which they were
    recorded, of which the run has asked for one or the other, in their order."""
    begun, days = _Begun(_ended(scope)), DaysOfEvents(scope)
    for event, chain, _, doc in events(scope, (*_BEGUN, *_LATER)):
        if doc["kind"] in _BEGUN:
            begun.add(event, chain, doc)
            continue
        for_day, day = begun.day(chain, doc), days.of(event)
        if for_day not in ("", day) and (days.range.takes(for_day) or days.range.takes(day)):
            yield from _posted(doc, numbers, for_day, day)


def _ended(scope: Scope) -> dict[tuple[str, ...], int]:
    """The events that ended hands which were ruled on later, by what `_work` says of such a ruling."""
    hands = sorted({doc["data"]["hand"] for *_, doc in events(scope, ("hand.ruled_later",))})
    found = fetched(_ENDED, [scope.house.id, scope.as_of.event, hands]) if hands else []
    return {("hand", hand): event for hand, event in found}


def _posted(doc: Mapping[str, Any], numbers: Collection[str], for_day: str, day: str) -> Iterator[Said]:
    for posting in doc.get("postings", ()):
        sums: dict[tuple[str, str], int] = {}
        for code, commodity, debit in posting.get("legs", ()):
            if code.partition("/")[0] in numbers:
                sums[code, commodity] = sums.get((code, commodity), 0) + debit * kind_of(code).normal_side
        for (code, commodity), amount in sums.items():
            yield Said(for_day, day, posting["tx"], code, commodity, amount)
