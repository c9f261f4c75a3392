"""Approvals that a person of every role must give: a manager and compliance, for the largest trades."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connections, transaction

from casino.approvals import gate
from casino.approvals.control_points import set_at_founding
from casino.approvals.models import Approval, ApprovalState, Assent
from casino.audit import verifier
from casino.audit.models import Event
from casino.reports.verifying import verification
from casino.staff.models import Role, Staff, TerminalKind
from casino.verification import auditing, exporting
from tests.casino.approvals.test_approvals import UNLINKED
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded

FROM = 10_000
BUY = {"player": "anna", "amount": FROM}


@pytest.fixture
def cage(kit: Kit) -> Desk:
    """A cashier's terminal at an open drawer of a house with low control points."""
    points = {"exchange_by_supervisor_from": 5_000, "exchange_by_manager_from": FROM} | UNLINKED
    set_at_founding(house=kit.house, points=points, actor=ACTOR)
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, chips=50_000)
    return cashier


def held(answer: Any) -> int:
    """The number of the approval that a refused request waits for."""
    return int(assert_problem(answer, 409, "approval_required")["approval"]["approval"])


def using(number: int) -> dict[str, str]:
    return {"Approval": str(number)}


def test_a_manager_and_compliance_approve_the_largest_trades(kit: Kit, cage: Desk) -> None:
    last = last_event()
    asked = assert_problem(cage.post("buy-ins", BUY), 409, "approval_required")["approval"]
    assert (asked["roles"], asked["every_role"]) == (["manager", "compliance"], True)
    number, manager, officer = asked["approval"], kit.office(Role.MANAGER), kit.office(Role.COMPLIANCE)
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    refused = assert_problem(keeper.post(f"approvals/{number}/approve"), 403, "forbidden")
    assert refused["allowed_roles"] == ["manager", "compliance"]
    half = officer.ok(f"approvals/{number}/approve")
    assert (half["state"], half["decided_by"], half["waits_for"]) == ("requested", None, ["manager"])
    [first] = half["assents"]
    assert (first["role"], first["given_by"][:10]) == ("compliance", "compliance")
    assert_problem(cage.post("buy-ins", BUY, headers=using(number)), 409, "approval_requested")
    assert kit.balance("2010/anna") == 0
    assert held(cage.post("buy-ins", BUY)) == number, "the same request finds what is half approved"
    whole = manager.ok(f"approvals/{number}/approve")
    assert (whole["state"], whole["waits_for"]) == ("approved", [])
    assert [one["role"] for one in whole["assents"]] == ["compliance", "manager"]
    done = cage.ok("buy-ins", BUY, headers=using(number))
    assert done["last_event"]["also_approved"] == [first["given_by"]]
    event = Event.objects.filter(chain__house=kit.house, chain__name="drawer/C1").latest("id").doc
    assert (event["approver"], event["data"]["also_approved"]) == (whole["decided_by"], [first["given_by"]])
    assert kit.balance("2010/anna") == FROM
    approved = [one["data"] for one in recorded_since(last) if one["kind"] == "approval.approved"]
    assert approved == [{"approval": number, "waits_for": ["manager"]}, {"approval": number}]
    assert_problem(cage.post("buy-ins", BUY, headers=using(number)), 409, "approval_used")
    assert kit.approved(cage, "cash-outs", BUY)["last_event"]["approval"] == number + 1
    assert verification(kit.house)["ok"]


