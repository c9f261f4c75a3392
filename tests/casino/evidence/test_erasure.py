"""A player is forgotten over HTTP: asked for, approved, refused as long as something keeps the data, and proved."""

from typing import Any

import pytest

from casino.evidence import forgetting
from casino.players.models import PersonKey
from casino.safeguards.models import ExclusionMark
from casino.staff.models import AnsweredRequest, Role, TerminalKind
from tests.casino.evidence.test_complaints import findings, held
from tests.casino.evidence.test_retention import ran, years_ago
from tests.casino.kit import Desk, Kit
from tests.casino.players.test_persons import ANNA, forget, recorded, signers
from tests.casino.safeguards.test_exclusions import from_now
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded

__all__ = ["signers"]
ASKED = {"reason": "asked_by_player"}
BAN = {"kind": "house", "scope": "house", "asked_by": "house", "in_person": False}
AT_OWN_WISH = {"kind": "self", "scope": "house", "asked_by": "player", "in_person": True}


@pytest.fixture
def anna(kit: Kit, settings: Any) -> Kit:
    """anna is recorded and gone; nothing keeps who she is."""
    kit.keep_nobody(settings)
    kit.players("anna", "bela")
    kit.players("carl", chips=1_000)  # which opens the drawer
    recorded(Desk(kit.cashier().http, "/api/v1/players/anna/person", version=1))
    return kit


def officer(kit: Kit) -> Desk:
    """The compliance officer, who has read version 2 of the person."""
    return Desk(kit.office(Role.COMPLIANCE).http, "/api/v1/players/anna", version=2)


def erased(kit: Kit) -> dict[str, Any]:
    """Asked for by compliance, approved by an auditor."""
    return kit.approved(officer(kit), "forget", ASKED, by=Role.AUDITOR)


def excluded(kit: Kit, **terms: Any) -> None:
    kit.office(Role.COMPLIANCE).ok("players/anna/exclusions", BAN | terms)


def test_compliance_asks_an_auditor_approves_and_the_trail_proves_it(anna: Kit) -> None:
    kit, last = anna, last_event()
    desk = officer(kit)
    assert AnsweredRequest.objects.filter(house=kit.house, answer__contains='"player":"anna"').count() == 1
    answer = erased(kit)
    assert (answer["player"], answer["record_count"]) == ("anna", 1)
    (forgotten,) = recorded_since(last, "player.forgotten")
    (proof,) = recorded_since(last, "player.erased")
    assert (forgotten["role"], forgotten["reason"]) == ("compliance", "asked_by_player")
    assert forgotten["approver"] == proof["approver"] and forgotten["approver"].startswith("auditor")
    assert proof["data"] == {
        "player": "anna", "records": [forgotten["data"]["sealed_sha256"]], "answer_count": 1, "left": [],
        "approval": 1,
    }  # fmt: skip
    assert not PersonKey.objects.filter(player__house=kit.house).exists()
    assert_problem(desk.get("person"), 410, "person_forgotten")
    assert_problem(desk.post("forget", ASKED), 410, "person_forgotten")
    assert findings(kit.house) == set()


def test_who_may_and_who_may_not(anna: Kit) -> None:
    kit = anna
    for role in (Role.ADMIN, Role.AUDITOR, Role.MANAGER, Role.CAGE_SUPERVISOR, Role.FLOOR):
        assert_problem(kit.office(role).post("players/anna/forget", ASKED, version=2), 403, "forbidden")
    at_cage = kit.hire(Role.COMPLIANCE, TerminalKind.CAGE, "C1")[1]
    refused = Desk(kit.http(at_cage), "/api/v1/players/anna").post("forget", ASKED, version=2)
    assert_problem(refused, 403, "wrong_terminal")
    desk = officer(kit)
    assert_problem(desk.post("forget", ASKED, version=1), 412, "version_conflict")
    assert_problem(desk.post("forget", {"reason": "Anna Kovács has asked"}), 400, "invalid_request")
    held_back = assert_problem(desk.post("forget", ASKED), 409, "approval_required")
    assert held_back["approval"]["roles"] == ["auditor"]
    assert_problem(kit.office(Role.MANAGER).post("approvals/1/approve"), 403, "forbidden")
    assert_problem(Desk(desk.http, "/api/v1/players/bela").post("forget", ASKED, version=1), 404, "no_person")
    assert PersonKey.objects.filter(player__house=kit.house).count() == 1


