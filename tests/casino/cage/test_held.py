"""Held payouts: the house has the chips back and owes the money, until compliance releases it."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections, transaction

from casino.bookkeeping.postings import posting
from casino.cage.founding import create_drawer
from casino.cage.models import HeldPayout
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.busy import PERSON
from tests.casino.kit import ACTOR, Desk, Kit, book
from tests.casino.transfers.test_transfers import refusal

CHIPS = {"5000": 2}


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier at an open drawer, and Anna, who has bought chips worth 10,000; nobody knows who she is."""
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=5_000_000, pieces={"5000": 20, "1000": 20})
    desk.ok("buy-ins", {"player": "anna", "amount": 10_000, "pieces": CHIPS})
    return desk


def body(amount: int = 10_000, pieces: Any = CHIPS, cause: str = "suspension", player: str = "anna") -> Any:
    """What a cashier asks for."""
    return {"player": player, "amount": amount, "pieces": pieces, "cause": cause}


def held(kit: Kit, cashier: Desk, **more: Any) -> Any:
    """Hold a payout, approved by compliance; the event."""
    return kit.approved(cashier, "held-payouts", body(**more), by=Role.COMPLIANCE)["last_event"]


def release(kit: Kit, cashier: Desk, number: int) -> Any:
    """Pay it in cash, approved by compliance; the event."""
    return kit.approved(cashier, f"held-payouts/{number}/release", {}, by=Role.COMPLIANCE)["last_event"]


def test_a_payout_is_held_and_released_in_cash(kit: Kit, cashier: Desk) -> None:
    assert refusal(cashier.post("held-payouts", body())) == (409, "approval_required")
    assert kit.balance("2010/anna", "9120/C1") == [10_000, 110_000]
    event = held(kit, cashier, cause="suspension")
    assert (event["payout"]["payout"], event["player_chips"], event["exchanged"]) == (1, 0, CHIPS)
    assert kit.balance("2010/anna", "2085/anna", "9120/C1") == [0, 10_000, 120_000]
    assert custody(kit.house) == {"chips_in_circulation": 0, "chip_liability": 0, "equal": True}
    compliance = kit.office(Role.COMPLIANCE)
    [row] = compliance.get("held-payouts?state=held").json()["results"]
    assert (row["player"], row["amount"], row["cause"], row["ended_at"]) == ("anna", 10_000, "suspension", None)
    assert 0 <= row["age_seconds"] < 3600
    assert refusal(cashier.post("held-payouts/1/release", {})) == (409, "approval_required")
    event = release(kit, cashier, 1)
    assert (event["payout"]["state"], event["payout"]["paid_at_drawer"]) == ("released", "C1")
    assert kit.balance("2085/anna", "1020/C1") == [0, 5_000_000]
    assert compliance.get("held-payouts?state=held").json()["results"] == []
    assert refusal(cashier.post("held-payouts/1/release", {})) == (409, "payout_released")
    assert verification(kit.house)["ok"]


def test_chips_that_are_booked_for_nobody_are_held_too(kit: Kit, cashier: Desk) -> None:
    event = held(kit, cashier, player="bela")
    assert (event["attributed"], event["player_chips"]) == (10_000, 0)
    assert kit.balance("2010/bela", "2085/bela", "2015/C1") == [0, 10_000, -10_000]
    assert refusal(cashier.post("held-payouts", body(player="bela"))) == (409, "chips_not_in_circulation")
    assert refusal(cashier.post("held-payouts", body(amount=9_000))) == (422, "chips_do_not_add_up")
    assert refusal(cashier.post("held-payouts", body(cause="no_reason"))) == (400, "invalid_request")
    assert verification(kit.house)["ok"]


