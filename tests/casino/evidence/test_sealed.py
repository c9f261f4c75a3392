"""The sealed register: only compliance learns that there is a case, and of whom."""

import io
import json
import re
from typing import Any

import pytest
from django.core.management import call_command

from casino.approvals import identity
from casino.audit.models import Event
from casino.evidence.models import SealedEntry
from casino.staff.models import AnsweredRequest, Role
from tests.casino.evidence.test_complaints import findings
from tests.casino.kit import ACTOR, IDENTITY, Desk, Kit
from tests.casino.papers import words
from tests.casino.players.test_persons import recorded
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded
from tests.casino.written import assert_nowhere

FACTS = "Bought in for cash three times below the limit, played two hands, cashed out."
CASE = {"what": "case", "player": "T1-u2", "text": FACTS}


@pytest.fixture
def house(kit: Kit) -> Kit:
    """The worked hand, and T1-u2 of whom it is recorded who it is."""
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    recorded(Desk(kit.cashier().http, "/api/v1/players/T1-u2/person", version=1), "T1-u2")
    return kit


@pytest.fixture
def officer(house: Kit) -> Desk:
    """The compliance officer in the office."""
    return house.office(Role.COMPLIANCE)


def test_a_case_is_opened_followed_up_filed_and_closed(house: Kit, officer: Desk) -> None:
    kit = house
    evidence = {"hands": [{"hand": "T1-000001", "video": "camera 3"}], "entries": [{"drawer": "C1", "seq": 1}]}
    case = officer.ok("sealed", CASE | evidence)["entry"]
    assert case == 1
    note = officer.ok("sealed", {"what": "note", "text": "Training of the cage on Monday."})["entry"]
    for step in (
        {"step": "decision", "text": "To be reported."},
        {"step": "filed", "text": "Sent to the unit.", "filed_id": "FIU-77", "filed_day": "2026-11-20"},
        {"step": "suspension", "text": "Nothing is paid.", "filed_day": "2026-11-24"},
        {"step": "closed", "text": "Nothing more."},
    ):
        officer.ok("sealed", {"what": "step", "case": case} | step)
    late = {"what": "step", "case": case, "step": "facts", "text": "One more."}
    assert_problem(officer.post("sealed", late), 422, "sealed_refused")
    found = officer.get(f"sealed/{case}").json()
    assert (found["player"], found["is_open"], found["filed_id"], found["suspended_until"]) == (
        "T1-u2", False, "FIU-77", "2026-11-24",
    )  # fmt: skip
    assert found["person"]["name"] == "Kovács-Őry Anna", "a copy of what was recorded then"
    assert [one["step"] for one in found["steps"]] == ["decision", "filed", "suspension", "closed"]
    assert [(one.get("hand"), one.get("drawer")) for one in found["evidence"]] == [("T1-000001", None), (None, "C1")]
    register = officer.get("sealed").json()
    assert [one["case"] for one in register["cases"]] == [1]
    assert [one["entry"] for one in register["notes"]] == [note]
    assert [one["looked_at"] for one in register["looks"]] == ["entry 1", "register"]
    file = officer.get(f"sealed/{case}/file")
    assert (file.status_code, file.content[:5]) == (200, b"%PDF-")
    # That an address is read says nothing about what is there.
    assert (officer.get(f"sealed/{note}").json()["what"], officer.get(f"sealed/{note}/file").status_code) == (
        "note",
        200,
    )
    officer.ok("sealed", {"what": "step", "case": case, "step": "follow_up", "text": "Came again."})
    assert officer.get(f"sealed/{case}").json()["is_open"]
    assert_problem(officer.get("sealed/99"), 404, "not_found")
    for wrong in ({"what": "step", "text": "Of no case."}, {"what": "note", "text": "Of her.", "player": "T1-u2"}):
        assert_problem(officer.post("sealed", wrong), 422, "sealed_refused")
    assert findings(kit.house) == set()


def test_reads_and_writes_are_entries_like_each_other(house: Kit, officer: Desk) -> None:
    """Neither what was done, nor whether it was a read, can be seen from the events."""
    last = last_event()
    officer.ok("sealed", CASE)
    officer.ok("sealed", {"what": "note", "text": "Nothing of note."})
    officer.get("sealed")
    officer.get("sealed/1")
    officer.get("sealed/1/file")
    written = recorded_since(last)
    assert {(one["kind"], tuple(sorted(one["data"]))) for one in written} == {
        ("sealed.entry", ("entry", "sealed_sha256"))
    }
    assert [one["data"]["entry"] for one in written] == [1, 2, 3, 4, 5]
    assert len({len(bytes(one.sealed)) for one in SealedEntry.objects.filter(house=house.house)}) == 1
    for answer in AnsweredRequest.objects.filter(house=house.house, terminal__code__startswith="office"):
        assert "T1-u2" not in answer.answer
    assert_nowhere(house.house, FACTS)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.COMPLIANCE])
def test_for_everybody_else_nothing_is_there(house: Kit, officer: Desk, role: Role) -> None:
    officer.ok("sealed", CASE)
    desk = house.office(role)
    nothing = desk.get("nothing-is-here").json()
    for path in ("sealed", "sealed/1", "sealed/9", "sealed/1/file"):
        answer = desk.get(path)
        assert_problem(answer, 404, "not_found")
        assert {name: answer.json()[name] for name in nothing} == nothing
    assert_problem(desk.post("sealed", CASE), 404, "not_found")
    assert SealedEntry.objects.filter(house=house.house).count() == 1