def test_what_keeps_a_player_says_until_when(anna: Kit, settings: Any) -> None:
    kit, desk = anna, officer(anna)
    settings.CASINO_RETENTION_DAYS = 2922
    kept = assert_problem(desk.post("forget", ASKED), 409, "retention_not_over")
    assert kept["until"] > from_now(2900) and kept["last_activity"] < kept["until"]
    settings.CASINO_RETENTION_DAYS = 0
    cashier = kit.cashier()
    cashier.ok("buy-ins", {"player": "anna", "amount": 500})
    assert assert_problem(desk.post("forget", ASKED), 409, "player_has_chips")["accounts"] == {"2010/anna": 500}
    cashier.ok("cash-outs", {"player": "anna", "amount": 500})
    held(kit, {"scope": "player", "player": "anna", "reason": "letter of the court"})
    assert assert_problem(desk.post("forget", ASKED), 409, "legal_hold")["holds"] == [1]
    lifting = {"reason": "the court is done"}
    kit.approved(Desk(desk.http, "/api/v1", version=1), "legal-holds/1/lift", lifting)
    until = from_now(400)
    excluded(kit, until=from_now(30))
    excluded(kit, until=until)
    bound = assert_problem(desk.post("forget", ASKED), 409, "exclusion_in_force")
    assert (bound["exclusion"], bound["until"][:16]) == (2, until[:16])
    for number in (1, 2):
        kit.approved(kit.office(Role.COMPLIANCE), f"exclusions/{number}/lift", {"cause": "wrong_entry"})
    # One at her own wish keeps her file for its term, six months, also without an end.
    excluded(kit, **AT_OWN_WISH, until=None)
    bound = assert_problem(desk.post("forget", ASKED), 409, "exclusion_in_force")
    assert from_now(180) < bound["until"] < from_now(186)
    assert PersonKey.objects.filter(player__house=kit.house).exists()


def test_the_house_keeps_longer_where_it_has_said_so(kit: Kit, settings: Any) -> None:
    """The operator's days alone are not enough: the house has set more."""
    settings.CASINO_RETENTION_DAYS = 0
    kit.players("anna")
    recorded(Desk(kit.cashier().http, "/api/v1/players/anna/person", version=1))
    assert_problem(officer(kit).post("forget", ASKED), 409, "retention_not_over")


def test_an_exclusion_without_an_end_survives_and_finds_the_guest_again(anna: Kit) -> None:
    kit, last = anna, last_event()
    excluded(kit, until=None, note="Threw a chair.")
    erased(kit)
    (kept,) = recorded_since(last, "exclusion.marked")
    marks = ExclusionMark.objects.filter(house=kit.house)
    assert (kept["data"]["player"], len(kept["data"]["marks"])) == ("anna", marks.count()) == ("anna", 2)
    cashier = kit.cashier()
    back = {"person": ANNA | {"document": "other papers", "name": "Anna KOVACS ORY"}, "reason": "first_record"}
    cashier.ok("/api/v1/players/bela/person", back, version=1)
    cashier.refresh()
    assert_problem(cashier.post("buy-ins", {"player": "bela", "amount": 500}), 409, "player_excluded")
    # Somebody else is not taken for her.
    cashier.ok(
        "/api/v1/players/carl/person",
        {"person": {"name": "Carl", "born": "1970-01-01", "document": "C"}, "reason": "first_record"},
        version=1,
    )
    cashier.refresh()
    cashier.ok("buy-ins", {"player": "carl", "amount": 500})
    assert findings(kit.house) == set()


def test_the_command_keeps_to_the_same(anna: Kit, signers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    excluded(anna, until=None)
    last = last_event()
    assert "anna is forgotten" in forget(anna, signers, monkeypatch)
    kinds = [event["kind"] for event in recorded_since(last)]
    assert kinds == ["exclusion.marked", "player.forgotten", "player.erased"]
    assert findings(anna.house) == set()


def test_retention_keeps_the_marks_and_waits_for_an_exclusion_with_an_end(anna: Kit) -> None:
    kit = anna
    excluded(kit, until=from_now(30))
    years_ago(kit, 1)
    assert ran(kit, "--dry-run") == []
    kit.approved(kit.office(Role.COMPLIANCE), "exclusions/1/lift", {"cause": "wrong_entry"})
    excluded(kit, until=None)
    last = last_event()
    [said] = ran(kit)
    assert said["deleted"].keys() == {"person_key"}
    assert len(recorded_since(last, "exclusion.marked")) == 1
    assert ExclusionMark.objects.filter(house=kit.house, exclusion__number=2).count() == 2


def test_what_is_still_there_afterwards_fails_it_whole(anna: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("casino.players.persons.destroy_key", lambda player: None)
    desk, last = officer(anna), last_event()
    headers = anna.approval(desk, "forget", ASKED, by=Role.AUDITOR)
    assert desk.post("forget", ASKED, headers=headers).status_code == 500
    assert recorded_since(last, "player.forgotten", "player.erased") == []
    assert forgetting.StillThereError.__mro__[1] is AssertionError


def test_the_verifier_finds_a_key_that_comes_back(anna: Kit) -> None:
    [key] = PersonKey.objects.filter(player__house=anna.house)
    erased(anna)
    with unguarded("players_personkey"):
        PersonKey.objects.using("owner").create(house=anna.house, player_id=key.pk, wrapped=key.wrapped)
    assert {code for code, _ in findings(anna.house)} == {"state_extra"}
