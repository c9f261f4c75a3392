"""Duty that is paid by a return, and a booking that was too high."""

from typing import Any

import pytest

from casino.bookkeeping.postings import posting
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.kit import Desk, Kit, book
from tests.casino.transfers.test_transfers import refusal

WHY = {"reason": "October was counted twice"}


class Owing:
    """A house that owes 2,400 of duty, and has 10,000 at the bank."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        sent = (posting("bank_sent", {}, cash=10_000), posting("bank_confirmed", {}, cash=10_000))
        book(kit.house, "command:banked", *sent)
        self.office = kit.office(Role.CAGE_SUPERVISOR)
        self.entry = kit.approved(self.office, "duty", {"amount": 2_400, "reason": "November"})["audit"]["seq"]

    def lower(self, amount: int, entry: int | None = None) -> dict[str, Any]:
        """The body of a lowering."""
        return {"entry": entry or self.entry, "amount": amount} | WHY

    def pay(self, amount: int) -> dict[str, Any]:
        """The body of a payment."""
        return {"amount": amount, "return_number": "R-11"}

    def whole(self) -> None:
        """Books and chains are whole."""
        self.kit.sequence()
        found = verification(self.kit.house)
        assert found["ok"], found["audit_findings"]


@pytest.fixture
def owing(kit: Kit) -> Owing:
    """The house."""
    return Owing(kit)


def test_duty_is_paid_from_the_bank_by_the_number_of_a_return(owing: Owing) -> None:
    kit = owing.kit
    assert refusal(owing.office.post("duty/payments", owing.pay(2_000))) == (409, "approval_required")
    assert kit.balance("2200", "1090") == [2_400, 10_000]
    paid = kit.approved(owing.office, "duty/payments", owing.pay(2_000))
    assert (paid["return_number"], paid["payable"]) == ("R-11", 400)
    assert kit.balance("2200", "1090", "5300") == [400, 8_000, 2_400]
    assert refusal(owing.office.post("duty/payments", owing.pay(401))) == (409, "insufficient_funds")
    owing.whole()


def test_a_manager_may_ask_and_another_one_approves(owing: Owing) -> None:
    manager = owing.kit.office(Role.MANAGER)
    number = manager.post("duty/payments", owing.pay(100)).json()["approval"]["approval"]
    assert refusal(manager.post(f"approvals/{number}/approve", {})) == (403, "four_eyes")
    assert owing.kit.approved(manager, "duty/payments", owing.pay(200))["payable"] == 2_200
    for role in (Role.CASHIER, Role.AUDITOR, Role.ADMIN, Role.COMPLIANCE):
        desk: Desk = owing.kit.office(role)
        assert refusal(desk.post("duty/payments", owing.pay(100))) == (403, "forbidden")
        assert refusal(desk.post("duty/lowerings", owing.lower(100))) == (403, "forbidden")
    owing.whole()


def test_a_booking_is_lowered_by_no_more_than_was_booked(owing: Owing) -> None:
    kit = owing.kit
    other = kit.approved(owing.office, "duty", {"amount": 1_000, "reason": "December"})["audit"]["seq"]
    assert kit.approved(owing.office, "duty/lowerings", owing.lower(2_000))["payable"] == 1_400
    refused = owing.office.post("duty/lowerings", owing.lower(401))
    assert refusal(refused) == (422, "lowered_too_far") and refused.json()["max"] == 400
    kit.approved(owing.office, "duty/lowerings", owing.lower(400))
    kit.approved(owing.office, "duty/lowerings", owing.lower(1_000, other))
    assert kit.balance("2200", "5300") == [0, 0]
    for entry in (owing.entry, other):
        assert owing.office.post("duty/lowerings", owing.lower(1, entry)).json()["max"] == 0
    owing.whole()


def test_what_is_no_booking_and_what_was_paid_is_not_lowered(owing: Owing) -> None:
    assert refusal(owing.office.post("duty/lowerings", owing.lower(1, owing.entry - 1))) == (404, "not_found")
    owing.kit.approved(owing.office, "duty/payments", owing.pay(2_000))
    assert refusal(owing.office.post("duty/lowerings", owing.lower(500))) == (409, "insufficient_funds")
    owing.kit.approved(owing.office, "duty/lowerings", owing.lower(400))
    owing.whole()
