"""What the verifier makes of payments for chips of lapsed sets that were altered, or never were."""

from typing import Any

import pytest

from tests.proof.test_judgements import DRAWER, HOUSE, Doc, Docs, add, as_sold, codes, evening

FIVE = {"100": 3, "500": 1}
WORTH = 800


def lapse(docs: Docs, pieces: dict[str, int] | None = None, amount: int = WORTH) -> None:
    """A chip set is withdrawn and lapses, and the house knows the player."""
    for code in ("FIRST", "NEXT"):
        add(docs, HOUSE, "chips.introduced", {"chip_set": code, "denominations": {"100": "", "500": ""}})
    data = {"chip_set": "NEXT", "withdrawn": "FIRST", "redeem_until": "2026-11-01"}
    add(docs, HOUSE, "chips.put_in_use", data)
    add(docs, HOUSE, "chips.lapsed", {"chip_set": "FIRST", "amount": amount, "pieces": pieces or FIVE})
    know(docs)


def know(docs: Docs) -> None:
    """It is recorded who the player is."""
    data = {"player": "a", "version": 2, "sealed_sha256": "0" * 64, "fields": ["name"]}
    add(docs, HOUSE, "player.person_recorded", data)


def claim(
    docs: Docs, number: int, left: int, pieces: dict[str, int], legs: list[Any] | None = None, **data: Any
) -> None:
    """The player brings chips and is paid, but for what is named."""
    amount = sum(int(value) * count for value, count in pieces.items())
    posted: list[Any] = [["2095", "HUF", amount], ["1020/C1", "HUF", -amount]]
    for value, count in pieces.items():
        commodity = f"HUF.FIRST.{value}"
        posted += [["9115/C1", commodity, count], ["9199", commodity, -count]]
    said: Doc = {"claim": number, "player": "a", "chip_set": "FIRST", "amount": amount, "exchanged": pieces}
    postings = [{"tx": 7, "about": "", "legs": posted if legs is None else legs}]
    add(docs, DRAWER, "cage.late_claim_paid", said | {"left": left} | data, postings=postings, reason="was abroad")


def test_what_lapsed_is_paid_in_parts() -> None:
    """Otherwise the cases below would prove little."""
    docs = evening()
    lapse(docs)
    claim(docs, 1, 300, {"500": 1})
    claim(docs, 2, 0, {"100": 3})
    assert codes(docs) == []


def test_a_piece_too_many_came_back_before() -> None:
    docs = evening()
    lapse(docs, {"100": -1, "500": 2}, 900)
    claim(docs, 1, 400, {"500": 1})
    assert codes(docs) == []
    claim(docs, 2, -100, {"500": 1})
    assert codes(docs) == ["lapsed_overpaid"]


def found(docs: Docs) -> list[str]:
    """What is found, each once."""
    return sorted(set(codes(docs)))


@pytest.mark.parametrize(
    ("number", "left", "pieces", "changed", "code"),
    [
        (2, 300, {"500": 1}, {}, "serial_gap"),
        (1, 300, {"500": 1}, {"legs": []}, "state_event_differs"),
        (1, 300, {"500": 1}, {"legs": [["2095", "HUF", 500], ["1020/C1", "HUF", -500]]}, "state_event_differs"),
        (1, 400, {"500": 1}, {}, "state_event_differs"),
        (1, 200, {"500": 1}, {"amount": 600}, "state_event_differs"),
        (1, -200, {"500": 2}, {}, "lapsed_overpaid"),
        (1, 400, {"100": 4}, {}, "lapsed_overpaid"),
        (1, 0, {"100": 1}, {"chip_set": "NEXT"}, "state_event_differs"),
        (1, 300, {"500": 1}, {"player": "b"}, "identity_missing"),
        (1, 300, {"500": 1}, {"player": "nobody"}, "state_not_recorded"),
    ],
    ids=[
        "a number skipped", "nothing posted", "no chips posted", "left too much", "paid more than was brought",
        "more pieces than lapsed", "more of one denomination", "a set in use", "somebody unknown", "nobody",
    ],
)  # fmt: skip
def test_a_payment_that_cannot_be(
    number: int, left: int, pieces: dict[str, int], changed: dict[str, Any], code: str
) -> None:
    docs = evening()
    lapse(docs)
    assert codes(docs) == []
    claim(docs, number, left, pieces, **changed)
    assert found(docs) == [code]


def test_the_same_chips_are_paid_twice() -> None:
    docs = evening()
    lapse(docs)
    claim(docs, 1, 300, {"500": 1})
    claim(docs, 2, -200, {"500": 1})
    assert found(docs) == ["lapsed_overpaid"]


def test_chips_of_a_set_that_did_not_lapse_or_is_retired() -> None:
    docs = evening()
    know(docs)
    for code in ("FIRST", "NEXT"):
        add(docs, HOUSE, "chips.introduced", {"chip_set": code, "denominations": {"100": "", "500": ""}})
    claim(docs, 1, 0, {"100": 1})
    assert found(docs) == ["state_event_differs"]
    docs = evening()
    lapse(docs)
    add(docs, HOUSE, "chips.retired", {"chip_set": "FIRST"})
    assert codes(docs) == []
    claim(docs, 1, 300, {"500": 1})
    assert found(docs) == ["state_event_differs"]


def test_more_lapsed_than_its_pieces_are_worth() -> None:
    docs = evening()
    lapse(docs, amount=900)
    assert codes(docs) == ["state_event_differs"]


def test_a_cashier_pays_without_an_approval() -> None:
    docs = evening()
    lapse(docs)
    claim(docs, 1, 300, {"500": 1})
    docs[-1] |= as_sold(docs)
    assert "approval_missing" in codes(docs)
