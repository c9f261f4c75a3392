"""A drawer that was closed by mistake goes on: its Z slip stays, the next shift begins with what was counted."""

import pytest

from casino.cage.models import Shift
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.transfers.test_transfers import refusal

REASON = {"reason": "meant the other drawer"}
CASH, PIECES = 100_000, {"500": 10, "100": 50}


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A drawer that sold chips, and that its cashier has closed by mistake with one chip missing."""
    kit.players("anna")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=CASH, pieces=PIECES)
    desk.ok("buy-ins", {"player": "anna", "amount": 1_500, "pieces": {"500": 3}})
    kit.close_drawer(desk, pieces={"500": 6, "100": 50})
    return desk


def z(kit: Kit, number: int) -> dict[str, object]:
    """A Z slip."""
    found: dict[str, object] = kit.office().get(f"drawers/C1/shifts/{number}/z").json()
    return found


def test_its_cashier_goes_on_with_what_was_counted(kit: Kit, cashier: Desk) -> None:
    before = z(kit, 1)
    reopened = kit.approved(cashier, "reopen", REASON)["last_event"]
    assert [reopened[name] for name in ("kind", "shift", "reopens", "float_cash", "approval")] == [
        "drawer.reopened", 2, 1, CASH + 1_500, 1,
    ]  # fmt: skip
    assert reopened["float_pieces"] == {"500": 6, "100": 50}
    assert kit.balance("1020/C1", "9120/C1") == [CASH + 1_500, 8_000]
    cashier.ok("buy-ins", {"player": "anna", "amount": 100, "pieces": {"100": 1}})
    kit.close_drawer(cashier)
    assert z(kit, 1) == before and before["reopens"] is None
    after = z(kit, 2)
    assert (after["reopens"], after["variance"]) == (1, 0)
    assert all(one["equal"] for one in after["equalities"])  # type: ignore[attr-defined]
    rows = {row["kind"]: row for row in after["movements"]}  # type: ignore[attr-defined]
    assert rows["drawer.reopened"]["cash_in"] == CASH + 1_500
    assert [one["reopens"] for one in kit.office().get("shifts").json()["results"]] == [None, 1]
    assert custody(kit.house)["equal"] and verification(kit.house)["ok"]


def test_what_is_not_opened_again(kit: Kit, cashier: Desk) -> None:
    other = kit.cashier()
    assert refusal(other.post("reopen", REASON)) == (403, "other_cashier")
    assert refusal(kit.supervisor().post("reopen", REASON)) == (403, "forbidden")
    kit.supervisor().ok("handovers", {"kind": "float", "cash": 1, "pieces": {}})
    cashier.refresh()
    assert refusal(cashier.post("reopen", REASON)) == (409, "handover_open")
    cashier.ok("handovers/2/withdraw", REASON)
    kit.approved(cashier, "reopen", REASON)
    assert refusal(cashier.post("reopen", REASON)) == (409, "drawer_open")
    assert Shift.objects.filter(house=kit.house).count() == 2


def test_what_the_vault_has_given_away_since_is_not_there(kit: Kit, cashier: Desk) -> None:
    office = kit.office(Role.CAGE_SUPERVISOR)
    held = kit.balance("1010")
    kit.approved(office, "vault/bags", {"way": "to_bank", "bag": "B-1", "amount": held - CASH})
    assert_problem(cashier.post("reopen", REASON), 409, "insufficient_funds")


def test_a_drawer_that_nobody_has_opened_has_nothing_to_open_again(kit: Kit) -> None:
    assert refusal(kit.cashier().post("reopen", REASON)) == (409, "nothing_to_reopen")
