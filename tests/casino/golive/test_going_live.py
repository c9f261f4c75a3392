"""The stages of a house: nobody is served before three people have signed what it is, nor while it is suspended."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from casino.golive.rehearsing import rehearse
from casino.houses.models import House
from casino.staff.models import Role, Staff, TerminalKind
from casino.verification.auditing import verify_house
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.staff.test_independence import WAYS, refused, staff, tie
from tests.casino.superuser import unguarded

REASON = {"reason": "the authority has asked for it"}
SIGNERS = (Role.ADMIN, Role.AUDITOR, Role.MANAGER)


@pytest.fixture
def kit(live_db: None, tmp_path: Path, settings: Any) -> Iterator[Kit]:
    """A house that is founded and lacks a rehearsal and signatures only."""
    kit = Kit.found(sandbox=False)
    kit.table()
    for role in (*Role, Role.ADMIN, Role.COUNT):
        kit.office(role)
    kit.hire(Role.DEALER, TerminalKind.TABLE, "T1")
    kit.hire(Role.CASHIER, TerminalKind.CAGE, "C1")
    kit.sequence()
    yield kit
    kit.close()


def readiness(desk: Desk) -> dict[str, Any]:
    """The checklist."""
    found: dict[str, Any] = desk.get("house/readiness").json()
    return found


def lacking(desk: Desk) -> set[str]:
    """Items that are missing."""
    return {one["item"] for one in readiness(desk)["items"] if one["missing"]}


def digest(desk: Desk) -> dict[str, str]:
    """What is signed now."""
    return {"digest": readiness(desk)["signatures"]["digest"]}


def live(kit: Kit) -> dict[Role, Desk]:
    """Rehearse and sign; the desks of those who signed."""
    desks = {role: kit.office(role) for role in SIGNERS}
    assert rehearse(kit.house, ACTOR).passed
    for desk in desks.values():
        desk.ok("house/go-live", digest(desk))
    kit.house.refresh_from_db()
    return desks


def due(desk: Desk) -> str:
    """The gaming day that can be opened now."""
    found: str = desk.get("house/identity").json()["clock"]["due_day"]
    return found


def stage(kit: Kit) -> str:
    """As the database has it."""
    return House.objects.get(id=kit.house.id).stage


def test_nobody_is_served_before_the_house_is_live(kit: Kit) -> None:
    assert_problem(kit.office(Role.MANAGER).post("days", {"day": "2020-02-29"}), 409, "house_not_live")
    assert_problem(kit.dealer().post("open"), 409, "house_not_live")
    kit.supervisor(role=Role.MANAGER).ok("handovers", {"kind": "float", "cash": 5, "pieces": {}})
    refused = kit.cashier().post("open", {"cash": 5, "pieces": {}})
    assert_problem(refused, 409, "house_not_live")
    assert refused.json()["stage"] == "founding"
    assert kit.office().get("house").json()["stage"] == "founding"


def test_a_house_goes_live_without_people_for_the_largest_trades(kit: Kit) -> None:
    giver = Staff.objects.filter(house=kit.house, roles=[Role.FLOOR])[0].login
    Staff.objects.filter(house=kit.house, roles__in=([Role.COMPLIANCE], [Role.CASHIER])).update(password_givers=[giver])
    live(kit)
    assert stage(kit) == "live"
    assert lacking(kit.office()) == {"largest_trades", "day"}


def test_three_people_sign_one_digest_and_the_house_is_live(kit: Kit) -> None:
    admin, auditor, manager = (kit.office(role) for role in SIGNERS)
    other_admin, floor = kit.office(Role.ADMIN), kit.office(Role.FLOOR)
    assert lacking(auditor) == {"rehearsal", "signatures", "day"}
    refused = admin.post("house/go-live", digest(admin))
    assert_problem(refused, 409, "house_not_ready")
    assert refused.json()["missing"] == ["rehearsal"]
    assert rehearse(kit.house, ACTOR).passed
    assert_problem(floor.post("house/go-live", {"digest": "0" * 64}), 403, "forbidden")
    assert_problem(admin.post("house/go-live", {"digest": "0" * 64}), 409, "house_changed")
    first = admin.ok("house/go-live", digest(admin))
    assert (first["stage"], first["missing"]) == ("founding", ["auditor", "manager"])
    assert_problem(admin.post("house/go-live", digest(admin)), 409, "signed_already")
    assert_problem(other_admin.post("house/go-live", digest(admin)), 409, "signed_already")
    # Something changes: what was signed is void, and the rehearsal was of another house.
    manager.ok("house/go-live", digest(manager))
    new = {"login": f"late@{kit.house.code}", "name": "Late", "roles": ["dealer"], "password": "nine-of-bells-29"}
    admin.ok("staff", new)
    assert [one["void"] for one in readiness(auditor)["signatures"]["signed"]] == [True, True]
    assert_problem(auditor.post("house/go-live", digest(auditor)), 409, "house_not_ready")
    assert rehearse(kit.house, ACTOR).passed
    again = auditor.ok("house/go-live", digest(auditor))
    assert (again["void"], again["missing"]) == (["admin", "manager"], ["admin", "manager"])
    manager.ok("house/go-live", digest(manager))
    assert stage(kit) == "founding"
    third = admin.ok("house/go-live", digest(admin))
    assert (third["stage"], third["missing"]) == ("live", []) and stage(kit) == "live"
    assert lacking(auditor) == {"day"}
    assert_problem(admin.post("house/go-live", digest(admin)), 409, "house_wrong_stage")
    manager.ok("days", {"day": due(manager)})
    kit.dealer().ok("open")
    report = verify_house(kit.house)
    assert {one.code for one in report.findings} <= {"not_signed"}, report.findings


@pytest.mark.parametrize("way", WAYS)
def test_who_signs_is_independent_of_who_has_signed(kit: Kit, way: str) -> None:
    desks = {role: kit.office(role) for role in SIGNERS}
    admin, auditor, manager = (staff(kit, role) for role in SIGNERS)
    assert rehearse(kit.house, ACTOR).passed
    desks[Role.ADMIN].ok("house/go-live", digest(desks[Role.ADMIN]))
    tie(manager, admin, way)
    refused(desks[Role.MANAGER].post("house/go-live", digest(desks[Role.MANAGER])), admin)
    tie(admin, auditor, way)
    refused(desks[Role.AUDITOR].post("house/go-live", digest(desks[Role.AUDITOR])), auditor)
    assert stage(kit) == "founding"
    others = [kit.office(role) for role in (Role.AUDITOR, Role.MANAGER)]
    assert rehearse(kit.house, ACTOR).passed
    for desk in (desks[Role.ADMIN], *others):
        desk.ok("house/go-live", digest(desk))
    assert stage(kit) == "live"


def test_a_suspended_house_pays_out_and_sells_nothing(kit: Kit) -> None:
    desks = live(kit)
    manager = desks[Role.MANAGER]
    cashier, dealer = kit.cashier(), kit.dealer()
    kit.open_drawer(cashier, cash=1_000, chips=100_000)
    cashier.ok("/api/v1/players/register", {"player": "anna"})
    cashier.refresh()
    cashier.ok("buy-ins", {"player": "anna", "amount": 5_000})
    assert_problem(manager.post("house/resume", REASON), 409, "house_wrong_stage")
    held = manager.post("house/suspend", REASON)
    assert_problem(held, 409, "approval_required")
    assert held.json()["approval"]["roles"] == ["auditor"]
    number = held.json()["approval"]["approval"]
    assert_problem(kit.office(Role.MANAGER).post(f"approvals/{number}/approve"), 403, "forbidden")
    desks[Role.AUDITOR].ok(f"approvals/{number}/approve")
    suspended = manager.ok("house/suspend", REASON, headers={"Approval": str(number)})
    assert suspended["stage"] == "suspended" == stage(kit)
    assert_problem(cashier.post("buy-ins", {"player": "anna", "amount": 1_000}), 409, "house_not_live")
    assert_problem(cashier.post("bearer-buy-ins", {"amount": 1_000}), 409, "house_not_live")
    assert_problem(cashier.post("deposits", {"player": "anna", "amount": 1_000}), 409, "house_not_live")
    assert_problem(cashier.post("deposits/draw", {"player": "anna", "amount": 1_000}), 409, "house_not_live")
    by_card = {"player": "anna", "amount": 1_000, "means": "card", "reference": "R-1"}
    assert_problem(cashier.post("noncash-buy-ins", by_card), 409, "house_not_live")
    assert_problem(dealer.post("open"), 409, "house_not_live")
    cashier.ok("cash-outs", {"player": "anna", "amount": 1_000})
    assert_problem(manager.post("house/close", REASON), 409, "house_not_empty")
    assert kit.approved(manager, "house/resume", REASON, by=Role.AUDITOR)["stage"] == "live"
    cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})
    cashier.ok("cash-outs", {"player": "anna", "amount": 5_000})
    kit.close_drawer(cashier)
    assert kit.approved(manager, "house/close", REASON, by=Role.AUDITOR)["stage"] == "closed" == stage(kit)
    assert_problem(manager.post("house/resume", REASON), 409, "house_wrong_stage")
    assert_problem(manager.post("days", {"day": "2020-02-29"}), 409, "house_not_live")
    assert {one.code for one in verify_house(kit.house).findings} <= {"not_signed"}


def test_a_suspended_house_deals_no_hand(kit: Kit) -> None:
    desks = live(kit)
    dealer = kit.seated(stacks=(5_000, 5_000))
    kit.approved(desks[Role.MANAGER], "house/suspend", REASON, by=Role.AUDITOR)
    assert_problem(dealer.post("hands", {"mode": "physical"}), 409, "house_not_live")
    dealer.ok("seats/1/leave")


def test_a_stage_that_no_event_records_is_found(kit: Kit) -> None:
    with unguarded() as cursor:
        cursor.execute("UPDATE houses_house SET stage = 'live' WHERE id = %s", [kit.house.id])
    found = [(one.code, one.place) for one in verify_house(kit.house).findings]
    assert ("state_differs", f"houses.House {kit.house.code}, stage") in found


def test_a_sandbox_never_goes_live(live_db: None) -> None:
    kit = Kit.found()
    admin = kit.office(Role.ADMIN)
    assert admin.get("house").json()["stage"] == "sandbox"
    assert_problem(admin.post("house/go-live", digest(admin)), 409, "house_wrong_stage")
    kit.close()
