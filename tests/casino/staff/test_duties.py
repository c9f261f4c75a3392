"""Roles that exclude each other: refused when given, and refused when a person with both acts."""

import json

import pytest

from casino.audit.models import Event
from casino.audit.verifier import state_duties
from casino.core.errors import Forbidden
from casino.staff.credentials import Credentials, two_people
from casino.staff.duties import REFUSED_PAIRS, RefusedPair, refused_pair
from casino.staff.models import Role, Staff, TerminalKind
from casino.staff.services import hire
from casino.verification.auditing import verify_house
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem

PASSWORD = "seven-of-acorns-19"
#: All that may be held together; every other pair is refused. Written down twice, here and there, is the point.
TOGETHER = {
    frozenset({Role.DEALER, Role.FLOOR}),
    frozenset({Role.CASHIER, Role.CAGE_SUPERVISOR}),
    frozenset({Role.COMPLIANCE, Role.MANAGER}),
    frozenset({Role.COMPLIANCE, Role.COUNT}),
    frozenset({Role.DEALER, Role.DELEGATE}),
    frozenset({Role.FLOOR, Role.DELEGATE}),
    frozenset({Role.COMPLIANCE, Role.DELEGATE}),
}
IDS = ["+".join(pair.roles) for pair in REFUSED_PAIRS]


def body(kit: Kit, roles: list[str]) -> dict[str, object]:
    """Somebody to be hired with these roles."""
    return {"login": f"new@{kit.house.code}", "name": "New Person", "roles": roles, "password": PASSWORD}


def refusals(kit: Kit) -> list[dict[str, object]]:
    """What the house's trail has of refused attempts."""
    found = Event.objects.filter(house=kit.house, doc__kind="attempt.refused").order_by("id")
    return [json.loads(event.payload) for event in found]


def test_every_pair_of_roles_is_refused_or_stands_here() -> None:
    pairs = {frozenset({one, other}) for one in Role for other in Role if one != other}
    refused = {frozenset({pair.one, pair.other}) for pair in REFUSED_PAIRS}
    assert refused == pairs - TOGETHER
    assert len(refused) == len(REFUSED_PAIRS)


def test_the_verifier_refuses_the_same_pairs() -> None:
    assert state_duties.TOGETHER == TOGETHER
    for pair in REFUSED_PAIRS:
        assert state_duties.refused_pairs(pair.roles) == {frozenset(pair.roles)}


