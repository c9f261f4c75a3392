"""Approvals: of exactly one request, by another person at a sign-in of their own, for one use and a short time."""

import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connections, transaction

from casino.approvals import gate
from casino.approvals.control_points import set_at_founding
from casino.approvals.models import Approval, ApprovalState
from casino.audit import verifier
from casino.audit.models import Event
from casino.reports.tasks import expire_approvals
from casino.reports.verifying import verification
from casino.staff.models import Role, Staff, TerminalKind
from casino.verification import auditing, exporting
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded

SUPERVISOR_FROM, MANAGER_FROM = 5_000, 10_000
DUTY = {"amount": 700, "reason": "November"}
#: One by one: tests/casino/cage/test_linked.py adds up.
UNLINKED = dict.fromkeys(("linked_hours", "linked_days", "linked_long_days"), 0)


@pytest.fixture
def cage(kit: Kit) -> Desk:
    """A cashier's terminal at an open drawer of a house with low control points."""
    points = {"exchange_by_supervisor_from": SUPERVISOR_FROM, "exchange_by_manager_from": MANAGER_FROM} | UNLINKED
    set_at_founding(house=kit.house, points=points, actor=ACTOR)
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, chips=50_000)
    return cashier


def held(answer: Any) -> int:
    """The number of the approval that a refused request waits for."""
    return int(assert_problem(answer, 409, "approval_required")["approval"]["approval"])


def with_approval(number: int) -> dict[str, str]:
    return {"Approval": str(number)}


def buy(amount: int) -> dict[str, Any]:
    return {"player": "anna", "amount": amount}


def supervisor(kit: Kit) -> Desk:
    """A cage supervisor at a drawer's terminal of another cashier."""
    return Desk(kit.http(kit.token(Role.CAGE_SUPERVISOR, TerminalKind.CAGE, "C1")), "/api/v1")


# --- The way of an approval ------------------------------------------------------------------------------------------


def test_a_buy_in_above_the_control_point_waits_for_a_supervisor_and_is_done_once(kit: Kit, cage: Desk) -> None:
    cage.ok("buy-ins", buy(SUPERVISOR_FROM - 1))
    chips, last = kit.balance("2010/anna"), last_event()
    problem = assert_problem(cage.post("buy-ins", buy(SUPERVISOR_FROM), key="k1"), 409, "approval_required")["approval"]
    assert (problem["kind"], problem["roles"], problem["state"]) == (
        "exchange", ["cage_supervisor", "manager"], "requested"
    )  # fmt: skip
    assert kit.balance("2010/anna") == chips, "nothing was changed"
    assert [event["kind"] for event in recorded_since(last)] == ["approval.requested", "attempt.refused"]
    number, one = problem["approval"], supervisor(kit)
    seen = one.get(f"approvals/{number}").json()
    assert (seen["operation"], seen["path"], seen["body"], seen["amount"]) == (
        "buyIn", "/api/v1/drawers/C1/buy-ins", buy(SUPERVISOR_FROM), SUPERVISOR_FROM
    )  # fmt: skip
    decided = one.ok(f"approvals/{number}/approve")
    assert (decided["state"], decided["audit"]["chain"]) == ("approved", kit.house.chain)
    done = cage.ok("buy-ins", buy(SUPERVISOR_FROM), key="k1", headers=with_approval(number))
    assert done["last_event"]["approval"] == number
    assert kit.balance("2010/anna") == chips + SUPERVISOR_FROM
    event = Event.objects.filter(chain__house=kit.house, chain__name="drawer/C1").latest("id").doc
    assert (event["kind"], event["approver"]) == ("cage.buy_in", decided["decided_by"])
    again = cage.post("buy-ins", buy(SUPERVISOR_FROM), key="k1", headers=with_approval(number))
    assert (again.status_code, again.headers["Idempotency-Replayed"], again.json()) == (201, "true", done)
    refused = cage.post("buy-ins", buy(SUPERVISOR_FROM), key="k2", headers=with_approval(number))
    assert_problem(refused, 409, "approval_used")
    assert kit.balance("2010/anna") == chips + SUPERVISOR_FROM
    assert Approval.objects.get(house=kit.house, number=number).state == ApprovalState.USED
    assert verification(kit.house)["ok"]


