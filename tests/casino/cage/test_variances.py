"""Cash over and chips short of one count, or the reverse, that were one wrong entry."""

from typing import Any

import pytest

from casino.cage.models import VarianceOffset
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.kit import Desk, Kit
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import refusal

FLOAT = {"500": 10, "100": 10}
WHY = {"reason": "a buy-in of 600 was entered as one of 1,100"}


class Closed:
    """Drawer C1, closed 700 short in cash and 500 over in chips."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        cashier = kit.cashier()
        kit.open_drawer(cashier, cash=10_000, pieces=FLOAT)
        kit.close_drawer(cashier, cash=9_300, pieces=FLOAT | {"500": 11})
        self.manager, self.other, self.auditor = kit.office(Role.MANAGER), kit.office(Role.MANAGER), kit.office()

    def ask(self, amount: int = 500, **more: Any) -> Any:
        """The manager asks for it."""
        return self.manager.post("variance-offsets", {"drawer": "C1", "count": 1, "amount": amount} | WHY | more)

    def offset(self, amount: int, by: Desk | None = None) -> dict[str, Any]:
        """It is asked for, approved and done."""
        number = self.ask(amount).json()["approval"]["approval"]
        (by or self.other).ok(f"approvals/{number}/approve", {})
        body = {"drawer": "C1", "count": 1, "amount": amount} | WHY
        return self.manager.ok("variance-offsets", body, headers={"Approval": str(number)})


@pytest.fixture
def closed(kit: Kit) -> Closed:
    """The drawer."""
    return Closed(kit)


def test_what_cancels_is_offset_once_and_the_slip_says_so(closed: Closed) -> None:
    kit = closed.kit
    assert kit.balance("5200/C1", "5210/C1") == [700, -500]
    made = closed.offset(300)["offset"]
    assert (made["number"], made["drawer"], made["count"], made["cash_over"]) == (1, "C1", 1, False)
    assert kit.balance("5200/C1", "5210/C1") == [400, -200]
    refused = closed.ask(201)
    assert refusal(refused) == (422, "offset_too_large") and refused.json()["max"] == 200
    closed.offset(200, by=closed.auditor)
    assert kit.balance("5200/C1", "5210/C1") == [200, 0]
    assert closed.ask(1).json()["max"] == 0
    slip = closed.auditor.get("drawers/C1/shifts/1/z").json()
    assert (slip["cash_variance"], slip["chip_variance"], slip["variance"], slip["explained"]) == (-700, 500, -200, 500)
    assert all(row["equal"] for row in slip["equalities"])
    listed = closed.auditor.get("variance-offsets?drawer=C1").json()["results"]
    assert [(row["number"], row["amount"]) for row in listed] == [(1, 300), (2, 200)]
    kit.sequence()
    assert verification(kit.house)["ok"]


def test_another_manager_or_an_auditor_approves_it(closed: Closed) -> None:
    held = closed.ask()
    assert refusal(held) == (409, "approval_required")
    number = held.json()["approval"]["approval"]
    assert set(held.json()["approval"]["roles"]) == {"manager", "auditor"}
    assert refusal(closed.manager.post(f"approvals/{number}/approve", {})) == (403, "four_eyes")
    assert not VarianceOffset.objects.filter(house=closed.kit.house).exists()
    for role in (Role.CAGE_SUPERVISOR, Role.CASHIER, Role.AUDITOR, Role.ADMIN):
        body = {"drawer": "C1", "count": 1, "amount": 500} | WHY
        assert refusal(closed.kit.office(role).post("variance-offsets", body)) == (403, "forbidden")


def test_only_a_count_that_has_ended_is_explained(closed: Closed) -> None:
    kit = closed.kit
    assert refusal(closed.ask(count=2)) == (404, "not_found")
    assert refusal(closed.ask(drawer="C9")) == (404, "not_found")
    assert refusal(closed.manager.post("variance-offsets", {"count": 1, "amount": 1} | WHY)) == (404, "not_found")
    kit.open_drawer(kit.cashier(), cash=100, pieces=FLOAT)
    assert refusal(closed.ask(count=2)) == (409, "drawer_not_closed")


def test_variances_of_the_same_side_do_not_cancel(kit: Kit) -> None:
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=10_000, pieces=FLOAT)
    kit.close_drawer(cashier, cash=9_300, pieces=FLOAT | {"500": 9})
    body = {"drawer": "C1", "count": 1, "amount": 1} | WHY
    refused = kit.office(Role.MANAGER).post("variance-offsets", body)
    assert refusal(refused) == (422, "offset_too_large") and refused.json()["max"] == 0


def test_an_offset_that_was_altered_is_found(closed: Closed) -> None:
    closed.offset(300)
    closed.kit.sequence()
    assert verification(closed.kit.house)["ok"]
    with unguarded("cage_varianceoffset") as cursor:
        cursor.execute("UPDATE cage_varianceoffset SET amount = 500 WHERE house_id = %s", [closed.kit.house.id])
    places = {finding["place"] for finding in verification(closed.kit.house)["audit_findings"]}
    assert "cage.VarianceOffset 1, amount" in places
