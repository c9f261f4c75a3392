"""What the verifier makes of sums of one person's transactions that were altered, or left out, or not looked at."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.proof.test_judgements import DRAWER, HOUSE, Doc, Docs, add, as_sold, codes, evening

FROM, SUPERVISOR, MANAGER = 800_000, 2_000_000, 4_000_000
HOUR = 3_600


def after(docs: Docs, seconds: int) -> str:
    """So long after the newest event."""
    then = datetime.fromisoformat(docs[-1]["at"]) + timedelta(seconds=seconds)
    return then.isoformat(timespec="microseconds").replace("+00:00", "Z")


def pay(docs: Docs, amount: int, *, seconds: int = 300, player: str = "a", said: Doc | None = None) -> None:
    """Pay a player at the drawer, some time after the newest event."""
    data: Doc = {"player": player, "amount": amount} | ({} if said is None else {"threshold_reached": said})
    add(docs, DRAWER, "cage.cash_out", data, at=after(docs, seconds), **as_sold(docs))
    docs[-1]["seq"] = 1_000 + len(docs)


def sums(day: int, *windows: int, direction: str = "out") -> Doc:
    """What an event says; the gaming day first."""
    hours, days, long_days = windows or (day, day, day)
    said = {"gaming_day": day, "linked_hours": hours, "linked_days": days, "linked_long_days": long_days}
    return {"direction": direction, "sums": said}


def know(docs: Docs) -> None:
    """It is recorded who the player is."""
    data = {"player": "a", "version": 2, "sealed_sha256": "0" * 64, "fields": ["name"]}
    add(docs, HOUSE, "player.person_recorded", data)


@pytest.fixture
def docs() -> Docs:
    """A gaming day begins after a good evening, with a player who is known."""
    found = evening()
    know(found)
    add(found, HOUSE, "day.opened", {"day": "2026-11-24"}, at=after(found, 40 * 86_400))
    return found


def test_sums_that_are_right(docs: Docs) -> None:
    """Otherwise the cases below would prove little."""
    pay(docs, 500_000)
    pay(docs, 400_000, said=sums(900_000))
    pay(docs, 100_000, seconds=25 * HOUR, said=sums(1_000_000, 100_000, 1_000_000, 1_000_000))
    assert codes(docs) == []


@pytest.mark.parametrize(
    "said",
    [
        None,
        sums(900_001),
        sums(400_000),
        sums(900_000, direction="in"),
        {"direction": "out", "sums": {"gaming_day": 900_000}},
    ],
)
def test_sums_that_differ(docs: Docs, said: Doc | None) -> None:
    pay(docs, 500_000)
    pay(docs, 400_000, said=said)
    assert codes(docs) == ["threshold_differs"]


def test_sums_below_the_threshold_are_not_said(docs: Docs) -> None:
    pay(docs, 500_000)
    pay(docs, 100_000, said=sums(600_000))
    assert codes(docs) == ["threshold_differs"]


def test_somebody_unknown_in_parts() -> None:
    docs = evening()
    add(docs, HOUSE, "day.opened", {"day": "2026-11-24"}, at=after(docs, 40 * 86_400))
    pay(docs, 500_000)
    pay(docs, 400_000, said=sums(900_000))
    assert codes(docs) == ["identity_missing"]


def test_what_is_taken_back_counts_no_more(docs: Docs) -> None:
    pay(docs, 500_000)
    data = {"corrects": docs[-1]["seq"], "was": "cage.cash_out", "mirrors": {}}
    add(docs, DRAWER, "cage.corrected", data, at=after(docs, 300), **as_sold(docs), reason="keyed wrong")
    pay(docs, 400_000)
    assert "threshold_differs" not in codes(docs)


def test_another_player_has_sums_of_their_own(docs: Docs) -> None:
    pay(docs, 500_000, player="b")
    pay(docs, 400_000)
    assert codes(docs) == []


@pytest.mark.parametrize(
    ("booked", "amount", "expected"),
    [("attributed", 500_000, ["threshold_differs"]), ("attributed", 300_000, []), ("unattributed", 900_000, [])],
)
def test_what_compliance_attributes_counts(docs: Docs, booked: str, amount: int, expected: list[str]) -> None:
    data: dict[str, Any] = {"player": "a", "place": "C1", "amount": amount}
    add(docs, HOUSE, f"chips.{booked}", data, at=after(docs, 300), reason="found out")
    add(
        docs,
        DRAWER,
        "cage.deposit_taken",
        {"player": "a", "amount": 400_000, "deposit": 400_000},
        at=after(docs, 300),
        **as_sold(docs),
    )
    found = codes(docs)
    assert [code for code in found if code == "threshold_differs"] == expected


@pytest.mark.parametrize(("parts", "expected"), [((1_900_000, 100_000), ["approval_missing"]), ((1_000_000,) * 1, [])])
def test_parts_of_what_must_be_approved(docs: Docs, parts: tuple[int, ...], expected: list[str]) -> None:
    total = 0
    for part in parts:
        total += part
        pay(docs, part, said=sums(total))
    assert codes(docs) == expected


def test_nobody_is_named(docs: Docs) -> None:
    data = {"amount": 1, "threshold_reached": sums(1)}
    add(docs, DRAWER, "cage.bearer_cash_out", data, at=after(docs, 300), **as_sold(docs))
    assert codes(docs) == ["threshold_differs"]
