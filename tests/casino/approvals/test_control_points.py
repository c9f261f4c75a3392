"""Control points: a house's own, dated, proposed by one and approved by another; and what they hold back."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from casino.approvals.control_points import set_at_founding
from casino.audit.verifier import state_approvals
from casino.hands.models import Hand
from casino.houses import control_points
from casino.houses.models import House, Limits
from casino.reports.verifying import verification
from casino.staff.models import Role, TerminalKind
from tests.casino.hands.test_settlement import dispute
from tests.casino.kit import ACTOR, MISDEAL, SAMPLE, Desk, Kit
from tests.casino.scene import assert_problem

REASON = {"reason": "a new year"}


def limits(**points: int) -> dict[str, Any]:
    return {"points": points} | REASON


def test_a_house_that_has_set_nothing_has_the_defaults() -> None:
    house = House(currency="EUR", currency_exponent=2)
    assert control_points.defaults(house)["exchange_by_supervisor_from"] == 500_000
    assert control_points.defaults(House(currency="HUF"))["void_by_manager_above"] == 40_000


def test_the_verifier_knows_the_defaults() -> None:
    assert (state_approvals.DEFAULTS, state_approvals.PER_EURO) == (
        control_points._DEFAULTS, control_points._PER_EURO
    )  # fmt: skip
    assert all(control_points.default_of(name) == minutes for name, minutes in state_approvals.OTHERS.items())


def test_control_points_are_proposed_by_one_and_approved_by_another(kit: Kit) -> None:
    admin = kit.office(Role.ADMIN)
    before = admin.get("limits").json()["in_force"]
    changed = kit.approved(admin, "limits", limits(exchange_by_supervisor_from=700), by=Role.AUDITOR)
    assert changed["in_force"]["points"] == before["points"] | {"exchange_by_supervisor_from": 700}
    assert (changed["in_force"]["number"], changed["in_force"]["approval"]) == (2, 1)
    assert [one["number"] for one in changed["history"]] == [1]
    assert control_points.in_force(kit.house).exchange_by_supervisor_from == 700
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=5_000, chips=5_000)
    assert_problem(cashier.post("buy-ins", {"player": "anna", "amount": 700}), 409, "approval_required")
    assert verification(kit.house)["ok"]


def test_control_points_begin_at_a_moment_to_come(kit: Kit) -> None:
    admin = kit.office(Role.ADMIN)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    body = limits(void_by_manager_above=1) | {"valid_from": tomorrow.isoformat()}
    changed = kit.approved(admin, "limits", body)
    assert [one["points"]["void_by_manager_above"] for one in changed["to_come"]] == [1]
    assert changed["in_force"]["points"]["void_by_manager_above"] == 40_000
    assert control_points.in_force(kit.house).void_by_manager_above == 40_000
    past = body | {"valid_from": "2026-01-01T00:00:00Z"}
    assert_problem(admin.post("limits", past), 422, "limits_in_the_past")
    assert verification(kit.house)["ok"]


def test_what_is_no_control_point_is_refused(kit: Kit) -> None:
    admin = kit.office(Role.ADMIN)
    for points in ({}, {"other": 1}, {"skim_above": -1}, {"skim_above": "1"}):
        assert_problem(admin.post("limits", {"points": points} | REASON), 400, "invalid_request")


def test_the_database_keeps_control_points_and_refuses_those_of_the_past(kit: Kit) -> None:
    past = datetime.now(UTC) - timedelta(hours=1)
    with pytest.raises(DatabaseError, match="past"), transaction.atomic():
        Limits.objects.create(house=kit.house, number=2, valid_from=past, points={}, set_by="anybody")
    later = datetime.now(UTC) + timedelta(hours=1)
    with pytest.raises(DatabaseError, match="next"), transaction.atomic():
        Limits.objects.create(house=kit.house, number=3, valid_from=later, points={}, set_by="anybody")
    with pytest.raises(DatabaseError), transaction.atomic():
        Limits.objects.filter(house=kit.house).update(points={})


# --- What they hold back ---------------------------------------------------------------------------------------------


def floor(kit: Kit) -> Desk:
    """The floor manager at the table's terminal."""
    return kit.dealer(role=Role.FLOOR)


