"""Once a house is live, what it is made of changes with an approval of another person only."""

from collections.abc import Iterator
from typing import Any

import pytest

from casino.audit.verifier import state_approvals
from casino.core import once_live
from casino.staff.models import Role, Staff, TerminalKind
from casino.verification.auditing import verify_house
from tests.casino.golive.test_going_live import live
from tests.casino.kit import FERBLI, RULES, Desk, Kit
from tests.casino.scene import assert_problem

TERMS = {"options": FERBLI, "seat_count": 4, "min_stack": 1_000, "max_stack": 90_000, "carryover_on_close": "split"}
PASSWORD = "nine-of-bells-47"
REASON = {"reason": "the room grows"}


@pytest.fixture
def kit(live_db: None) -> Iterator[Kit]:
    """A house that was founded and is live."""
    kit = Kit.found(sandbox=False)
    kit.table()
    for role in (*Role, Role.ADMIN, Role.COUNT):
        kit.office(role)
    kit.dealer()
    kit.cashier()
    kit.sequence()
    live(kit)
    yield kit
    kit.close()


def asked(kit: Kit, desk: Desk, path: str, body: dict[str, Any], by: Role, **named: Any) -> dict[str, Any]:
    """Ask for something that needs an approval of this role, which is given; returns what was answered then."""
    problem = assert_problem(desk.post(path, body, **named), 409, "approval_required")
    assert problem["approval"]["roles"] == [by], problem
    number = problem["approval"]["approval"]
    kit.office(by).ok(f"approvals/{number}/approve")
    answer = desk.post(path, body, headers={"Approval": str(number)}, **named)
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


def codes(kit: Kit) -> list[str]:
    return [found.code for found in verify_house(kit.house).findings]


def test_the_rules_of_the_house_take_a_manager(kit: Kit) -> None:
    body = {"texts": RULES} | REASON
    assert asked(kit, kit.office(Role.ADMIN), "house/rules", body, Role.MANAGER)["rules"]["approval"] is not None
    assert codes(kit) == []


def test_tables_terms_trays_and_drawers_take_a_manager(kit: Kit) -> None:
    admin, keeper = kit.office(Role.ADMIN), kit.office(Role.CAGE_SUPERVISOR)
    asked(kit, admin, "tables", {"table": "T5", "game": "ferbli"} | TERMS, Role.MANAGER)
    asked(kit, keeper, "tables/T5/tray", {"pieces": {"100": 40}}, Role.MANAGER)
    changed = {"max_stack": 80_000} | REASON
    asked(kit, admin, "tables/T5/terms", TERMS | changed, Role.MANAGER, version=1)
    asked(kit, admin, "drawers", {"drawer": "C5"}, Role.MANAGER)
    enrolled = asked(kit, admin, "terminals", {"terminal": "C5-1", "kind": "cage", "location": "C5"}, Role.MANAGER)
    assert enrolled["key"]
    assert codes(kit) == []


def test_a_new_login_counts_when_another_person_has_approved_it(kit: Kit) -> None:
    admin = kit.office(Role.ADMIN)
    body = {"login": "new", "name": "New Person", "roles": ["dealer"], "password": PASSWORD}
    assert admin.ok("staff", body)["active"] is False
    assert not Staff.objects.get(house=kit.house, login="new").is_active
    activated = asked(kit, admin, "staff/new/activate", REASON, Role.MANAGER, version=1)
    assert activated["active"] is True
    asked(kit, admin, "staff/new/roles", {"roles": ["cage_supervisor"]} | REASON, Role.AUDITOR, version=2)
    # Taking a privileged role away is as weighty as giving it.
    asked(kit, admin, "staff/new/roles", {"roles": ["cashier"]} | REASON, Role.AUDITOR, version=3)
    asked(kit, admin, "staff/new/player", {"player": "newt"} | REASON, Role.MANAGER, version=4)
    assert codes(kit) == []
    stored = [row.body for row in kit.house.approvals.all()]
    assert not any(PASSWORD in str(one) for one in stored), "an approval has a password"


def test_a_change_that_nobody_has_approved_is_found(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = kit.office(Role.ADMIN)
    # As by an application that was changed; events of the first seconds after going live are left alone.
    monkeypatch.setattr(once_live, "is_live", lambda house: False)
    monkeypatch.setattr(state_approvals, "TOLERANCE", 0)
    admin.ok("drawers", {"drawer": "C5"})
    admin.ok("staff", {"login": "new", "name": "New Person", "roles": ["dealer"], "password": PASSWORD})
    admin.ok("staff/new/roles", {"roles": ["cashier"]} | REASON, version=1)
    assert codes(kit).count("approval_missing") == 3


def test_leaving_a_person_out_is_done_at_once(kit: Kit) -> None:
    admin, leaver = kit.office(Role.ADMIN), kit.hire(Role.DEALER, TerminalKind.OFFICE, "")[0].staff
    row = Staff.objects.get(id=leaver.id)
    admin.ok(f"staff/{row.login}/deactivate", REASON, version=row.version)
    assert not Staff.objects.get(id=leaver.id).is_active
