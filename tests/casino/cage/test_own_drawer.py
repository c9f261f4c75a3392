"""A drawer's cashier answers for its count: nobody else trades there."""

from typing import Any

import pytest

from casino.reports.verifying import verification
from casino.verification.auditing import verify_house
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.transfers.test_transfers import refusal

TRADES: list[tuple[str, dict[str, Any]]] = [
    ("buy-ins", {"player": "anna", "amount": 1_000}),
    ("cash-outs", {"player": "anna", "amount": 1_000}),
    ("bearer-buy-ins", {"amount": 1_000}),
    ("bearer-cash-outs", {"amount": 1_000, "pieces": {"1000": 1}}),
    ("exchanges", {"given": {"1000": 1}}),
    ("foreign-chips", {"amount": 1_000, "issuer": "Casino Wien"}),
    ("deposits", {"player": "anna", "amount": 1_000}),
    ("noncash-buy-ins", {"player": "anna", "amount": 1_000, "means": "card", "reference": "T-1"}),
    ("held-payouts", {"player": "anna", "amount": 1_000, "pieces": {"1000": 1}, "cause": "suspension"}),
]


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """The cashier of an open drawer, who has sold Anna chips."""
    kit.players("anna")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=50_000, pieces={"1000": 20, "500": 20})
    desk.ok("buy-ins", {"player": "anna", "amount": 5_000})
    return desk


@pytest.mark.parametrize(("path", "body"), TRADES)
def test_nobody_else_trades(kit: Kit, cashier: Desk, path: str, body: dict[str, Any]) -> None:
    opener = kit.office().get("/api/v1/shifts").json()["results"][0]["opened_by"]
    before = kit.held()
    for other in (kit.cashier(another=True), kit.supervisor()):
        problem = assert_problem(other.post(path, body), 403, "not_your_drawer")
        assert problem["opened_by"] == opener
        assert "drawers/C1/hand-over" in problem["detail"]
    assert kit.held() == before


def test_a_supervisor_corrects_and_recounts(kit: Kit, cashier: Desk) -> None:
    entry = cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})["audit"]["seq"]
    right = {"kind": "cage.bearer_buy_in", "amount": 500}
    kit.supervisor().ok("corrections", {"entry": entry, "right": right, "reason": "keyed wrong"})
    cashier.refresh()
    held = kit.held()
    cashier.ok("count", held | {"cash": held["cash"] - 1})
    kit.supervisor().ok("recount", held | {"cash": held["cash"] - 1})
    assert verification(kit.house)["ok"]
    assert verify_house(kit.house).findings == []


def test_who_opens_it_next_trades_there(kit: Kit, cashier: Desk) -> None:
    kit.close_drawer(cashier)
    other = kit.cashier(another=True)
    kit.open_drawer(other, cash=50_000, pieces={"1000": 20, "500": 20})
    other.ok("buy-ins", {"player": "anna", "amount": 1_000})
    cashier.refresh()
    assert refusal(cashier.post("buy-ins", {"player": "anna", "amount": 1_000})) == (403, "not_your_drawer")
    assert verify_house(kit.house).findings == []