def test_the_same_request_again_finds_the_approval_that_is_open(kit: Kit, cage: Desk) -> None:
    number = held(cage.post("buy-ins", buy(6_000)))
    assert held(cage.post("buy-ins", buy(6_000))) == number
    assert held(cage.post("buy-ins", buy(6_001))) == number + 1
    supervisor(kit).ok(f"approvals/{number}/approve")
    again = cage.post("buy-ins", buy(6_000))
    assert (held(again), again.json()["approval"]["state"]) == (number, "approved")


def test_an_approval_is_for_one_request_of_one_person(kit: Kit, cage: Desk) -> None:
    number = held(cage.post("buy-ins", buy(6_000)))
    undecided = cage.post("buy-ins", buy(6_000), headers=with_approval(number))
    assert_problem(undecided, 409, "approval_requested")
    supervisor(kit).ok(f"approvals/{number}/approve")
    other = assert_problem(cage.post("buy-ins", buy(6_001), headers=with_approval(number)), 409, "approval_differs")
    assert other["differs"] == ["request"]
    out = assert_problem(cage.post("cash-outs", buy(6_000), headers=with_approval(number)), 409, "insufficient_funds")
    assert out["account"] == "2010/anna"
    # At a drawer that another person has opened, counterfeits are taken out, and nothing is sold.
    fakes: dict[str, Any] = {"cash": 500, "pieces": {}, "evidence": "E-1", "reason": "the ultraviolet lamp"}
    taken = held(cage.post("counterfeits", fakes))
    supervisor(kit).ok(f"approvals/{taken}/approve")
    somebody = kit.cashier(another=True)
    theirs = assert_problem(somebody.post("counterfeits", fakes, headers=with_approval(taken)), 409, "approval_differs")
    assert theirs["differs"] == ["requested_by"]
    assert_problem(cage.post("buy-ins", buy(6_000), headers=with_approval(99)), 404, "not_found")
    assert_problem(cage.post("buy-ins", buy(6_000), headers={"Approval": "one"}), 400, "invalid_request")
    assert kit.balance("2010/anna") == 0
    cage.ok("buy-ins", buy(6_000), headers=with_approval(number))
    assert verification(kit.house)["ok"]


def test_what_was_refused_or_withdrawn_cannot_be_used(kit: Kit, cage: Desk) -> None:
    one = supervisor(kit)
    refused = held(cage.post("buy-ins", buy(6_000)))
    assert_problem(one.post(f"approvals/{refused}/refuse", {}), 400, "invalid_request")
    decided = one.ok(f"approvals/{refused}/refuse", {"reason": "nobody knows this player"})
    assert (decided["state"], decided["reason"]) == ("refused", "nobody knows this player")
    assert_problem(one.post(f"approvals/{refused}/approve"), 409, "approval_refused")
    assert_problem(cage.post("buy-ins", buy(6_000), headers=with_approval(refused)), 409, "approval_refused")
    withdrawn = held(cage.post("buy-ins", buy(6_000)))
    assert withdrawn == refused + 1, "a refused request may be made again, under the next number"
    assert_problem(one.post(f"approvals/{withdrawn}/withdraw"), 403, "forbidden")
    one.ok(f"approvals/{withdrawn}/approve")
    assert_problem(one.post(f"approvals/{withdrawn}/approve"), 409, "approval_approved")
    mine = Desk(cage.http, "/api/v1")
    assert mine.ok(f"approvals/{withdrawn}/withdraw")["state"] == "withdrawn"
    assert_problem(cage.post("buy-ins", buy(6_000), headers=with_approval(withdrawn)), 409, "approval_withdrawn")
    assert_problem(mine.post(f"approvals/{withdrawn}/withdraw"), 409, "approval_withdrawn")
    assert verification(kit.house)["ok"]


