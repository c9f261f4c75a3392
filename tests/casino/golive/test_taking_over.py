"""Once a house is live, no administrator alone can act as somebody else: not by a new password, and not by taking a
second factor away."""

from typing import Any

import pytest

from casino.audit.verifier import state_approvals
from casino.core import once_live
from casino.staff.models import Role, Staff
from casino.verification.auditing import verify_house
from tests.casino.golive.test_once_live import kit
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.staff.test_second_factor import Person, clock  # noqa: F401 - a fixture for every test

__all__ = ["kit"]

GIVEN = {"password": "ten-of-hearts-31", "reason": "forgotten"}
LOST = {"reason": "lost the telephone"}


def of(person: Person, what: str) -> dict[str, Any]:
    """Address and version of a change of somebody's entry."""
    return {"path": f"staff/{person.login}/{what}", "version": person.row.version}


def held(desk: Desk, body: dict[str, Any], *, roles: list[str], **named: Any) -> str:
    """The number of the approval that a change waits for."""
    path = named.pop("path")
    problem = assert_problem(desk.post(path, body, **named), 409, "approval_required")["approval"]
    assert problem["roles"] == roles
    return str(problem["approval"])


def findings(kit: Kit) -> list[str]:
    return [found.code for found in verify_house(kit.house).findings]


@pytest.mark.parametrize("role", [Role.MANAGER, Role.AUDITOR])
def test_an_administrator_who_resets_password_and_factor_cannot_act_as_the_person(kit: Kit, role: Role) -> None:
    ann, admin = Person(kit, role=role), kit.office(Role.ADMIN)
    ann.enrolled()
    held(admin, LOST, roles=["manager", "auditor"], **of(ann, "second-factor/reset"))
    assert ann.row.totp_since is not None, "it still counts"
    assert admin.ok(body=GIVEN, **of(ann, "password"))["active"] is False
    assert_problem(ann.sign_in(ann.code(), GIVEN["password"]), 403, "sign_in_refused")
    held(admin, LOST, roles=["manager", "auditor"], **of(ann, "activate"))
    assert_problem(ann.sign_in(ann.code(1), GIVEN["password"]), 403, "sign_in_refused")
    assert findings(kit) == []


def test_another_person_opens_the_login_and_lets_the_factor_go(kit: Kit) -> None:
    """The sole auditor is helped by a manager, and no password is part of what is approved."""
    ann, admin, manager = Person(kit), kit.office(Role.ADMIN), kit.office(Role.MANAGER)
    ann.enrolled()
    admin.ok(body=GIVEN, **of(ann, "password"))
    (row,) = admin.get(f"staff?login={ann.login}").json()["results"]
    assert (row["active"], row["locked_by_password"]) == (False, True)
    for what in ("activate", "second-factor/reset"):
        number = held(admin, LOST, roles=["manager", "auditor"], **of(ann, what))
        manager.ok(f"approvals/{number}/approve")
        admin.ok(body=LOST, headers={"Approval": number}, **of(ann, what))
    (row,) = admin.get(f"staff?login={ann.login}").json()["results"]
    assert (row["active"], row["locked_by_password"], row["second_factor_since"]) == (True, False, None)
    assert ann.sign_in(password=GIVEN["password"]).status_code == 201
    assert not any(GIVEN["password"] in str(one.body) for one in kit.house.approvals.all())
    assert findings(kit) == []


def test_nobody_approves_a_change_of_their_own_entry(kit: Kit) -> None:
    ann, admin = Person(kit, role=Role.MANAGER), kit.office(Role.ADMIN)
    mine = ann.enrolled()
    number = held(admin, LOST, roles=["manager", "auditor"], **of(ann, "second-factor/reset"))
    assert_problem(mine.post(f"approvals/{number}/approve"), 403, "four_eyes")
    kit.office(Role.MANAGER).ok(f"approvals/{number}/approve")


def test_who_was_left_out_does_not_come_back_by_a_new_password(kit: Kit) -> None:
    ann, admin = Person(kit, role=Role.MANAGER), kit.office(Role.ADMIN)
    admin.ok(body=LOST, **of(ann, "deactivate"))
    admin.ok(body=GIVEN, **of(ann, "password"))
    assert ann.row.locked_by_password is False
    held(admin, LOST, roles=["auditor"], **of(ann, "activate"))
    bea = Person(kit, "bea", Role.MANAGER)
    admin.ok(body=GIVEN, **of(bea, "password"))
    assert admin.ok(body=LOST, **of(bea, "deactivate"))["active"] is False
    held(admin, LOST, roles=["auditor"], **of(bea, "activate"))
    assert findings(kit) == []


def test_what_nobody_has_approved_is_found(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, admin = Person(kit, role=Role.MANAGER), kit.office(Role.ADMIN)
    ann.enrolled()
    # As by an application that was changed; events of the first seconds after going live are left alone.
    monkeypatch.setattr(once_live, "is_live", lambda house: False)
    monkeypatch.setattr(state_approvals, "TOLERANCE", 0)
    admin.ok(body=LOST, **of(ann, "second-factor/reset"))
    admin.ok(body=GIVEN, **of(ann, "password"))
    assert findings(kit).count("approval_missing") == 2


def test_while_a_house_is_founded_a_new_password_counts_at_once(live_db: None) -> None:
    kit = Kit.found(sandbox=False)
    ann = Person(kit)
    assert kit.office(Role.ADMIN).ok(body=GIVEN, **of(ann, "password"))["active"] is True
    assert not Staff.objects.get(login=ann.login).locked_by_password
    kit.close()