def test_who_was_unknown_is_recorded_before_the_payout(kit: Kit, cashier: Desk) -> None:
    held(kit, cashier, cause="identity_pending")
    assert refusal(cashier.post("held-payouts/1/release", {})) == (404, "no_person")
    cashier.ok("/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1)
    cashier.refresh()
    assert release(kit, cashier, 1)["payout"]["state"] == "released"


def test_the_bank_pays_by_its_note(kit: Kit, cashier: Desk) -> None:
    held(kit, cashier)
    keeper, note = kit.office(Role.CAGE_SUPERVISOR), {"note": "N-1"}
    headers = kit.approval(keeper, "held-payouts/1/pay-by-bank", note, by=Role.COMPLIANCE)
    refused = keeper.post("held-payouts/1/pay-by-bank", note, headers=headers)
    assert refusal(refused) == (409, "insufficient_funds")
    with transaction.atomic():
        book(kit.house, "command:bank", posting("bank_sent", {}, cash=20_000))
        book(kit.house, "command:note", posting("bank_confirmed", {}, cash=20_000))
    paid = keeper.ok("held-payouts/1/pay-by-bank", note, headers=headers)["payout"]
    assert (paid["state"], paid["note"], paid["paid_at_drawer"]) == ("released", "N-1", None)
    assert kit.balance("2085/anna", "1090", "1020/C1") == [0, 10_000, 5_010_000]
    assert refusal(keeper.post("held-payouts/9/pay-by-bank", note)) == (404, "not_found")


def test_only_compliance_decides(kit: Kit, cashier: Desk) -> None:
    number = cashier.post("held-payouts", body()).json()["approval"]["approval"]
    for role in (Role.CAGE_SUPERVISOR, Role.MANAGER, Role.AUDITOR):
        assert refusal(kit.office(role).post(f"approvals/{number}/approve", {})) == (403, "forbidden"), role
    compliance = kit.office(Role.COMPLIANCE)
    assert refusal(compliance.post("/api/v1/drawers/C1/held-payouts", body())) == (403, "forbidden")
    assert kit.office(Role.CAGE_SUPERVISOR).get("held-payouts").json()["results"] == []
    assert refusal(kit.office(Role.FLOOR).get("held-payouts")) == (403, "forbidden")


def test_a_payout_is_paid_once(kit: Kit, cashier: Desk) -> None:
    held(kit, cashier)
    create_drawer(house=kit.house, code="C2", actor=ACTOR)
    second = kit.cashier("C2")
    kit.open_drawer(second, cash=50_000, pieces={})
    path = "held-payouts/1/release"
    one, other = (kit.approval(desk, path, {}, by=Role.COMPLIANCE) for desk in (cashier, second))

    def pays(desk: Desk, headers: dict[str, str]) -> int:
        try:
            return int(desk.post(path, {}, headers=headers).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(pays, (cashier, second), (one, other))) == [200, 409]
    assert kit.balance("2085/anna") == 0
    assert verification(kit.house)["ok"]


def test_a_day_names_what_is_held(kit: Kit, cashier: Desk) -> None:
    manager = kit.office(Role.MANAGER)
    manager.ok("days", {"day": "2020-02-29"})
    held(kit, cashier)
    kit.close_drawer(cashier)
    closed = kit.close_day(manager, "2020-02-29")
    assert closed["carried"]["held_payouts"] == [
        {"payout": 1, "player": "anna", "amount": 10_000, "cause": "suspension"}
    ]


def test_held_payouts_stay_as_they_were_written(kit: Kit, cashier: Desk) -> None:
    held(kit, cashier)
    [found] = HeldPayout.objects.filter(house=kit.house)
    for alias in ("default", "owner"):
        for statement in (
            f"UPDATE cage_heldpayout SET amount = 1 WHERE id = {found.pk}",
            f"UPDATE cage_heldpayout SET state = 'released' WHERE id = {found.pk}",
            f"DELETE FROM cage_heldpayout WHERE id = {found.pk}",
        ):
            with (
                pytest.raises(Exception, match=r"keeps its|permission denied|held_payout_is_paid_once"),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(statement)
