"""Who decides an approval shows a passkey that has signed a challenge for exactly this decision on exactly this
request."""

from functools import partial
from typing import Any

import pytest

from casino.approvals.models import Approval
from casino.staff.models import PasskeyChallenge, Role
from casino.verification.auditing import verify_house
from tests.casino.approvals.test_codes import held
from tests.casino.authenticator import PRESENT
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.staff.test_passkeys import Holder, events


@pytest.fixture
def asked(strict: Kit) -> tuple[int, Holder, Desk]:
    """An approval that waits, and a manager with a passkey who may decide it."""
    desk = Holder(strict, "ann", Role.CAGE_SUPERVISOR).enrolled()
    bea = Holder(strict, "bea", Role.MANAGER)
    return held(desk), bea, bea.enrolled()


def answer(desk: Desk, holder: Holder, number: int, decision: str = "approve", **wrong: Any) -> dict[str, Any]:
    """What the passkey answers to a challenge for a decision."""
    found = desk.http.post(f"/api/v1/approvals/{number}/challenge", json={"decision": decision})
    assert found.status_code == 201, found.text
    return holder.authenticator.sign(found.json(), **wrong)


def test_a_decision_takes_a_passkey_in_place_of_a_code(strict: Kit, asked: tuple[int, Holder, Desk]) -> None:
    number, bea, manager = asked
    assert_problem(manager.post(f"approvals/{number}/approve"), 403, "code_required")
    body = {"passkey": answer(manager, bea, number)}
    decided = manager.post(f"approvals/{number}/approve", body, key="once")
    assert decided.json()["state"] == "approved", decided.text
    assert manager.post(f"approvals/{number}/approve", body, key="once").json() == decided.json()
    data = events(strict, "approval.approved")[-1]["data"]
    assert (data["second_factor"], data["passkey_sha256"]) == (True, bea.authenticator.name)
    assert verify_house(strict.house).findings == []


def test_a_refusal_takes_one_too(strict: Kit, asked: tuple[int, Holder, Desk]) -> None:
    number, bea, manager = asked
    body = {"reason": "too much", "passkey": answer(manager, bea, number, "refuse")}
    assert manager.ok(f"approvals/{number}/refuse", body)["state"] == "refused"
    assert events(strict, "approval.refused")[-1]["data"]["passkey_sha256"] == bea.authenticator.name


def test_a_challenge_is_for_one_decision_on_one_request(strict: Kit, asked: tuple[int, Holder, Desk]) -> None:
    number, bea, manager = asked
    other = held(Holder(strict, "cay", Role.CAGE_SUPERVISOR).enrolled())
    for wrong in (answer(manager, bea, other), answer(manager, bea, number, "refuse"), bea.own(manager)):
        refused = manager.post(f"approvals/{number}/approve", {"passkey": wrong})
        assert_problem(refused, 403, "passkey_challenge_refused")
    # A challenge to sign in approves nothing, and the other way round.
    refused = manager.post(f"approvals/{number}/approve", {"passkey": bea.authenticator.sign(bea.asked())})
    assert_problem(refused, 403, "passkey_challenge_refused")
    assert_problem(bea.come(answer(manager, bea, number)), 403, "sign_in_refused")
    assert Approval.objects.get(house=strict.house, number=number).state == "requested"


def test_a_challenge_for_another_request_under_the_number_is_none(strict: Kit, asked: tuple[int, Holder, Desk]) -> None:
    number, bea, manager = asked
    signed = answer(manager, bea, number)
    bound = PasskeyChallenge.objects.filter(house=strict.house, bound_to__startswith=f"approved/{number}/")
    assert bound.get().bound_to.endswith(Approval.objects.get(house=strict.house, number=number).request_hash)
    bound.update(bound_to=f"approved/{number}/{'0' * 64}")
    refused = manager.post(f"approvals/{number}/approve", {"passkey": signed})
    assert_problem(refused, 403, "passkey_challenge_refused")


def test_a_wrong_passkey_decides_nothing_and_locks_the_login(strict: Kit, asked: tuple[int, Holder, Desk]) -> None:
    number, bea, manager = asked
    ann = Holder(strict, "cay", Role.MANAGER)
    ann.enrolled()
    foreign = answer(manager, ann, number)
    assert_problem(manager.post(f"approvals/{number}/approve", {"passkey": foreign}), 403, "passkey_refused")
    for _ in range(4):
        signed = answer(manager, bea, number, flags=PRESENT)
        assert_problem(manager.post(f"approvals/{number}/approve", {"passkey": signed}), 403, "passkey_refused")
        # Used up, also in vain.
        assert not PasskeyChallenge.objects.filter(house=strict.house, bound_to__startswith="approved/").exists()
    body = {"passkey": answer(manager, bea, number)}
    assert_problem(manager.post(f"approvals/{number}/approve", body), 429, "too_many_attempts")


def test_a_copy_of_a_passkey_is_seen(strict: Kit, asked: tuple[int, Holder, Desk]) -> None:
    number, bea, manager = asked
    bea.come(bea.authenticator.sign(bea.asked(), count=5))
    body = {"passkey": answer(manager, bea, number, count=4)}
    assert_problem(manager.post(f"approvals/{number}/approve", body), 403, "passkey_cloned")
    [seen] = events(strict, "staff.passkey_clone_seen")
    assert (seen["actor"], seen["data"]["stored_count"], seen["data"]["given_count"]) == (bea.login, 5, 4)
    assert verify_house(strict.house).findings == []


def test_of_two_decisions_at_once_with_one_answer_one_counts(strict: Kit, asked: tuple[int, Holder, Desk]) -> None:
    number, bea, manager = asked
    body = {"passkey": answer(manager, bea, number)}

    decides = partial(manager.post, f"approvals/{number}/approve", body)
    assert sorted(found.status_code for found in at_once(decides, decides)) == [200, 409]
    assert len(events(strict, "approval.approved")) == 1


def test_a_challenge_is_given_to_who_may_see_the_approval(strict: Kit, asked: tuple[int, Holder, Desk]) -> None:
    number, _, manager = asked
    compliance = Holder(strict, "dee", Role.COMPLIANCE).enrolled()
    found = compliance.http.post(f"/api/v1/approvals/{number}/challenge", json={"decision": "approve"})
    assert_problem(found, 404, "not_found")
    found = manager.http.post(f"/api/v1/approvals/{number}/challenge", json={"decision": "withdraw"})
    assert_problem(found, 400, "invalid_request")
