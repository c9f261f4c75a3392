"""Chips without a name: whose they are is not asked below the threshold, and what a player brings is paid."""

from typing import Any

import pytest

from casino.approvals.control_points import set_at_founding
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.transfers.test_transfers import refusal

#: From here on, an exchange needs a name.
THRESHOLD = 800_000
REASON = {"reason": "seen on the video"}


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier at a drawer with chips, and Anna, who has bought for 10,000."""
    set_at_founding(house=kit.house, points={"identity_from": THRESHOLD}, actor=ACTOR)
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=2_000_000, pieces={"100000": 20, "5000": 20, "1000": 20})
    desk.ok("buy-ins", {"player": "anna", "amount": 10_000, "pieces": {"5000": 2}})
    return desk


def test_chips_are_sold_and_bought_back_without_a_name(kit: Kit, cashier: Desk) -> None:
    sold = cashier.ok("bearer-buy-ins", {"amount": 6_000})["last_event"]
    assert (sold["kind"], sold["exchanged"]) == ("cage.bearer_buy_in", {"5000": 1, "1000": 1})
    assert kit.balance("2015/C1", "1020/C1", "2010/anna") == [6_000, 2_016_000, 10_000]
    # More comes back than was sold without a name: Anna gave two of hers to a friend.
    for pieces in ({"5000": 2}, {"5000": 1, "1000": 1}):
        worth = sum(int(value) * count for value, count in pieces.items())
        bought = cashier.ok("bearer-cash-outs", {"amount": worth, "pieces": pieces})["last_event"]
        assert (bought["kind"], bought["exchanged"]) == ("cage.bearer_cash_out", pieces)
    assert kit.balance("2015/C1", "1020/C1", "2010/anna") == [-10_000, 2_000_000, 10_000]
    assert custody(kit.house)["equal"]
    assert verification(kit.house)["ok"]


def test_from_the_threshold_on_a_name_is_needed(kit: Kit, cashier: Desk) -> None:
    cashier.ok("bearer-buy-ins", {"amount": THRESHOLD - 1_000})
    for path, body in (
        ("bearer-buy-ins", {"amount": THRESHOLD}),
        ("bearer-cash-outs", {"amount": THRESHOLD, "pieces": {"100000": 8}}),
    ):
        answer = cashier.post(path, body)
        assert refusal(answer) == (409, "identity_required")
        assert answer.json()["amount"] == THRESHOLD
    assert kit.balance("2015/C1") == THRESHOLD - 1_000


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"amount": 1_000, "pieces": {"1000": 1}}, (409, "chips_not_in_circulation")),
        ({"amount": 5_001, "pieces": {"5000": 1}}, (422, "chips_do_not_add_up")),
        ({"amount": 5_000}, (400, "invalid_request")),
        ({"amount": 5_000, "player": "anna", "pieces": {"5000": 1}}, (400, "invalid_request")),
    ],
)
def test_what_nobody_can_bring_is_not_paid(kit: Kit, cashier: Desk, body: Any, refused: tuple[int, str]) -> None:
    assert refusal(cashier.post("bearer-cash-outs", body)) == refused
    assert kit.balance("2015/C1") == 0


def test_a_booked_balance_is_no_limit_to_the_chips_that_a_player_brings(kit: Kit, cashier: Desk) -> None:
    """Bela has bought nothing; Anna gave Bela a chip."""
    assert refusal(cashier.post("cash-outs", {"player": "bela", "amount": 5_000})) == (409, "insufficient_funds")
    paid = cashier.ok("cash-outs", {"player": "bela", "amount": 5_000, "pieces": {"5000": 1}})["last_event"]
    assert (paid["attributed"], paid["player_chips"]) == (5_000, 0)
    assert kit.balance("2010/anna", "2010/bela", "2015/C1") == [10_000, 0, -5_000]
    # Anna has one chip left and is owed two: she brings what she has, and nothing is attributed.
    paid = cashier.ok("cash-outs", {"player": "anna", "amount": 5_000, "pieces": {"5000": 1}})["last_event"]
    assert "attributed" not in paid and paid["player_chips"] == 5_000
    assert verification(kit.house)["ok"]


def test_compliance_books_chips_for_a_player_or_for_no_player(kit: Kit, cashier: Desk) -> None:
    compliance = kit.office(Role.COMPLIANCE)
    cashier.ok("bearer-buy-ins", {"amount": 6_000})
    found = compliance.ok("players/bela/attributions", {"place": "C1", "amount": 6_000} | REASON)
    assert (found["player_chips"], found["unattributed"]) == (6_000, 0)
    found = compliance.ok("players/bela/unattributions", {"place": "C1", "amount": 2_000} | REASON)
    assert (found["player_chips"], found["unattributed"]) == (4_000, 2_000)
    for path, body, refused in (
        ("bela/unattributions", {"place": "C1", "amount": 4_001}, (409, "insufficient_funds")),
        ("nobody/attributions", {"place": "C1", "amount": 1}, (404, "not_found")),
        ("bela/attributions", {"place": "C9", "amount": 1}, (404, "not_found")),
    ):
        assert refusal(compliance.post(f"players/{path}", body | REASON)) == refused, path
    assert refusal(cashier.post("/api/v1/players/bela/attributions", {})) == (403, "forbidden")
    assert verification(kit.house)["ok"]


def test_a_day_turns_over_what_is_sold_without_a_name_too(kit: Kit) -> None:
    kit.office(Role.FLOOR).ok("days", {"day": "2020-02-29"})
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=10_000, pieces={"1000": 20})
    cashier.ok("bearer-buy-ins", {"amount": 6_000})
    cashier.ok("bearer-cash-outs", {"amount": 2_000, "pieces": {"1000": 2}})
    report = kit.office().get("days/2020-02-29").json()
    assert report["drawers"] == [{"drawer": "C1", "buy_ins": 6_000, "cash_outs": 2_000}]