def test_a_pair_that_was_given_past_the_rules_is_found(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by an application that was changed: who was given both roles, and what this person does, is found."""
    for module in ("casino.staff.roster", "casino.staff.services", "casino.api.http.permissions"):
        monkeypatch.setattr(f"{module}.require_compatible", lambda *given: None)
    kit.office(Role.ADMIN).ok("staff", body(kit, ["auditor", "floor"]))
    found = [(one.code, one.problem) for one in verify_house(kit.house).findings]
    both = f"new@{kit.house.code} is given roles, and would be both auditor and floor"
    assert found == [("roles_exclude_each_other", both)]


def test_every_pair_is_refused_at_hiring(kit: Kit) -> None:
    office = kit.office(Role.ADMIN)
    for pair in REFUSED_PAIRS:
        problem = assert_problem(office.post("staff", body(kit, pair.roles)), 403, "roles_exclude_each_other")
        assert problem["roles"] == pair.roles
        assert pair.why in problem["detail"]
    assert not Staff.objects.filter(house=kit.house, login=f"new@{kit.house.code}").exists()
    assert [one["data"]["expected"] for one in refusals(kit)] == [pair.roles for pair in REFUSED_PAIRS]


def test_all_roles_in_one_person_are_refused(kit: Kit) -> None:
    answer = kit.office(Role.ADMIN).post("staff", body(kit, [str(role) for role in Role]))
    assert_problem(answer, 403, "roles_exclude_each_other")


@pytest.mark.parametrize("pair", sorted(map(sorted, TOGETHER)))
def test_other_pairs_are_given(kit: Kit, pair: list[str]) -> None:
    assert kit.office(Role.ADMIN).post("staff", body(kit, pair)).status_code == 201


def test_a_role_that_the_others_exclude_is_not_added(kit: Kit) -> None:
    office = kit.office(Role.ADMIN)
    context, _ = kit.hire(Role.DEALER, TerminalKind.TABLE, "T1")
    change = {"roles": ["cashier", "dealer"], "reason": "helps out"}
    assert_problem(
        office.post(f"staff/{context.staff.login}/roles", change, version=1), 403, "roles_exclude_each_other"
    )
    context.staff.refresh_from_db()
    assert (context.staff.roles, context.staff.version) == ([Role.DEALER], 1)


def test_nobody_has_two_exclusive_duties_on_one_gaming_day(kit: Kit) -> None:
    office, manager, first = kit.office(Role.ADMIN), kit.office(Role.MANAGER), "2020-02-28"
    kit.table("T1")
    context, token = kit.hire(Role.DEALER, TerminalKind.TABLE, "T1")
    desk, who = Desk(kit.http(token), "/api/v1/tables/T1"), context.staff.login
    change, manage = f"staff/{who}/roles", {"roles": ["cashier"], "reason": "the cage is short of people"}

    def version() -> int:
        return Staff.objects.get(id=context.staff.id).version

    manager.ok("days", {"day": first})
    # Reading, and being refused, is no duty done.
    desk.refresh()
    desk.post("/api/v1/players/register", {"player": "x"})
    office.ok(change, manage, version=version())
    office.ok(change, {"roles": ["dealer"], "reason": "back again"}, version=version())
    desk.ok("open")
    problem = assert_problem(office.post(change, manage, version=version()), 409, "duty_done_today")
    assert problem["roles"] == ["dealer", "cashier"]
    office.ok(change, {"roles": ["dealer", "floor"], "reason": "promoted"}, version=version())
    manager.ok("days", {"day": "2020-02-29"})
    office.ok(change, manage, version=version())


def test_a_house_without_days_knows_no_duties_of_the_day(kit: Kit) -> None:
    kit.table("T1")
    context, token = kit.hire(Role.DEALER, TerminalKind.TABLE, "T1")
    desk = Desk(kit.http(token), "/api/v1/tables/T1")
    desk.refresh()
    desk.ok("open")
    change = {"roles": ["cashier"], "reason": "moved to the cage"}
    kit.office(Role.ADMIN).ok(f"staff/{context.staff.login}/roles", change, version=1)


def test_nobody_comes_back_with_a_refused_pair(kit: Kit) -> None:
    office = kit.office(Role.ADMIN)
    context, _ = kit.hire(Role.DEALER, TerminalKind.TABLE, "T1")
    Staff.objects.filter(id=context.staff.id).update(roles=["dealer", "cashier"], is_active=False)
    answer = office.post(f"staff/{context.staff.login}/activate", {"reason": "is back"}, version=1)
    assert_problem(answer, 403, "roles_exclude_each_other")


@pytest.mark.parametrize("pair", REFUSED_PAIRS, ids=IDS)
def test_a_person_who_holds_a_pair_nevertheless_may_only_leave(kit: Kit, pair: RefusedPair) -> None:
    kit.table("T1")
    context, token = kit.hire(pair.one, TerminalKind.OFFICE, "")
    Staff.objects.filter(id=context.staff.id).update(roles=pair.roles)
    desk = Desk(kit.http(token), "/api/v1")
    for answer in (
        desk.get("house"), desk.post("days", {"day": "2020-02-29"}),
        desk.post("/api/v1/tables/T1/hand/actions", {"actions": [{"verb": "f", "actor": "p1"}]}, version=1),
    ):  # fmt: skip
        assert assert_problem(answer, 403, "roles_exclude_each_other")["roles"] == pair.roles
    tried = refusals(kit)
    assert {(one["actor"], one["data"]["code"]) for one in tried} == {(context.staff.login, "roles_exclude_each_other")}
    assert [one["data"]["operation"] for one in tried] == ["readHouse", "openDay", "act"]
    assert kit.http(token).post("/api/v1/sign-out", json={}).status_code == 204


def test_an_action_under_a_remembered_sign_in_is_refused_too(kit: Kit) -> None:
    """The process has read the token, and then the roles change behind the house's back."""
    kit.table("T1")
    dealer = kit.seated("T1")
    dealer.ok("hands", {"mode": "physical"})
    dealer.act("p1 po 100")
    Staff.objects.filter(house=kit.house, roles=[Role.DEALER]).update(roles=["dealer", "cashier"])
    answer = dealer.post("hand/actions", {"actions": [{"verb": "f", "actor": "p2"}]})
    assert_problem(answer, 403, "roles_exclude_each_other")


def test_a_signer_with_a_refused_pair_signs_nothing(kit: Kit) -> None:
    logins = [f"{name}@{kit.house.code}" for name in ("ann", "bea")]
    for login, role in zip(logins, (Role.ADMIN, Role.AUDITOR), strict=True):
        hire(house=kit.house, login=login, name="x", roles=[role], password=PASSWORD, actor=ACTOR)
    Staff.objects.filter(login=logins[1]).update(roles=["auditor", "cashier"])
    ann, bea = (Credentials(login, PASSWORD) for login in logins)
    with pytest.raises(Forbidden, match="auditor") as refused:
        two_people(house=kit.house, first=ann, second=bea, roles=(Role.ADMIN, Role.AUDITOR))
    assert refused.value.code == "roles_exclude_each_other"
    assert [one["data"]["code"] for one in refusals(kit)] == ["roles_exclude_each_other"]


def test_founding_a_house_gives_no_refused_pair(kit: Kit) -> None:
    with pytest.raises(Forbidden, match="cannot be both"):
        hire(
            house=kit.house, login=f"x@{kit.house.code}", name="x", roles=[Role.AUDITOR, Role.ADMIN],
            password=PASSWORD, actor=ACTOR,
        )  # fmt: skip


def test_one_role_or_none_excludes_nothing() -> None:
    assert [refused_pair([str(role)]) for role in Role] == [None] * len(Role)
    assert refused_pair([]) is None
