"""A11: the master sheet of the soft count: every box that was taken off a table, its counts, and what was expected."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import face_value
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, pieces, ref, time
from casino.reports.frame.filters import DAYS, TABLE, DayRange
from casino.reports.frame.movements import events, turned
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import (
    FIGURES,
    Equality,
    Filter,
    FilterKind,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)  # fmt: skip
from casino.reports.frame.trail import DaysOfEvents
from casino.staff.models import Role

_KINDS = ("box.swapped", "box.brought", "box.counted", "box.counts_differed", "box.count_decided", "box.received")
_KIND = Filter("kind", FilterKind.CHOICE, "Only boxes of this kind.", choices=("drop", "tax", "tip"))
_RECEIVED = "box.received"


@dataclass(slots=True)
class _Box:
    """A box that was taken off a table, with the newest figures and every count in its order."""

    part: dict[str, Any] = field(default_factory=dict)
    at: dict[str, datetime] = field(default_factory=dict)
    #: The event of its receipt; 0 before.
    receipt: int = 0
    counts: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def received(self) -> bool:
        """Whether it was counted and taken into the vault."""
        return bool(self.part["state"] == "received")

    @property
    def expected(self) -> int:
        """Worth of what was expected in it, minor units."""
        return int(self.part.get("expected_cash", 0)) + _worth(self.part.get("expected_pieces", {}))

    @property
    def counted(self) -> int:
        """Worth of what was found in it."""
        return int(self.part.get("cash", 0)) + _worth(self.part.get("pieces", {}))


def _worth(held: dict[str, int]) -> int:
    return sum(int(value) * number for value, number in held.items())


def _all(scope: Scope) -> list[_Box]:
    found: dict[int, _Box] = {}
    for event, _, _, doc in events(scope, _KINDS):
        data, act = doc["data"], doc["kind"]
        part = data.get("taken") if act == "box.swapped" else data["box"]
        if part is None:
            continue
        one = found.setdefault(part["box"], _Box())
        one.part |= part
        one.at.setdefault(act, datetime.fromisoformat(doc["at"]))
        if act == _RECEIVED:
            one.receipt = event
        if "count" in data:
            one.counts.append((doc["actor"], data["count"]))
    return sorted(found.values(), key=lambda one: one.part["box"])


def _wanted(scope: Scope) -> list[_Box]:
    days, named = DayRange.of(scope), {name: scope.filters[name] for name in ("table", "kind") if name in scope.filters}
    return [
        one
        for one in _all(scope)
        if days.takes(one.part["for_day"] or "") and all(one.part[name] == value for name, value in named.items())
    ]


def _rows(scope: Scope) -> Iterator[Row]:
    """Figures only of boxes that were received: until then the counts are blind."""
    for one in _wanted(scope):
        part, done = one.part, one.received
        yield (
            part["for_day"] or None, part["table"], part["kind"], part["box"], part["number"], part["seal"],
            part["seal_read"], part["state"], one.at["box.swapped"], part["taken_by"], one.at.get("box.brought"),
            part["brought_by"], one.at.get(_RECEIVED), part["received_by"], part["decided_by"], part["observer"],
            part["differing_rounds"], part["cash"] if done else 0, sum(part["pieces"].values()) if done else 0,
            one.counted if done else 0, one.expected if done else 0, one.counted - one.expected if done else 0,
        )  # fmt: skip


def _counts(scope: Scope) -> Iterator[Row]:
    for one in _wanted(scope):
        if one.received:
            for counter, counted in one.counts:
                worth = counted["cash"] + _worth(counted["pieces"])
                yield one.part["box"], one.part["table"], one.part["kind"], counted.get("round"), counter, worth


def _denominations(scope: Scope) -> Iterator[Row]:
    found: dict[tuple[str, int], int] = {}
    for one in _wanted(scope):
        for value, number in one.part["pieces"].items() if one.received else ():
            found[one.part["kind"], int(value)] = found.get((one.part["kind"], int(value)), 0) + number
    for (kind, value), number in sorted(found.items()):
        yield kind, value, number, value * number


#: What receipts brought into the vault, by the postings of their events.
_BROUGHT = """
SELECT split_part(account.code, '/', 1), account.commodity, sum(entry.amount * account.normal_side)::bigint
FROM audit_posting noted JOIN ledger_entry entry ON entry.transaction_id = noted.transaction_id
JOIN ledger_account account ON account.id = entry.account_id
WHERE noted.event_id = ANY(%s) AND account.book = %s AND split_part(account.code, '/', 1) = ANY(%s) GROUP BY 1, 2
"""


def _shown(scope: Scope, results: Results) -> Iterator[Equality]:
    """The boxes that are shown against what their own receipts have posted."""
    receipts = [one.receipt for one in _wanted(scope) if one.received]
    numbers = [str(Account.VAULT_CASH), str(Account.VAULT_CHIPS)]
    brought = dict.fromkeys(numbers, 0)
    for number, commodity, net in fetched(_BROUGHT, [receipts, scope.house.id, numbers]):
        brought[number] += net * face_value(commodity)
    cash, chips = results["boxes"].totals["cash"], results["denominations"].totals["worth"]
    yield Equality("cash of these boxes = what their receipts brought to 1010", cash, brought[numbers[0]], Type.MONEY)
    yield Equality("chips of these boxes = what their receipts brought to 9110", chips, brought[numbers[1]], Type.MONEY)


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    """Those that are shown, then all boxes, whatever is shown: where a first day is asked for, those that were received
    in these days."""
    yield from _shown(scope, results)
    days = DaysOfEvents(scope)
    every, whole = [one for one in _all(scope) if one.received], days.range.first is None
    received = [one for one in every if whole or days.takes(one.receipt)]
    vault = {"cash": 0, "chips": 0}
    bought, short, left = 0, 0, 0
    numbers = (Account.VAULT_CASH, Account.VAULT_CHIPS, Account.DROP_CASH, Account.CASH_OVER_SHORT)
    for one in turned(scope, numbers, days.range):
        if not whole and not days.range.takes(one.day):
            continue
        if one.number == Account.CASH_OVER_SHORT:
            short += one.net if one.kind == _RECEIVED else 0
        elif one.number == Account.DROP_CASH:
            left += one.net
            bought += one.net if one.kind == "table.buy_in" else 0
        elif one.kind == _RECEIVED:
            vault["cash" if one.number == Account.VAULT_CASH else "chips"] += face_value(one.commodity) * one.net
    yield Equality(
        "cash of all boxes = cash that came to 1010"
        if whole
        else "cash of all boxes that came in these days = cash that came to 1010 in them",
        sum(box.part["cash"] for box in received),
        vault["cash"],
        Type.MONEY,
    )
    chips = sum(_worth(box.part["pieces"]) for box in received)
    yield Equality(
        "chips of all boxes = chips that came to 9110"
        if whole
        else "chips of all boxes that came in these days = chips that came to 9110 in them",
        chips,
        vault["chips"],
        Type.MONEY,
    )
    expected = sum(box.part["expected_cash"] for box in received if box.part["kind"] == "drop")
    if not scope.blind:
        yield Equality(
            "cash expected and cash in boxes = cash of buy-ins at tables"
            if whole
            else "cash expected of these days, and more cash in boxes than before = cash of buy-ins at tables",
            expected + left,
            bought,
            Type.MONEY,
        )
    # Cash in a tip box is the staff's, and no difference that the house bears.
    differences = sum(box.part["cash_variance"] for box in received if box.part["kind"] != "tip")
    yield Equality("cash over and short of drop and tax boxes = 5200 by soft counts", differences, -short, Type.MONEY)
    yield Equality(
        "chips by box = chips by denomination",
        results["boxes"].totals["pieces"],
        results["denominations"].totals["pieces"],
        Type.PIECES,
    )


REPORT = Report(
    id="soft-count",
    number="A11",
    version=2,
    title="Soft count sheet",
    text="Boxes that were taken off tables, by gaming day: seals, who took, brought, counted and received them, what "
    "was found and expected. A box shows no figure before it is received.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.COUNT, Role.CAGE_SUPERVISOR),
    blind_roles=(Role.COUNT, Role.CAGE_SUPERVISOR),
    sections=(
        Section(
            "boxes",
            "Boxes",
            (
                Column("day", "Gaming day", Type.DAY), ref("table", "Table"), coded("kind", "Kind"),
                count("serial", "Serial", total=False), ref("number", "Box"), ref("seal", "Seal"),
                ref("seal_read", "Seal as read"), coded("state", "State"), time("taken_at", "Taken"),
                ref("taken_by", "Taken by"), time("brought_at", "Brought"), ref("brought_by", "Brought by"),
                time("received_at", "Received"), ref("received_by", "Received by"), ref("decided_by", "Decided by"),
                ref("observer", "Observer"), count("differing_rounds", "Rounds that differed"), money("cash", "Cash"),
                pieces("pieces", "Pieces"), money("counted", "Counted"), money("expected", "Expected"),
                money("difference", "Difference"),
            ),
            _rows,
            groups=("day", "table", "kind"),
        ),
        Section(
            "counts",
            "Counts",
            (
                count("serial", "Serial of the box", total=False), ref("table", "Table"), coded("kind", "Kind"),
                count("round", "Round", total=False), ref("counted_by", "Counted by"),
                money("counted", "Counted", total=False),
            ),
            _counts,
            groups=("table", "kind", "counted_by"),
        ),
        Section(
            "denominations",
            "By denomination",
            (
                coded("kind", "Kind"), money("value", "Face value", total=False), pieces("pieces", "Pieces"),
                money("worth", "Worth"),
            ),
            _denominations,
            groups=("kind",),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, TABLE, _KIND, FIGURES),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
