"""In a house of at most three tables one person may be floor and cage supervisor, where an auditor has approved it."""

from typing import Any

import pytest

from casino.approvals.control_points import APPROVED
from casino.staff.duties import REFUSED_PAIRS, refused_pair
from casino.staff.models import Role, Staff, TerminalKind
from casino.verification.auditing import verify_house
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem

BOTH = ["cage_supervisor", "floor"]
SMALL = {"points": {"small_house": 1}, "reason": "two tables"}


def roles(kit: Kit, admin: Desk, person: Staff, wanted: list[str]) -> Any:
    version = Staff.objects.get(id=person.id).version
    return admin.post(f"staff/{person.login}/roles", {"roles": wanted, "reason": "a small room"}, version=version)


def test_floor_and_cage_supervisor_meet_in_a_small_house_and_nothing_else(kit: Kit) -> None:
    kit.table("T1")
    admin = kit.office(Role.ADMIN)
    context, token = kit.hire(Role.FLOOR, TerminalKind.OFFICE, "")
    assert_problem(roles(kit, admin, context.staff, BOTH), 403, "roles_exclude_each_other")
    asked = assert_problem(admin.post("limits", SMALL), 409, "approval_required")
    assert asked["approval"]["roles"] == ["auditor"]
    kit.approved(admin, "limits", SMALL, by=Role.AUDITOR)
    assert roles(kit, admin, context.staff, BOTH).status_code == 200
    desk = Desk(kit.http(token), "/api/v1")
    assert desk.get("house").status_code == 200
    refused = {frozenset(pair.roles) for pair in REFUSED_PAIRS if refused_pair(pair.roles, kit.house)}
    assert {frozenset(pair.roles) for pair in REFUSED_PAIRS} - refused == {frozenset(BOTH)}
    assert_problem(roles(kit, admin, context.staff, [*BOTH, "dealer"]), 403, "roles_exclude_each_other")
    for number in (2, 3):
        kit.table(f"T{number}")
    assert desk.get("house").status_code == 200
    kit.table("T4")
    assert_problem(desk.get("house"), 403, "roles_exclude_each_other")
    assert verify_house(kit.house).findings == []


def test_a_house_of_four_tables_is_not_small(kit: Kit) -> None:
    for number in range(4):
        kit.table(f"T{number + 1}")
    assert assert_problem(kit.office(Role.ADMIN).post("limits", SMALL), 409, "too_many_tables")["max"] == 3


def test_a_house_that_became_small_against_the_rules_is_found(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        kit.table(f"T{number + 1}")
    # As by an application that was changed.
    monkeypatch.setattr("casino.houses.control_points.has_few_tables", lambda house: True)
    monkeypatch.setattr("casino.approvals.control_points.SMALL_HOUSE", APPROVED)
    kit.approved(kit.office(Role.ADMIN), "limits", SMALL, by=Role.MANAGER)
    assert {one.code for one in verify_house(kit.house).findings} == {"approval_differs", "house_not_small"}