def test_duty_is_booked_with_a_manager(kit: Kit) -> None:
    booked = kit.approved(kit.office(Role.CAGE_SUPERVISOR), "duty", {"amount": 900, "reason": "November"})
    assert booked["payable"] == 900
    assert verification(kit.house)["ok"]


def test_a_float_above_the_control_point_needs_a_manager(kit: Kit) -> None:
    set_at_founding(house=kit.house, points={"float_by_manager_above": 10_000}, actor=ACTOR)
    cashier = kit.cashier()
    for chips, signed in ((5_000, True), (5_001, False)):
        float_ = {"cash": 5_000, "pieces": {"1": chips}}
        kit.supervisor().ok("handovers", {"kind": "float"} | float_)
        cashier.refresh()
        if not signed:
            assert_problem(cashier.post("open", float_), 409, "signature_needed")
            kit.supervisor(role=Role.MANAGER).ok("handovers/2/sign")
            cashier.refresh()
        cashier.ok("open", float_)
        kit.close_drawer(cashier)
    assert verification(kit.house)["ok"]


def test_a_fill_from_the_control_point_on_needs_a_supervisor(kit: Kit) -> None:
    set_at_founding(house=kit.house, points={"transfer_approved_from": 1_000}, actor=ACTOR)
    kit.table()
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=5_000, pieces={"100": 100})
    fill = {"table": "T1", "pieces": {"100": 10}}
    sent = kit.approved(cashier, "fills", fill, by=Role.CAGE_SUPERVISOR)
    assert sent["last_event"]["approval"] == 1
    cashier.ok("fills", fill | {"pieces": {"100": 9}})
    dealer = kit.dealer()
    credit = {"drawer": "C1", "pieces": {"100": 10}}
    assert kit.approved(dealer, "credits", credit)["last_event"]["approval"] == 2
    assert verification(kit.house)["ok"]


def test_a_void_of_a_small_pot_before_cards_are_shown_is_the_floors(kit: Kit) -> None:
    set_at_founding(house=kit.house, points={"void_by_manager_above": 200}, actor=ACTOR)
    kit.table()
    dealer = kit.seated()
    office = kit.office(Role.MANAGER)
    for amount in (100, 300):
        dealer.refresh()
        dealer.ok("hands", {"mode": "physical"} | ({"button": 4} if amount == 100 else {}))
        dealer.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a")
        if amount > 200:
            dealer.act("p2 cc 100", "p3 cc 100")
            header = kit.approval(desk := floor(kit), "hand/void", REASON | MISDEAL)
            replay = office.get(f"approvals/{header['Approval']}").json()["replay"]
            assert len(office.get(replay).json()["view"]["log"]) == 7
            voided = desk.ok("hand/void", REASON | MISDEAL, headers=header)
        else:
            voided = floor(kit).ok("hand/void", REASON | MISDEAL)
        assert voided["last_event"]["pot"] == amount
    assert verification(kit.house)["ok"]


def test_a_void_of_a_hand_that_was_shown_needs_a_manager(kit: Kit) -> None:
    kit.worked_hand()
    hand = Hand.objects.get(house=kit.house)
    dispute(kit, hand)
    assert any(line.split()[1] == "sm" for line in SAMPLE)
    answer = kit.approved(floor(kit), "hand/void", REASON | MISDEAL)
    voided = answer["last_event"]
    assert (voided["cards_shown"], voided["approval"]) == (True, 1)
    # Who decides, and who reads of it later, finds the hand with every line.
    manager = kit.office(Role.MANAGER)
    assert manager.get("approvals/1").json()["replay"] == "tables/T1/hand"
    assert answer["replay"] == f"hands/{hand.name}"
    assert len(manager.get(answer["replay"]).json()["acts"]) == len(SAMPLE)
    assert verification(kit.house)["ok"]


def test_a_table_terminal_may_decide_for_another(kit: Kit) -> None:
    """An approver's own sign-in counts, not the place."""
    number = assert_problem(
        kit.office(Role.CAGE_SUPERVISOR).post("duty", {"amount": 1, "reason": "November"}), 409, "approval_required"
    )["approval"]["approval"]
    kit.table()
    manager = Desk(kit.http(kit.token(Role.MANAGER, TerminalKind.TABLE, "T1")), "/api/v1")
    assert manager.ok(f"approvals/{number}/approve")["decided_terminal"].startswith("table-")
