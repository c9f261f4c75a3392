"""Rulings on hands whose money has moved, against what their events record that they moved: no database."""

from copy import deepcopy
from typing import Any

import pytest

from casino.audit.verifier.findings import Report
from casino.audit.verifier.hand import Hand
from casino.audit.verifier.later_rulings import LaterRulings
from casino.audit.verifier.shelf import Shelf

NAME = "T1-000001"
DEALT = {
    "hand": NAME, "table": "T1", "number": 1, "seats": [{"seat": 1, "player": "anna"}, {"seat": 2, "player": "bela"}],
}  # fmt: skip
LEGS = [
    ["4010/T1", "HUF", 60], ["2020/T1/anna", "HUF", -60], ["5230/T1", "HUF", 300], ["2020/T1/bela", "HUF", -300],
    ["2020/T1/anna", "HUF", 40], ["2020/T1/bela", "HUF", -40], ["9130/T1", "HUF.MAIN.5", -72],
    ["9170/T1", "HUF.MAIN.5", 72],
]  # fmt: skip
GOOD: dict[str, Any] = {
    "chain": "table/T1", "seq": 9, "kind": "hand.ruled_later", "postings": [{"tx": 7, "legs": LEGS}],
    "data": {
        "hand": NAME, "ruling": 1, "tax_refunded": {"p1": 60}, "made_good": {"p2": 300}, "settlement": 7,
        "collected": [{"loser": "p1", "winner": "p2", "amount": 40, "consent": "slip"}],
    },
}  # fmt: skip


def found(*docs: dict[str, Any], state: str = "settled") -> list[str]:
    """What is found in rulings on a hand of two that has paid a tax of 100, in this state."""
    report = Report()
    rulings, hand = LaterRulings(report, "HUF", Shelf()), Hand(DEALT, "table/T1", 0)
    hand.state = state
    hand.summary |= {"result": {"tax": 100}, "ruling": {"tax": 100}}
    rulings.over(NAME, hand)
    for doc in docs:
        rulings.take(doc)
    return [finding.code for finding in report.findings]


def changed(**data: Any) -> dict[str, Any]:
    """The good ruling with other data."""
    doc = deepcopy(GOOD)
    doc["data"] |= data
    return doc


def nothing(number: int) -> dict[str, Any]:
    """A ruling that moves nothing."""
    empty = changed(ruling=number, tax_refunded={}, made_good={}, collected=[], settlement=None)
    return empty | {"postings": []}


def test_a_ruling_that_moves_what_it_says_is_good() -> None:
    assert found(GOOD, nothing(2)) == []
    assert found(nothing(2), nothing(3), state="ruled") == []


@pytest.mark.parametrize(
    ("doc", "code"),
    [
        (changed(tax_refunded={"p1": 61}), "hand_money_differs"),
        (changed(fee_refunded={"p1": 1}), "hand_money_differs"),
        (changed(made_good={"p1": 300}), "hand_money_differs"),
        (changed(made_good={"p9": 300}), "hand_money_differs"),
        (changed(collected=[]), "hand_money_differs"),
        (changed(settlement=8), "hand_differs"),
        (changed(settlement=None), "hand_differs"),
        (changed(ruling=2), "hand_differs"),
        (changed(hand="T1-000002"), "hand_differs"),
        (GOOD | {"chain": "table/T2"}, "hand_differs"),
        (GOOD | {"postings": []}, "hand_money_differs"),
    ],
)
def test_a_ruling_that_moves_something_else_is_found(doc: dict[str, Any], code: str) -> None:
    assert code in found(doc)


def test_more_tax_than_was_paid_is_found() -> None:
    again = changed(ruling=2, settlement=8) | {"postings": [{"tx": 8, "legs": LEGS}]}
    assert found(GOOD, again) == ["hand_money_differs"]


def test_a_void_hand_is_not_ruled_on() -> None:
    assert found(nothing(1), state="voided") == ["hand_differs"]
