"""What players have paid in and were paid, added up by person, gaming day and window from the events alone: what an
event says of it, who had to be known, and who had to approve what reached a control point only together with others.

An event is written after the sums were read. What stands within TOLERANCE of the edge of a window, or of a gaming day,
may be counted or not: sums are judged by the least and the most that they can be.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from .shelf import declare
from .state_approvals import APPROVAL, LINKED, Approvals
from .state_approvers import Points
from .state_people import PERSON_KEY
from .state_rows import TOLERANCE, Handler, Row, Rows, seconds_between

#: Which way money goes by the kind of the event.
DIRECTIONS = {
    **dict.fromkeys(("cage.buy_in", "cage.bearer_buy_in", "cage.deposit_taken", "cage.noncash_buy_in"), "in"),
    "table.buy_in": "in",
    **dict.fromkeys(("cage.cash_out", "cage.bearer_cash_out", "cage.deposit_returned", "cage.noncash_paid"), "out"),
    **dict.fromkeys(("cage.payout_released", "payout.paid_by_bank", "cage.late_claim_paid"), "out"),
}
_ATTRIBUTED = {"chips.attributed": 1, "chips.unattributed": -1}
#: Always approved, whatever is reached.
_OTHERWISE = ("cage.payout_released", "payout.paid_by_bank", *_ATTRIBUTED)
_SECONDS = {"linked_hours": 3_600.0, "linked_days": 86_400.0, "linked_long_days": 86_400.0}
GAMING_DAY = "gaming_day"


@declare
class _Flow(NamedTuple):
    at: str
    #: The gaming day; several where one was opened or closed about then.
    days: frozenset[str]
    amount: int


class Flows:
    """Judges each transaction by those of the same person before it."""

    def __init__(self, rows: Rows, approvals: Approvals) -> None:
        self._rows, self._approvals = rows, approvals
        #: By person and direction, in the order of the log; by number where an entry of a drawer can be taken back.
        self._paid: dict[tuple[str, str], dict[tuple[str, int], _Flow]] = {}
        #: The open gaming days, the newest last; and until when another one was the newest.
        self._open: list[str] = []
        self._before: tuple[str, str] | None = None
        self.handlers: dict[str, Handler] = {
            **dict.fromkeys(DIRECTIONS, self._traded),
            **dict.fromkeys(_ATTRIBUTED, self._attributed),
            "cage.corrected": self._corrected,
            "day.opened": self._day_opened,
            "day.closed": self._day_closed,
        }

    def net(self, who: str) -> int:
        """What a person has paid in, less what the person was paid, in minor units."""
        paid = {direction: self._paid.get((who, direction), {}).values() for direction in ("in", "out")}
        return sum(flow.amount for flow in paid["in"]) - sum(flow.amount for flow in paid["out"])

    # --- Gaming days -------------------------------------------------------------------------------------------------

    def _day_opened(self, doc: Row) -> None:
        self._before = (self._newest(), doc["at"])
        self._open.append(doc["data"]["day"])

    def _day_closed(self, doc: Row) -> None:
        if doc["data"]["day"] in self._open:
            self._before = (self._newest(), doc["at"])
            self._open.remove(doc["data"]["day"])

    def _newest(self) -> str:
        return self._open[-1] if self._open else ""

    def _days(self, at: str) -> frozenset[str]:
        before = self._before
        near = before is not None and seconds_between(before[1], at) <= TOLERANCE
        return frozenset((self._newest(), *((before[0],) if near and before is not None else ())))

    # --- Transactions ------------------------------------------------------------------------------------------------

    def _traded(self, doc: Row) -> None:
        self._take(doc, doc["kind"], doc["data"])

    def _corrected(self, doc: Row) -> None:
        """What is taken back counts no more; the right entry is looked at as any other."""
        taken = (doc["chain"], doc["data"]["corrects"])
        for paid in self._paid.values():
            paid.pop(taken, None)
        right = doc["data"].get("right") or {}
        if right.get("kind") in DIRECTIONS:
            self._take(doc, right["kind"], right)

    def _attributed(self, doc: Row) -> None:
        data = doc["data"]
        direction = data.get("direction", "in")
        signed = data["amount"] * _ATTRIBUTED[doc["kind"]] * (1 if direction == "in" else -1)
        days = frozenset((data["for_day"],)) if "for_day" in data else self._days(doc["at"])
        if signed > 0:
            self._judge(doc, data["player"], direction, doc["kind"], data)
        elif "threshold_reached" in data:
            self._differs(doc, "what is taken back reaches no threshold")
        self._add(doc, data["player"], direction, _Flow(doc["at"], days, signed))

    def _take(self, doc: Row, kind: str, data: Row) -> None:
        direction = DIRECTIONS[kind]
        who: str | None = data.get("player")
        if who is None:
            if "threshold_reached" in data:
                self._differs(doc, "nobody is named whose sums it could be")
            return
        self._judge(doc, who, direction, kind, data)
        self._add(doc, who, direction, _Flow(doc["at"], self._days(doc["at"]), data["amount"]))

    def _add(self, doc: Row, who: str, direction: str, flow: _Flow) -> None:
        self._paid.setdefault((who, direction), {})[doc["chain"], doc["seq"]] = flow

    # --- Judging -----------------------------------------------------------------------------------------------------

    def _judge(self, doc: Row, who: str, direction: str, kind: str, data: Row) -> None:
        points = self._approvals.in_force_about(doc["at"])
        if any(one[name] != points[0][name] for one in points for name in LINKED):
            return  # windows were changed about then: which were counted, nobody can tell
        ranges = self._ranges(doc["at"], self._paid.get((who, direction), {}).values(), points[0])
        amount, said = data["amount"], data.get("threshold_reached")
        before = {window: least for window, (least, _) in ranges.items()}
        if said is not None:
            claimed = self._said(doc, direction, amount, said, ranges)
            if claimed is None:
                return
            before = claimed
        most = max(amount, *(paid + amount for paid in before.values()))
        threshold = [one["identity_from"] for one in points]
        if said is not None and most < min(threshold):
            self._differs(doc, f"{most} is below the threshold {min(threshold)}")
        if said is None and most >= max(threshold):
            self._differs(doc, f"{who} has come to {most} with it, from {max(threshold)} on it says so")
        if most >= max(threshold) > amount and self._rows.seek(PERSON_KEY, who) is None:
            problem = f"{who} has come to {most} with it, from {max(threshold)} on it must be recorded who that is"
            self._rows.find("identity_missing", f"{doc['chain']}#{doc['seq']}", problem)
        if kind not in _OTHERWISE:
            self._judge_approval(doc, amount, before, points)

    def _said(
        self, doc: Row, direction: str, amount: int, said: Any, ranges: dict[str, tuple[int, int]]
    ) -> dict[str, int] | None:
        """What an event says was paid before, by window; None, and found, where that cannot be."""
        parts: dict[str, Any] = said if isinstance(said, dict) else {}
        found = parts.get("sums")
        sums: dict[str, Any] = found if isinstance(found, dict) else {}
        fits = sums.keys() == ranges.keys() and all(type(one) is int for one in sums.values())
        if not fits or parts.get("direction") != direction:
            self._differs(doc, f"{said} are no sums of what went {direction}")
            return None
        before = {window: paid - amount for window, paid in sums.items()}
        for window, (least, most) in ranges.items():
            if not least <= before[window] <= most:
                self._differs(doc, f"{window}: {sums[window]} is said, it is {least + amount} to {most + amount}")
                return None
        return before

    def _ranges(self, at: str, paid: Iterable[_Flow], points: Points) -> dict[str, tuple[int, int]]:
        """The least and the most that can have been paid before a moment, by window."""
        days, found = self._days(at), {GAMING_DAY: [0, 0], **{name: [0, 0] for name in LINKED}}
        for flow in paid:
            known = days & flow.days - {""}
            if known:
                _count(found[GAMING_DAY], flow.amount, certain=len(days | flow.days) == 1)
            age = _age(flow.at, at)
            for name, seconds in _SECONDS.items():
                length = points[name] * seconds
                if length and age < length + TOLERANCE:
                    _count(found[name], flow.amount, certain=age < length - TOLERANCE)
        return {window: (least, most) for window, (least, most) in found.items()}

    def _judge_approval(self, doc: Row, amount: int, before: dict[str, int], points: list[Points]) -> None:
        """What reaches a control point only together with others; what reaches it alone, others judge."""
        place, data = f"{doc['chain']}#{doc['seq']}", doc["data"]
        used = self._rows.seek(APPROVAL, str(data["approval"])) if "approval" in data else None
        for name, by_both in (("exchange_by_manager_from", True), ("exchange_by_supervisor_from", False)):
            if all(_reaches(one[name], amount, before) for one in points) and (
                used is None or (by_both and not used["every_role"])
            ):
                problem = f"with {amount} more the sums reach {name}, and nobody has approved it who must"
                self._rows.find("approval_missing", place, problem)
                return

    def _differs(self, doc: Row, problem: str) -> None:
        self._rows.find("threshold_differs", f"{doc['chain']}#{doc['seq']}", problem)


def _count(found: list[int], amount: int, *, certain: bool) -> None:
    """Add an amount to the least and the most that a sum can be."""
    if certain or amount < 0:
        found[0] += amount
    if certain or amount > 0:
        found[1] += amount


def _age(earlier: str, later: str) -> float:
    """Seconds from one moment to another; a moment that is none is always counted, and never for certain."""
    try:
        return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _reaches(line: int, amount: int, before: dict[str, int]) -> bool:
    if line <= 0 or amount >= line:
        return False
    return any((max(paid, 0) + amount) // line > max(paid, 0) // line for paid in before.values())
