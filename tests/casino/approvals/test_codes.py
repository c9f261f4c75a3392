"""Who decides an approval gives a code of the second factor with the decision, where the house asks for one."""

import pytest

from casino.approvals.models import Approval
from casino.audit.models import Event
from casino.staff.decisions import Shown
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.staff.test_second_factor import Person, clock  # noqa: F401 - a fixture for every test

DUTY = {"amount": 700, "reason": "November"}


def asked(kit: Kit) -> tuple[int, Person, Desk]:
    """An approval that waits, and a manager with a second factor who may decide it."""
    desk = Person(kit, "ann", Role.CAGE_SUPERVISOR).enrolled()
    bea = Person(kit, "bea", Role.MANAGER)
    manager = bea.enrolled()
    return held(desk), bea, manager


def held(desk: Desk, amount: int = 700) -> int:
    problem = assert_problem(desk.post("duty", DUTY | {"amount": amount}), 409, "approval_required")
    return int(problem["approval"]["approval"])


def test_a_decision_takes_a_new_code(strict: Kit) -> None:
    number, bea, manager = asked(strict)
    assert_problem(manager.post(f"approvals/{number}/approve"), 403, "code_required")
    assert_problem(manager.post(f"approvals/{number}/refuse", {"reason": "too much"}), 403, "code_required")
    assert_problem(manager.post(f"approvals/{number}/approve", {"code": "1"}), 400, "invalid_request")
    assert_problem(manager.post(f"approvals/{number}/approve", {"code": bea.code(-1)}), 403, "code_refused")
    code = bea.code()
    decided = manager.post(f"approvals/{number}/approve", {"code": code}, key="once")
    assert decided.json()["state"] == "approved", decided.text
    assert manager.post(f"approvals/{number}/approve", {"code": code}, key="once").json() == decided.json()
    event = Event.objects.filter(house=strict.house).order_by("-id").values_list("doc", flat=True)
    assert next(one for one in event if one["kind"] == "approval.approved")["data"]["second_factor"] is True
    assert not [one for one in event if code in str(one["data"])], "no event has the code"
    assert verify_house(strict.house).findings == []


def test_a_code_decides_once_and_signs_in_once(strict: Kit) -> None:
    number, bea, manager = asked(strict)
    other = held(Person(strict, "cay", Role.CAGE_SUPERVISOR).enrolled())
    code = bea.code(1)
    manager.ok(f"approvals/{number}/refuse", {"reason": "too much", "code": code})
    assert_problem(manager.post(f"approvals/{other}/approve", {"code": code}), 403, "code_refused")
    assert_problem(bea.sign_in(code), 403, "sign_in_refused")
    assert Approval.objects.get(house=strict.house, number=other).state == "requested"


def test_a_decision_that_is_refused_uses_no_code_up(strict: Kit) -> None:
    number, bea, manager = asked(strict)
    manager.ok(f"approvals/{number}/approve", {"code": bea.code()})
    later = bea.code(1)
    assert_problem(manager.post(f"approvals/{number}/approve", {"code": later}), 409, "approval_approved")
    assert bea.sign_in(later).status_code == 201


def test_wrong_codes_of_decisions_lock_the_login(strict: Kit) -> None:
    number, bea, manager = asked(strict)
    for _ in range(5):
        assert_problem(manager.post(f"approvals/{number}/approve", {"code": "000000"}), 403, "code_refused")
    problem = assert_problem(
        manager.post(f"approvals/{number}/approve", {"code": bea.code()}), 429, "too_many_attempts"
    )
    assert problem["retry_after"] > 0
    assert_problem(bea.sign_in(bea.code(1)), 429, "too_many_attempts")


def test_a_house_that_asks_for_none_takes_none_and_checks_what_is_given(kit: Kit) -> None:
    number = held(kit.office(Role.CAGE_SUPERVISOR))
    bea = Person(kit, "bea", Role.MANAGER)
    manager = bea.enrolled()
    assert_problem(manager.post(f"approvals/{number}/approve", {"code": "000000"}), 403, "code_refused")
    manager.ok(f"approvals/{number}/approve")
    without = held(kit.office(Role.CAGE_SUPERVISOR), 1)
    kit.office(Role.MANAGER).ok(f"approvals/{without}/approve", {"code": "000000"})


def test_who_decided_without_a_code_is_found(strict: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    number, _, manager = asked(strict)
    # As by an application that was changed.
    monkeypatch.setattr("casino.staff.decisions.WithCode.use", lambda self, staff, role, bound_to: Shown())
    manager.ok(f"approvals/{number}/approve")
    assert [one.code for one in verify_house(strict.house).findings] == ["approval_without_code"]