def _read(desk: Desk) -> dict[str, str]:
    """Everything that this person can read, by address."""
    addresses = [
        "house", "players", "hands", "staff", "terminals", "approvals", "limits", "reports", "report-runs",
        "complaints",
        "legal-holds", "retention-runs", "audit/events?page_size=1000", "reports/house", "reports/players",
        "reports/hands", "reports/verification", "reports/count-differences", "ledger/accounts", "shifts", "drawers",
        "tables", "transfers", "boxes", "house/readiness", "audit/checkpoints", "deposits", "held-payouts",
        "staff/on-duty", "rota", "changes",
    ]  # fmt: skip
    return {path: answer.text for path in addresses if (answer := desk.get(path)).status_code == 200}


def _of_reports(kit: Kit, desk: Desk) -> dict[str, str]:
    """Every report of the catalogue that this person can read, as its JSON file."""
    found = {}
    for report in desk.get("reports").json()["reports"]:
        if any(one["required"] for one in report["filters"]):
            continue
        run = desk.ok(f"reports/{report['report']}/runs", {"formats": ["json"]})["run"]
        kit.make_reports()
        for file in desk.get(f"report-runs/{run}").json()["files"]:
            found[report["report"]] = desk.get(f"report-runs/{run}/files/{file['name']}").text
    return found


def test_nothing_that_others_read_names_a_case_or_its_player(
    house: Kit, officer: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """What auditor and administrator can read before and after differs in nothing that names the case or its player."""
    kit, desks = house, [house.office(Role.AUDITOR), house.office(Role.ADMIN), house.office(Role.MANAGER)]
    officer.ok("sealed", {"what": "note", "text": "The register is in use every day."})
    before = [_read(desk) | _of_reports(kit, desk) for desk in desks]
    last = last_event()
    case = officer.ok("sealed", CASE)["entry"]
    officer.ok("sealed", {"what": "step", "case": case, "step": "filed", "text": "Sent.", "filed_id": "FIU-77"})
    officer.get("sealed")
    officer.get(f"sealed/{case}")
    officer.get(f"sealed/{case}/file")
    assert_problem(officer.get("sealed/99"), 404, "not_found")
    events = recorded_since(last)
    after = [_read(desk) | _of_reports(kit, desk) for desk in desks]
    betrays = re.compile(r"suspic|\bcase\b|FIU-77|tipp", re.IGNORECASE)
    for was, now in zip(before, after, strict=True):
        assert was.keys() == now.keys()
        for path, text in now.items():
            assert text.count("T1-u2") - was[path].count("T1-u2") <= 0, path
            assert len(betrays.findall(text)) == len(betrays.findall(was[path])), path
    for event in events:
        assert event["kind"] in ("sealed.entry", "attempt.refused"), event
        assert "T1-u2" not in json.dumps(event) and not betrays.search(json.dumps(event)), event
    assert "T1-u2" not in caplog.text
    # Nor does retention or a player who is to be forgotten say so.
    out = io.StringIO()
    call_command("retention", kit.house.code, "--dry-run", stdout=out)
    assert out.getvalue() == ""


def test_a_sealed_entry_of_another_place_cannot_be_opened(house: Kit, officer: Desk) -> None:
    officer.ok("sealed", CASE)
    officer.ok("sealed", {"what": "note", "text": "Nothing of note."})
    with unguarded("evidence_sealedentry") as cursor:
        cursor.execute(
            "UPDATE evidence_sealedentry one SET sealed = other.sealed, wrapped = other.wrapped"
            " FROM evidence_sealedentry other WHERE one.house_id = %s AND other.house_id = one.house_id"
            " AND one.number = 1 AND other.number = 2", [house.house.id],
        )  # fmt: skip
    answer: Any = officer.get("sealed/1")
    assert answer.status_code == 500 or answer.status_code == 503, answer.text
    assert Event.objects.filter(house=house.house, doc__kind="sealed.entry").count() == 2


def test_the_file_of_a_case_is_in_the_language_that_is_asked_for(house: Kit, officer: Desk) -> None:
    identity.set_at_founding(house=house.house, parts=IDENTITY, actor=ACTOR)
    case = officer.ok("sealed", CASE)["entry"]
    officer.ok("sealed", {"what": "step", "case": case, "step": "decision", "text": "To be reported."})
    asked = {"en": "?language=en", "de": "?language=de", "hu": ""}
    papers = {one: words(officer.get(f"sealed/{case}/file{query}").content) for one, query in asked.items()}
    titles = {"en": "Suspicious activity", "de": "Verdächtige Aktivität", "hu": "Gyanús tevékenység"}
    for language, paper in papers.items():
        assert {one for one, title in titles.items() if title in paper} == {language}, paper
        # What somebody has written stays as it was written.
        assert "To be reported." in paper
    assert "Decision" not in papers["de"] and "open" not in papers["de"].split()
    refused = officer.get(f"sealed/{case}/file?language=fr")
    assert_problem(refused, 400, "invalid_parameter")