def test_an_approval_runs_out(kit: Kit, cage: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    set_at_founding(house=kit.house, points={"approval_minutes_at_drawers": 1}, actor=ACTOR)
    monkeypatch.setattr(gate, "lasts", lambda request: timedelta(seconds=1.5))
    one = supervisor(kit)
    used_too_late, decided_too_late = held(cage.post("buy-ins", buy(6_000))), held(cage.post("buy-ins", buy(7_000)))
    one.ok(f"approvals/{used_too_late}/approve")
    time.sleep(1.6)
    assert_problem(cage.post("buy-ins", buy(6_000), headers=with_approval(used_too_late)), 409, "approval_expired")
    assert_problem(one.post(f"approvals/{decided_too_late}/approve"), 409, "approval_expired")
    assert one.get(f"approvals/{decided_too_late}").json()["state"] == "expired"
    assert expire_approvals(str(kit.house.id)) is True
    assert expire_approvals(str(kit.house.id)) is False
    states = Approval.objects.filter(house=kit.house).values_list("state", flat=True)
    assert set(states) == {ApprovalState.EXPIRED}
    assert_problem(cage.post("buy-ins", buy(6_000), headers=with_approval(used_too_late)), 409, "approval_expired")
    assert held(cage.post("buy-ins", buy(6_000))) == decided_too_late + 1
    assert verification(kit.house)["ok"]


def test_at_a_drawer_it_lasts_ten_minutes_and_in_the_office_an_hour(kit: Kit, cage: Desk) -> None:
    held(cage.post("buy-ins", buy(6_000)))
    held(kit.office(Role.CAGE_SUPERVISOR).post("duty", DUTY))
    lasts = [one.expires_at - one.requested_at for one in Approval.objects.filter(house=kit.house).order_by("number")]
    assert [round(one.total_seconds() / 60) for one in lasts] == [10, 60]


def test_how_long_it_lasts_is_a_control_point(kit: Kit, cage: Desk) -> None:
    set_at_founding(house=kit.house, points={"approval_minutes_at_drawers": 25}, actor=ACTOR)
    held(cage.post("buy-ins", buy(6_000)))
    found = Approval.objects.get(house=kit.house)
    assert round((found.expires_at - found.requested_at).total_seconds() / 60) == 25
    assert verification(kit.house)["ok"]


def booked_at_once(kit: Kit, keys: list[str | None]) -> list[Any]:
    """The answers to the same duty with one approval, sent under these keys at the same time."""
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    approved = kit.approval(keeper, "duty", DUTY)
    start, answers = threading.Barrier(len(keys)), []

    def book(key: str | None) -> None:
        desk = Desk(kit.http(keeper.http.headers["Authorization"].partition(" ")[2]), "/api/v1")
        start.wait()
        try:
            answers.append(desk.post("duty", DUTY, key=key, headers=approved))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=book, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_one_request_many_times_at_once_has_one_answer(kit: Kit) -> None:
    answers = booked_at_once(kit, ["november"] * 8)
    assert [(one.status_code, one.json()) for one in answers] == [(201, answers[0].json())] * 8
    assert kit.balance("2200") == DUTY["amount"]


def test_one_approval_and_many_requests_at_the_same_time(kit: Kit) -> None:
    answers = booked_at_once(kit, [None] * 8)
    assert sorted((one.status_code, one.json().get("code", "")) for one in answers) == [
        (201, ""), *[(409, "approval_used")] * 7
    ]  # fmt: skip
    assert kit.balance("2200") == DUTY["amount"]
    assert verification(kit.house)["ok"]


def test_two_decisions_at_the_same_time(kit: Kit) -> None:
    number = held(kit.office(Role.CAGE_SUPERVISOR).post("duty", DUTY))
    desks = [kit.office(Role.MANAGER) for _ in range(6)]
    start, answers = threading.Barrier(len(desks)), []

    def decide(desk: Desk, decision: str, body: dict[str, str]) -> None:
        start.wait()
        try:
            answers.append(desk.post(f"approvals/{number}/{decision}", body).status_code)
        finally:
            connections.close_all()

    decisions = [("approve", {}), ("refuse", {"reason": "too much"})] * 3
    threads = [threading.Thread(target=decide, args=(desk, *one)) for desk, one in zip(desks, decisions, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, *[409] * 5]
    assert verification(kit.house)["ok"]


def test_an_approval_of_another_house_is_none(kit: Kit) -> None:
    other = Kit.found()
    number = held(other.office(Role.CAGE_SUPERVISOR).post("duty", DUTY))
    other.office(Role.MANAGER).ok(f"approvals/{number}/approve")
    keeper, manager = kit.office(Role.CAGE_SUPERVISOR), kit.office(Role.MANAGER)
    assert_problem(keeper.post("duty", DUTY, headers=with_approval(number)), 404, "not_found")
    assert_problem(manager.post(f"approvals/{number}/approve"), 404, "not_found")
    assert_problem(manager.get(f"approvals/{number}"), 404, "not_found")
    other.close()


def test_requests_at_the_same_time_get_numbers_without_gaps(kit: Kit) -> None:
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    start, numbers = threading.Barrier(6), []

    def ask(amount: int) -> None:
        desk = Desk(kit.http(keeper.http.headers["Authorization"].partition(" ")[2]), "/api/v1")
        start.wait()
        try:
            numbers.append(held(desk.post("duty", {"amount": amount, "reason": "November"})))
        finally:
            connections.close_all()

    # Three different requests, each twice at once: each is asked for once.
    threads = [threading.Thread(target=ask, args=(amount,)) for amount in (1, 2, 3) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == [1, 1, 2, 2, 3, 3]
    assert list(Approval.objects.filter(house=kit.house).order_by("number").values_list("number", flat=True)) == [
        1,
        2,
        3,
    ]
    assert verification(kit.house)["ok"]


# --- Who may decide --------------------------------------------------------------------------------------------------


def test_nobody_decides_an_own_request(kit: Kit, cage: Desk) -> None:
    both = Desk(cage.http, "/api/v1")
    number = held(cage.post("buy-ins", buy(6_000)))
    login = Approval.objects.get(house=kit.house, number=number).requested_by.login
    role(kit, login, "cashier", "cage_supervisor")
    for decision in ("approve", "refuse"):
        body = {"reason": "by myself"} if decision == "refuse" else {}
        assert_problem(both.post(f"approvals/{number}/{decision}", body), 403, "four_eyes")


def role(kit: Kit, login: str, *roles: str) -> None:
    """Give a person these roles, as an administrator does."""
    version = Staff.objects.get(house=kit.house, login=login).version
    kit.office(Role.ADMIN).ok(f"staff/{login}/roles", {"roles": roles, "reason": "a test"}, version=version)


@pytest.mark.parametrize("way", ["hired the requester", "hired by the requester", "gave both a password"])
def test_nobody_decides_who_hired_or_may_know_the_password(kit: Kit, way: str) -> None:
    keeper, manager = kit.office(Role.CAGE_SUPERVISOR), kit.office(Role.MANAGER)
    number = held(keeper.post("duty", DUTY))
    asked = Approval.objects.get(house=kit.house, number=number).requested_by
    decider = Staff.objects.get(house=kit.house, roles=["manager"])
    giver = kit.hire(Role.ADMIN, TerminalKind.OFFICE, "")[0].staff
    match way:
        case "hired the requester":
            Staff.objects.filter(pk=asked.pk).update(hired_by=decider.login)
        case "hired by the requester":
            Staff.objects.filter(pk=decider.pk).update(hired_by=asked.login)
        case _:
            Staff.objects.filter(pk__in=(asked.pk, decider.pk)).update(password_givers=[giver.login])
    assert_problem(manager.post(f"approvals/{number}/approve"), 403, "four_eyes")
    assert_problem(manager.post(f"approvals/{number}/refuse", {"reason": "not I"}), 403, "four_eyes")


def test_a_person_is_hired_by_the_administrator_who_hires(kit: Kit) -> None:
    admin = kit.office(Role.ADMIN)
    body = {"login": "berta", "name": "Berta", "roles": ["manager"], "password": "seven-of-acorns-19"}
    admin.ok("staff", body)
    hired = Staff.objects.get(house=kit.house, login="berta")
    assert Staff.objects.filter(house=kit.house, login=hired.hired_by, roles=["admin"]).exists()
    assert verification(kit.house)["ok"]


def test_lists_show_what_concerns_a_person(kit: Kit, cage: Desk) -> None:
    small, large = held(cage.post("buy-ins", buy(6_000))), held(cage.post("buy-ins", buy(MANAGER_FROM)))
    duty = held(kit.office(Role.CAGE_SUPERVISOR).post("duty", DUTY))

    def numbers(desk: Desk, query: str = "") -> list[int]:
        return sorted(row["approval"] for row in desk.get(f"/api/v1/approvals{query}").json()["results"])

    assert numbers(cage) == [small, large]
    assert numbers(supervisor(kit)) == [small]
    assert numbers(kit.office(Role.COMPLIANCE)) == [large]
    assert numbers(kit.office(Role.MANAGER)) == numbers(kit.office(Role.AUDITOR)) == [small, large, duty]
    assert numbers(kit.cashier(another=True)) == []
    supervisor(kit).ok(f"approvals/{small}/approve")
    manager = kit.office(Role.MANAGER)
    assert numbers(manager, "?state=approved") == [small]
    assert numbers(manager, "?kind=duty") == [duty]
    assert numbers(manager, "?role=cage_supervisor") == [small]
    by = Approval.objects.get(house=kit.house, number=small)
    assert numbers(manager, f"?requested_by={by.requested_by.login}") == [small, large]
    assert by.decided_by is not None and numbers(manager, f"?decided_by={by.decided_by.login}") == [small]
    assert_problem(kit.cashier(another=True).get(f"/api/v1/approvals/{small}"), 404, "not_found")


# --- What the trail proves -------------------------------------------------------------------------------------------


@pytest.fixture
def decided(kit: Kit, cage: Desk) -> Kit:
    """A house with an approval in every state."""
    kit.approved(cage, "buy-ins", buy(6_000), by=Role.CAGE_SUPERVISOR)
    one, mine = supervisor(kit), Desk(cage.http, "/api/v1")
    refused, approved, withdrawn = (held(cage.post("buy-ins", buy(6_000 + number))) for number in (1, 2, 3))
    one.ok(f"approvals/{refused}/refuse", {"reason": "nobody knows this player"})
    one.ok(f"approvals/{approved}/approve")
    mine.ok(f"approvals/{withdrawn}/withdraw")
    held(cage.post("buy-ins", buy(6_004)))
    return kit


def test_an_export_by_itself_proves_approvals(decided: Kit, tmp_path: Path) -> None:
    states = Approval.objects.filter(house=decided.house).order_by("number").values_list("state", flat=True)
    assert list(states) == ["used", "refused", "approved", "withdrawn", "requested"]
    decided.sequence()
    exporting.export_house(decided.house, tmp_path / "export")
    report = verifier.verify_export(tmp_path / "export")
    assert [(one.code, one.place, one.problem) for one in report.findings] == []


@pytest.mark.parametrize(
    "change",
    [
        "state = 'approved' WHERE state = 'used'", "state = 'approved' WHERE state = 'refused'",
        "body = '{}' WHERE number = 1", "roles = '{auditor}' WHERE number = 1", "amount = 1 WHERE number = 1",
        "expires_at = expires_at + interval '1 second' WHERE number = 5",
    ],
)  # fmt: skip
def test_an_approval_that_is_altered_past_every_guard_is_found(decided: Kit, change: str) -> None:
    with unguarded("approvals_approval") as cursor:
        cursor.execute(f"UPDATE approvals_approval SET {change} AND house_id = %s", [decided.house.id])
        assert cursor.rowcount == 1
    found = list(auditing.verify_house(decided.house).findings)
    assert {finding.code for finding in found} == {"state_differs"}


# --- What PostgreSQL keeps -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "body = '{}'", "roles = '{manager}'", "request_hash = 'x'", "expires_at = expires_at + interval '1 hour'",
        "state = 'used'", "number = 7", "decided_by_id = requested_by_id",
    ],
)  # fmt: skip
def test_the_database_keeps_what_was_asked_for(kit: Kit, cage: Desk, change: str) -> None:
    number = held(cage.post("buy-ins", buy(6_000)))
    with pytest.raises(DatabaseError), transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute(f"UPDATE approvals_approval SET {change} WHERE house_id = %s", [kit.house.id])
    with pytest.raises(DatabaseError), transaction.atomic(), connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM approvals_approval WHERE house_id = %s", [kit.house.id])
    assert Approval.objects.get(house=kit.house, number=number).state == ApprovalState.REQUESTED
