"""From an amount on the house must know who its player is; chips that are brought are taken all the same, as a payout
that is held."""

from typing import Any

import pytest

from casino.approvals.control_points import set_at_founding
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.busy import PERSON
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.transfers.test_transfers import refusal

FROM = 5_000
CHIPS = {"5000": 1}


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier at an open drawer of a house that asks for a name early, and Anna and Bela, whom nobody knows."""
    set_at_founding(house=kit.house, points={"identity_from": FROM}, actor=ACTOR)
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=500_000, pieces={"5000": 20, "1000": 20, "1": 20})
    return desk


def know(cashier: Desk, player: str = "anna") -> None:
    """Record who a player is."""
    cashier.ok(f"/api/v1/players/{player}/person", {"person": PERSON, "reason": "first_record"}, version=1)
    cashier.refresh()


TRADES: list[tuple[str, dict[str, Any]]] = [
    ("buy-ins", {}),
    ("cash-outs", {"pieces": CHIPS}),
    ("noncash-buy-ins", {"means": "card", "reference": "T-1"}),
    ("noncash-payments", {"pieces": CHIPS, "account": "**1234"}),
]


@pytest.mark.parametrize(("path", "more"), TRADES)
def test_from_the_threshold_on_it_must_be_recorded_who_a_player_is(
    kit: Kit, cashier: Desk, path: str, more: dict[str, Any]
) -> None:
    cashier.ok("bearer-buy-ins", {"amount": 4_000})
    before, last = kit.balance("1020/C1", "2010/anna", "1030"), last_event()
    problem = assert_problem(cashier.post(path, {"player": "anna", "amount": FROM} | more), 409, "identity_required")
    brought = path in ("cash-outs", "noncash-payments")
    assert (problem["amount"], problem["held_payouts"]) == (FROM, "drawers/C1/held-payouts" if brought else None)
    assert kit.balance("1020/C1", "2010/anna", "1030") == before
    assert [event["kind"] for event in recorded_since(last)] == ["attempt.refused"]
    know(cashier)
    assert cashier.post(path, {"player": "anna", "amount": FROM} | more).json().get("code") != "identity_required"


def test_a_known_player_buys_and_cashes_out_and_below_the_threshold_anybody(kit: Kit, cashier: Desk) -> None:
    cashier.ok("buy-ins", {"player": "bela", "amount": FROM - 1_000})
    know(cashier)
    cashier.ok("buy-ins", {"player": "anna", "amount": FROM})
    cashier.ok("cash-outs", {"player": "anna", "amount": FROM, "pieces": CHIPS})
    assert verification(kit.house)["ok"]
    assert verify_house(kit.house).findings == []


def test_chips_that_an_unknown_player_brings_are_held_where_the_refusal_says(kit: Kit, cashier: Desk) -> None:
    know(cashier)
    cashier.ok("buy-ins", {"player": "anna", "amount": FROM, "pieces": CHIPS})
    body = {"player": "bela", "amount": FROM, "pieces": CHIPS}
    problem = assert_problem(cashier.post("cash-outs", body), 409, "identity_required")
    held = kit.approved(
        cashier, f"/api/v1/{problem['held_payouts']}", body | {"cause": "suspension"}, by=Role.COMPLIANCE
    )
    assert held["last_event"]["payout"]["payout"] == 1
    assert kit.balance("2085/bela") == FROM
    # Held for another cause: it is not paid before it is recorded who the player is.
    problem = assert_problem(cashier.post("held-payouts/1/release", {}), 409, "identity_required")
    assert problem["held_payouts"] is None
    know(cashier, "bela")
    kit.approved(cashier, "held-payouts/1/release", {}, by=Role.COMPLIANCE)
    assert kit.balance("2085/bela", "1020/C1") == [0, 500_000]
    assert custody(kit.house)["equal"]
    assert verify_house(kit.house).findings == []


def test_a_bearer_is_pointed_to_held_payouts_too(kit: Kit, cashier: Desk) -> None:
    problem = assert_problem(
        cashier.post("bearer-cash-outs", {"amount": FROM, "pieces": CHIPS}), 409, "identity_required"
    )
    assert problem["held_payouts"] == "drawers/C1/held-payouts"
    problem = assert_problem(cashier.post("bearer-buy-ins", {"amount": FROM}), 409, "identity_required")
    assert problem["held_payouts"] is None


def test_the_right_entry_of_a_correction_is_a_trade_like_any_other(kit: Kit, cashier: Desk) -> None:
    entry = cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})["audit"]["seq"]
    right = {"kind": "cage.buy_in", "player": "anna", "amount": FROM}
    body = {"entry": entry, "right": right, "reason": "keyed wrong"}
    assert refusal(kit.supervisor().post("corrections", body)) == (409, "identity_required")
    know(cashier)
    kit.supervisor().ok("corrections", body)
    assert verify_house(kit.house).findings == []
