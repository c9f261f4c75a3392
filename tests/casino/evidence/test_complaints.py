"""Complaints: a number, frozen evidence, an answer that is due, an end; and the legal hold that keeps it all."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError

from casino.audit.models import Event
from casino.core.sql import database_time
from casino.evidence.models import Complaint, ComplaintText, LegalHold
from casino.houses.models import House
from casino.reports import alarms
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.kit import Desk, Kit
from tests.casino.players.test_persons import forget, recorded, signers
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded
from tests.casino.written import assert_nowhere

__all__ = ["signers"]
TEXT = "Anna Kiss says that the pot was pushed to the wrong seat."


def findings(house: House) -> set[tuple[str, str]]:
    """What the verifier finds."""
    return {(one["code"], one["place"]) for one in verification(house)["audit_findings"]}


@pytest.fixture
def played(kit: Kit) -> Kit:
    """The worked hand, settled."""
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    return kit


def opened(kit: Kit, **more: Any) -> dict[str, Any]:
    """A complaint of T1-u2 about the worked hand."""
    body = {
        "kind": "hand", "player": "T1-u2", "text": TEXT,
        "hands": [{"hand": "T1-000001", "video": "camera 3, 20:15 to 20:20"}],
    }  # fmt: skip
    found: dict[str, Any] = kit.office(Role.COMPLIANCE).ok("complaints", body | more)["complaint"]
    return found


def test_an_answer_that_is_due_within_a_week_is_an_alarm_until_it_is_given(played: Kit) -> None:
    def names(**later: int) -> list[str]:
        moment = database_time() + timedelta(**later)
        return [one.name for one in alarms.alarms(played.house, moment) if one.kind == "complaint_due"]

    opened(played)
    assert (names(), names(days=48), names(days=50), names(days=400)) == ([], [], ["complaint 1"], ["complaint 1"])
    [alarm] = [one for one in alarms.alarms(played.house, database_time() + timedelta(days=50)) if one.name[0] == "c"]
    assert alarm.since == Complaint.objects.get(house=played.house).due_at - timedelta(days=7)
    compliance = played.office(Role.COMPLIANCE)
    compliance.ok("complaints/1/escalate", {"adr": "The conciliation body", "text": "It went there."}, version=1)
    assert names(days=60) == ["complaint 1"]
    opened(played)
    compliance.ok("complaints/2/answer", {"text": "It was right."}, version=1)
    compliance.ok("complaints/1/close", {"outcome": "settled", "text": "Settled."}, version=2)
    assert names(days=60) == []


def test_a_complaint_is_opened_answered_escalated_and_closed(played: Kit) -> None:
    kit, last = played, last_event()
    bought = Event.objects.get(house=kit.house, doc__kind="cage.buy_in", doc__data__player="T1-u2")
    found = opened(kit, entries=[{"drawer": "C1", "seq": bought.seq}], received_at="2026-11-01T10:00:00Z")
    assert (found["number"], found["state"], found["version"]) == (1, "open", 1)
    assert (found["received_at"], found["due_at"]) == ("2026-11-01T10:00:00.000000Z", "2026-12-27T10:00:00.000000Z")
    (event,) = recorded_since(last, "complaint.opened")
    hand, entry = event["data"]["evidence"]
    [record] = {
        one.doc["data"]["record_hash"]
        for one in Event.objects.filter(house=kit.house, doc__data__has_key="record_hash")
    }
    newest = Event.objects.filter(house=kit.house, chain__name="table/T1", doc__data__hand="T1-000001").latest("seq")
    assert (hand["record_sha256"], hand["last_seq"], hand["leaf_hash"]) == (record, newest.seq, newest.leaf_hash)
    assert (entry["leaf_hash"], entry["kind"], entry["player"]) == (bought.leaf_hash, "cage.buy_in", "T1-u2")
    # What was written is nowhere in the clear, and its hash is in the event.
    assert_nowhere(kit.house, TEXT)
    [text] = ComplaintText.objects.filter(house=kit.house)
    assert hashlib.sha256(bytes(text.sealed)).hexdigest() == event["data"]["text_sha256"]
    manager, floor = kit.office(Role.MANAGER), kit.office(Role.FLOOR)
    assert_problem(floor.post("complaints/1/answer", {"text": "No."}, version=1), 403, "forbidden")
    refused = manager.post("complaints/1/close", {"outcome": "rejected", "text": "No."}, version=1)
    assert_problem(refused, 409, "complaint_not_answered")
    answered = manager.ok("complaints/1/answer", {"text": "The replay shows the right seat."}, version=1)["complaint"]
    assert (answered["state"], answered["version"]) == ("answered", 2)
    assert_problem(manager.post("complaints/1/answer", {"text": "No."}, version=1), 412, "version_conflict")
    assert_problem(manager.post("complaints/1/answer", {"text": "No."}, version=2), 409, "complaint_state")
    floor.ok("complaints/1/escalate", {"adr": "IBAS", "text": "They ask IBAS."}, version=2)
    closed = manager.ok("complaints/1/close", {"outcome": "rejected", "text": "IBAS agrees."}, version=3)["complaint"]
    assert (closed["state"], closed["outcome"], closed["adr"], closed["version"]) == ("closed", "rejected", "IBAS", 4)
    read = kit.office().get("complaints/1").json()
    assert [one["text"] for one in read["texts"]][:2] == [TEXT, "The replay shows the right seat."]
    assert_problem(kit.office().get("complaints/2"), 404, "not_found")
    assert_problem(kit.office(Role.ADMIN).get("complaints/1"), 403, "forbidden")
    assert [row["number"] for row in kit.office().get("complaints?state=closed").json()["results"]] == [1]
    assert findings(kit.house) == set()


def test_complaints_have_numbers_without_gaps_and_name_what_is_there(played: Kit) -> None:
    kit = played
    assert opened(kit)["number"] == 1
    desk = kit.office(Role.FLOOR)
    for wrong in (
        {"hands": [{"hand": "T1-000009"}]}, {"entries": [{"drawer": "C1", "seq": 999}]}, {"player": "nobody"},
        {"entries": [{"drawer": "C9", "seq": 1}]},
    ):  # fmt: skip
        body = {"kind": "other", "text": "What is not there."} | wrong
        assert_problem(desk.post("complaints", body), 404, "not_found")
    late = {"kind": "other", "text": "From the future.", "received_at": "2099-01-01T00:00:00Z"}
    assert_problem(desk.post("complaints", late), 422, "complaint_time")
    # A table's console stands among players.
    assert_problem(kit.dealer(role=Role.FLOOR).post("/api/v1/complaints", late), 403, "wrong_terminal")
    assert desk.ok("complaints", {"kind": "staff", "text": "A guest at the door."})["complaint"]["number"] == 2


def test_the_report_has_disputes_and_complaints(played: Kit) -> None:
    kit = played
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    opened(kit)
    opened(kit, player="T1-u3", kind="cards", hands=[])
    kit.office(Role.MANAGER).ok("complaints/2/close", {"outcome": "withdrawn", "text": "It was an error."}, version=1)
    report = made(kit, "disputes")
    first, second = rows(report, 1)
    assert (first["number"], first["player"], first["evidence"], first["state"]) == (1, "T1-u2", "T1-000001", "open")
    assert (first["late"], first["legal_hold"], first["video"]) == (0, 1, "camera 3, 20:15 to 20:20")
    assert (second["outcome"], second["legal_hold"]) == ("withdrawn", 2)
    assert [row["number"] for row in rows(made(kit, "disputes", player="T1-u3"), 1)] == [2]
    assert all(one["holds"] for one in report["equalities"])
    with unguarded("evidence_complaint", "evidence_legalhold", "evidence_complainttext") as cursor:
        cursor.execute(
            "DELETE FROM evidence_complainttext WHERE house_id = %s AND complaint_id ="
            " (SELECT id FROM evidence_complaint WHERE house_id = %s AND number = 2)", [kit.house.id, kit.house.id],
        )  # fmt: skip
        cursor.execute("DELETE FROM evidence_legalhold WHERE house_id = %s AND number = 2", [kit.house.id])
        cursor.execute("DELETE FROM evidence_complaint WHERE house_id = %s AND number = 2", [kit.house.id])
    assert broken(kit, "disputes") == ["complaints of the events = rows"]
    assert ("state_missing", "evidence.Complaint 2") in findings(kit.house)


def test_the_verifier_finds_other_evidence(played: Kit) -> None:
    kit = played
    opened(kit)
    [row] = Complaint.objects.filter(house=kit.house)
    with unguarded("evidence_complaint") as cursor:
        cursor.execute("UPDATE evidence_complaint SET evidence = '[]' WHERE id = %s", [row.pk])
    assert findings(kit.house) == {("state_differs", "evidence.Complaint 1, evidence")}


# --- Legal holds ------------------------------------------------------------------------------------------------------


@pytest.fixture
def cage(kit: Kit) -> Desk:
    """A house where it is recorded who anna is."""
    kit.players("anna", "bela")
    desk = kit.cashier()
    desk = Desk(desk.http, "/api/v1/players/anna/person", version=1)
    recorded(desk)
    return desk


def held(kit: Kit, body: dict[str, Any]) -> int:
    """A hold that a manager has approved; its number."""
    number: int = kit.approved(kit.office(Role.COMPLIANCE), "legal-holds", body, by=Role.MANAGER)["hold"]["number"]
    return number


def test_two_persons_set_and_lift_a_hold_that_keeps_a_person(
    kit: Kit, cage: Desk, signers: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.keep_nobody(settings)
    compliance = kit.office(Role.COMPLIANCE)
    ask = {"scope": "player", "player": "anna", "reason": "letter of the court"}
    assert_problem(kit.office(Role.MANAGER).post("legal-holds", ask), 403, "forbidden")
    assert_problem(compliance.post("legal-holds", ask), 409, "approval_required")
    assert not LegalHold.objects.filter(house=kit.house).exists()
    # Another person of compliance is not enough.
    assert_problem(kit.office(Role.COMPLIANCE).post("approvals/1/approve"), 403, "forbidden")
    kit.office(Role.MANAGER).ok("approvals/1/approve")
    hold = compliance.ok("legal-holds", ask, headers={"Approval": "1"})["hold"]
    assert (hold["number"], hold["scope"], hold["player"]) == (1, "player", "anna")
    with pytest.raises(CommandError, match="legal_hold"):
        forget(kit, signers, monkeypatch)
    lifting = {"reason": "the court is done"}
    assert_problem(compliance.post("legal-holds/1/lift", lifting, version=1), 409, "approval_required")
    kit.office(Role.MANAGER).ok("approvals/2/approve")
    lifted = compliance.ok("legal-holds/1/lift", lifting, version=1, headers={"Approval": "2"})["hold"]
    assert (lifted["version"], lifted["lifted_reason"]) == (2, "the court is done")
    assert_problem(compliance.post("legal-holds/1/lift", lifting, version=2), 409, "hold_lifted")
    assert [row["number"] for row in kit.office().get("legal-holds").json()["results"]] == [1]
    assert "anna is forgotten" in forget(kit, signers, monkeypatch)
    assert findings(kit.house) == set()


@pytest.mark.parametrize("scope", ["house", "days", "hand", "complaint"])
def test_every_scope_keeps_the_persons_it_covers(
    kit: Kit, signers: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    kit.keep_nobody(settings)
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    desk = Desk(kit.cashier().http, "/api/v1/players/T1-u2/person", version=1)
    recorded(desk, "T1-u2")
    dealer = kit.dealer()
    dealer.ok("seats/2/leave")
    kit.cashier().ok("cash-outs", {"player": "T1-u2", "amount": kit.balance("2010/T1-u2")})
    body = {"reason": "the authority asks"}
    if scope == "complaint":
        opened(kit, player="T1-u3")
    else:
        named = {"days": {"first_day": "2024-05-01", "last_day": "2024-05-01"}, "hand": {"hand": "T1-000001"}}
        held(kit, body | {"scope": scope} | named.get(scope, {}))
    with pytest.raises(CommandError, match="legal_hold"):
        forget(kit, signers, monkeypatch, "T1-u2")
    if scope == "complaint":
        refused = kit.office(Role.COMPLIANCE).post("legal-holds/1/lift", body, version=1)
        assert_problem(refused, 409, "hold_of_complaint")
        closing = {"outcome": "settled", "text": "Both sides agree."}
        kit.office(Role.MANAGER).ok("complaints/1/close", closing, version=1)
        assert "T1-u2 is forgotten" in forget(kit, signers, monkeypatch, "T1-u2")
        assert findings(kit.house) == set()


def test_a_hold_names_what_its_scope_takes(kit: Kit, cage: Desk) -> None:
    compliance = kit.office(Role.COMPLIANCE)
    for wrong in (
        {"scope": "player"},
        {"scope": "house", "player": "anna"},
        {"scope": "days", "first_day": "2024-05-01"},
    ):
        assert_problem(compliance.post("legal-holds", wrong | {"reason": "what for"}), 422, "hold_scope")
    unknown = {"scope": "player", "player": "nobody", "reason": "what for"}
    assert_problem(compliance.post("legal-holds", unknown), 404, "not_found")


def test_the_verifier_finds_who_was_forgotten_under_a_hold(
    kit: Kit, cage: Desk, signers: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.keep_nobody(settings)
    held(kit, {"scope": "player", "player": "anna", "reason": "letter of the court"})
    monkeypatch.setattr("casino.evidence.holds.require_none", lambda *_: None)
    forget(kit, signers, monkeypatch)
    assert {code for code, _ in findings(kit.house)} == {"held_was_deleted"}