def test_below_it_one_supervisor_approves_and_the_event_names_one(kit: Kit, cage: Desk) -> None:
    done = kit.approved(cage, "buy-ins", BUY | {"amount": FROM - 1}, by=Role.CAGE_SUPERVISOR)
    assert "also_approved" not in done["last_event"]
    found = kit.office(Role.AUDITOR).get(f"approvals/{done['last_event']['approval']}").json()
    assert (found["every_role"], found["assents"], found["waits_for"]) == (False, [], [])
    events = Event.objects.filter(chain__house=kit.house, chain__name=kit.house.chain).order_by("id")
    docs = [one.doc for one in events]
    assert [(one["kind"], sorted(one["data"])) for one in docs if one["kind"].startswith("approval.")] == [
        ("approval.requested",
         ["amount", "approval", "body", "expires", "kind", "operation", "path", "request_hash", "roles"]),
        ("approval.approved", ["approval"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("bearer-buy-ins", {"amount": FROM}),
        ("noncash-buy-ins", BUY | {"means": "card", "reference": "T-1"}),
    ],
)
def test_other_trades_of_the_cage_take_the_same_two(kit: Kit, cage: Desk, path: str, body: dict[str, Any]) -> None:
    asked = assert_problem(cage.post(path, body), 409, "approval_required")["approval"]
    assert (asked["roles"], asked["every_role"]) == (["manager", "compliance"], True)
    done = kit.approved(cage, path, body)
    assert len(done["last_event"]["also_approved"]) == 1
    assert verification(kit.house)["ok"]


def test_one_person_approves_once_and_one_role_once(kit: Kit, cage: Desk) -> None:
    number, manager = held(cage.post("buy-ins", BUY)), kit.office(Role.MANAGER)
    login = manager.ok(f"approvals/{number}/approve")["assents"][0]["given_by"]
    Staff.objects.filter(house=kit.house, login=login).update(roles=["manager", "compliance"])
    assert_problem(manager.post(f"approvals/{number}/approve"), 403, "four_eyes")
    other = assert_problem(kit.office(Role.MANAGER).post(f"approvals/{number}/approve"), 403, "forbidden")
    assert other["allowed_roles"] == ["compliance"]
    assert Assent.objects.filter(approval__house=kit.house).count() == 1
    kit.office(Role.COMPLIANCE).ok(f"approvals/{number}/approve")
    assert_problem(manager.post(f"approvals/{number}/approve"), 409, "approval_approved")


@pytest.mark.parametrize("way", ["hired the other", "hired by the other", "gave both a password"])
@pytest.mark.parametrize("who", ["the requester", "who approved before"])
def test_approvers_depend_on_nobody_before(kit: Kit, cage: Desk, way: str, who: str) -> None:
    number, manager, officer = held(cage.post("buy-ins", BUY)), kit.office(Role.MANAGER), kit.office(Role.COMPLIANCE)
    manager.ok(f"approvals/{number}/approve")
    found = Approval.objects.get(house=kit.house, number=number)
    before = found.requested_by if who == "the requester" else found.assents.get().given_by
    second = Staff.objects.get(house=kit.house, roles=["compliance"])
    giver = kit.hire(Role.ADMIN, TerminalKind.OFFICE, "")[0].staff
    match way:
        case "hired the other":
            Staff.objects.filter(pk=before.pk).update(hired_by=second.login)
        case "hired by the other":
            Staff.objects.filter(pk=second.pk).update(hired_by=before.login)
        case _:
            Staff.objects.filter(pk__in=(before.pk, second.pk)).update(password_givers=[giver.login])
    assert_problem(officer.post(f"approvals/{number}/approve"), 403, "four_eyes")
    assert found.assents.count() == 1
    kit.office(Role.COMPLIANCE).ok(f"approvals/{number}/approve")


@pytest.mark.parametrize("who", ["compliance", "another manager", "the same manager"])
def test_one_no_refuses_it(kit: Kit, cage: Desk, who: str) -> None:
    number, manager = held(cage.post("buy-ins", BUY)), kit.office(Role.MANAGER)
    manager.ok(f"approvals/{number}/approve")
    other = {"compliance": Role.COMPLIANCE, "another manager": Role.MANAGER}
    desk = kit.office(other[who]) if who in other else manager
    refused = desk.ok(f"approvals/{number}/refuse", {"reason": "the money smells"})
    assert (refused["state"], refused["reason"], len(refused["assents"])) == ("refused", "the money smells", 1)
    assert_problem(kit.office(Role.COMPLIANCE).post(f"approvals/{number}/approve"), 409, "approval_refused")
    assert_problem(cage.post("buy-ins", BUY, headers=using(number)), 409, "approval_refused")
    assert verification(kit.house)["ok"]


def test_what_is_half_approved_runs_out_and_is_withdrawn(kit: Kit, cage: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    number, manager, officer = held(cage.post("buy-ins", BUY)), kit.office(Role.MANAGER), kit.office(Role.COMPLIANCE)
    manager.ok(f"approvals/{number}/approve")
    assert Desk(cage.http, "/api/v1").ok(f"approvals/{number}/withdraw")["state"] == "withdrawn"
    assert_problem(officer.post(f"approvals/{number}/approve"), 409, "approval_withdrawn")
    set_at_founding(house=kit.house, points={"approval_minutes_at_drawers": 1}, actor=ACTOR)
    monkeypatch.setattr(gate, "lasts", lambda request: timedelta(seconds=1.5))
    late = held(cage.post("buy-ins", BUY))
    manager.ok(f"approvals/{late}/approve")
    time.sleep(1.6)
    assert_problem(officer.post(f"approvals/{late}/approve"), 409, "approval_expired")
    found = officer.get(f"approvals/{late}").json()
    assert (found["state"], found["waits_for"]) == ("expired", [])
    assert verification(kit.house)["ok"]


def at_the_same_time(calls: list[Callable[[], Any]]) -> list[Any]:
    """What these return, each in a thread of its own."""
    start, answers = threading.Barrier(len(calls)), []

    def run(call: Callable[[], Any]) -> None:
        start.wait()
        try:
            answers.append(call())
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(one,)) for one in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def approving(desk: Desk, number: int) -> int:
    """The status of an approval at a desk."""
    return desk.post(f"approvals/{number}/approve").status_code


def test_deciders_at_the_same_time(kit: Kit, cage: Desk) -> None:
    for number in (held(cage.post("buy-ins", BUY | {"amount": FROM + extra})) for extra in range(3)):
        desks = [kit.office(role) for role in (Role.MANAGER, Role.COMPLIANCE) * 3]
        answers = sorted(at_the_same_time([partial(approving, desk, number) for desk in desks]))
        assert answers[:2] == [200, 200] and set(answers[2:]) <= {403, 409}
        found = Approval.objects.get(house=kit.house, number=number)
        assert found.state == ApprovalState.APPROVED
        assert sorted(found.assents.values_list("role", flat=True)) == ["compliance", "manager"]
    assert verification(kit.house)["ok"]


def test_a_control_point_that_changes_meanwhile(kit: Kit, cage: Desk) -> None:
    """What a manager and compliance have approved may be used where a supervisor or a manager would do, and what one
    manager has approved not where both must."""
    number = held(cage.post("buy-ins", BUY))
    for role in (Role.MANAGER, Role.COMPLIANCE):
        kit.office(role).ok(f"approvals/{number}/approve")
    set_at_founding(house=kit.house, points={"exchange_by_manager_from": 2 * FROM}, actor=ACTOR)
    cage.ok("buy-ins", BUY, headers=using(number))
    smaller = held(cage.post("buy-ins", BUY))
    kit.office(Role.MANAGER).ok(f"approvals/{smaller}/approve")
    set_at_founding(house=kit.house, points={"exchange_by_manager_from": FROM}, actor=ACTOR)
    refused = assert_problem(cage.post("buy-ins", BUY, headers=using(smaller)), 409, "approval_differs")
    assert refused["differs"] == ["roles"]
    assert verification(kit.house)["ok"]


# --- What the trail proves, and PostgreSQL keeps ----------------------------------------------------------------------


@pytest.fixture
def approved(kit: Kit, cage: Desk) -> Kit:
    """A house in which two people have approved a trade, and one of two another."""
    kit.approved(cage, "buy-ins", BUY)
    kit.office(Role.MANAGER).ok(f"approvals/{held(cage.post('buy-ins', BUY))}/approve")
    return kit


def test_an_export_by_itself_proves_them(approved: Kit, tmp_path: Path) -> None:
    approved.sequence()
    exporting.export_house(approved.house, tmp_path / "export")
    report = verifier.verify_export(tmp_path / "export")
    assert [(one.code, one.place, one.problem) for one in report.findings] == []


@pytest.mark.parametrize(
    "change",
    ["UPDATE {} SET role = 'compliance' WHERE role = 'manager' AND approval_id = {last}",
     "DELETE FROM {} WHERE approval_id = {last}"],
)  # fmt: skip
def test_an_assent_that_is_altered_past_every_guard_is_found(approved: Kit, change: str) -> None:
    last = Approval.objects.filter(house=approved.house).latest("number").pk
    with unguarded("approvals_assent") as cursor:
        cursor.execute(change.format("approvals_assent", last=last))
        assert cursor.rowcount == 1
    found = {finding.code for finding in auditing.verify_house(approved.house).findings}
    assert "state_missing" in found and found <= {"state_missing", "state_extra"}, found


def test_postgresql_keeps_them(approved: Kit) -> None:
    last = Approval.objects.filter(house=approved.house).latest("number")
    first = Approval.objects.filter(house=approved.house).earliest("number")
    person, terminal = last.assents.get().given_by, last.terminal
    officer = Staff.objects.get(house=approved.house, roles=["compliance"])
    columns = {"house": approved.house, "terminal": terminal}
    wrong: list[Callable[[], object]] = [
        lambda: Approval.objects.filter(pk=last.pk).update(
            state="approved", decided_by=person, decided_at=last.requested_at, decided_terminal=terminal
        ),
        lambda: Assent.objects.create(approval=last, role="manager", given_by=officer, **columns),
        lambda: Assent.objects.create(approval=last, role="compliance", given_by=person, **columns),
        lambda: Assent.objects.create(approval=last, role="auditor", given_by=officer, **columns),
        lambda: Assent.objects.create(approval=last, role="compliance", given_by=last.requested_by, **columns),
        lambda: Assent.objects.create(approval=first, role="compliance", given_by=officer, **columns),
        lambda: Assent.objects.filter(approval=last).update(role="compliance"),
        lambda: Approval.objects.filter(pk=last.pk).update(every_role=False),
    ]
    for attempt in wrong:
        with pytest.raises(DatabaseError), transaction.atomic():
            attempt()
    Assent.objects.create(approval=last, role="compliance", given_by=officer, **columns)
