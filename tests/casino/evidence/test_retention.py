"""Retention: what is due goes, what a hold covers stays, and what went is recorded, hashed, and gone."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from casino.audit.models import Event
from casino.core import canonical
from casino.evidence.models import RetentionRun
from casino.players.models import Person, PersonKey
from casino.reports import due, retention
from casino.reports.models import ReportFile, ReportPart
from casino.reports.tasks import delete_what_is_due
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.evidence.test_complaints import cage, findings, held
from tests.casino.kit import Desk, Kit
from tests.casino.reports.test_catalogue import made
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded

__all__ = ["cage"]


def years_ago(kit: Kit, years: int) -> None:
    """Everything that retention looks at is so many years older."""
    older = f"interval '{years} years'"
    with unguarded("reports_reportrun", "players_player", "players_person") as cursor:
        for statement in (
            f"UPDATE reports_reportrun SET requested_at = requested_at - {older}, ended_at = ended_at - {older}",
            f"UPDATE players_player SET registered_at = registered_at - {older}",
            f"UPDATE players_person SET at = at - {older}",
        ):
            cursor.execute(f"{statement} WHERE house_id = %s", [kit.house.id])


def ran(kit: Kit, *arguments: str) -> list[dict[str, Any]]:
    """What the command says."""
    out = io.StringIO()
    call_command("retention", kit.house.code, *arguments, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def kept_wrong(kit: Kit) -> list[str]:
    """What the verifier says of the days for which something was kept; that the tests make rows older, it says too."""
    return [one.problem for one in verify_house(kit.house).findings if "was kept for" in one.problem]


def test_nothing_is_due_in_a_young_house(kit: Kit, cage: Desk) -> None:
    made(kit, "chips")
    last = last_event()
    assert ran(kit) == ran(kit, "--dry-run") == []
    assert not delete_what_is_due(str(kit.house.id))
    assert recorded_since(last, "retention.ran") == []


def test_what_is_due_is_deleted_and_that_is_proved(kit: Kit, cage: Desk) -> None:
    made(kit, "chips")
    auditor = kit.office()
    assert auditor.get("report-runs/1/files/chips.json").status_code == 200
    years_ago(kit, 9)
    listed = ran(kit, "--dry-run")
    assert [(one["kind"], one["name"], one["held_by"]) for one in listed] == [("person_key", "anna", [])]
    years_ago(kit, 2)
    listed = ran(kit, "--dry-run")
    assert [one["name"] for one in listed] == ["1/chips.json", "anna"]
    assert ReportPart.objects.filter(house=kit.house).exists(), "a dry run deletes nothing"
    last, events = last_event(), Event.objects.filter(house=kit.house).count()
    [said] = ran(kit)
    assert said["deleted"].keys() == {"person_key", "report_file"}
    # Gone, and recorded with its hash: the event names each thing, and the row sums it up.
    assert not ReportPart.objects.filter(house=kit.house).exists()
    assert not PersonKey.objects.filter(house=kit.house).exists()
    [file] = ReportFile.objects.filter(house=kit.house)
    [person] = Person.objects.filter(house=kit.house)
    (event,) = recorded_since(last, "retention.ran")
    items = event["data"]["items"]
    assert [(one["name"], one["sha256"], one["size"]) for one in items] == [
        ("1/chips.json", file.sha256, file.size), ("anna", person.sealed_sha256, 0),
    ]  # fmt: skip
    [row] = RetentionRun.objects.filter(house=kit.house)
    assert row.deleted["report_file"] == {
        "count": 1, "size": file.size, "sha256": canonical.sha256(items[:1]),
    }  # fmt: skip
    assert (event["data"]["left"], event["data"]["by"], row.by) == ([], "manage.py retention", "manage.py retention")
    (forgotten,) = recorded_since(last, "player.forgotten")
    assert (forgotten["data"]["retention_run"], forgotten["data"]["retention_days"]) == (1, 2922)
    assert Event.objects.filter(house=kit.house).count() == events + 2, "no event is ever deleted"
    assert_problem(auditor.get("report-runs/1/files/chips.json"), 410, "file_deleted")
    assert auditor.get("report-runs/1").json()["files"][0]["sha256"] == file.sha256
    [listed_run] = auditor.get("retention-runs").json()["results"]
    assert (listed_run["number"], listed_run["deleted"]) == (1, row.deleted)
    assert ran(kit) == []
    # The rows that the test has made older are not as their events say; and a file that was younger than that.
    assert {code for code, _ in findings(kit.house)} == {"state_differs", "retention_differs"}


def test_what_a_hold_covers_stays(kit: Kit, cage: Desk) -> None:
    made(kit, "chips")
    held(kit, {"scope": "house", "reason": "the authority asks"})
    years_ago(kit, 11)
    listed = ran(kit, "--dry-run")
    assert [(one["name"], one["held_by"]) for one in listed] == [("1/chips.json", [1]), ("anna", [1])]
    assert ran(kit) == []
    compliance, lifting = kit.office(Role.COMPLIANCE), {"reason": "the authority is done"}
    assert_problem(compliance.post("legal-holds/1/lift", lifting, version=1), 409, "approval_required")
    kit.office(Role.MANAGER).ok("approvals/2/approve")
    compliance.ok("legal-holds/1/lift", lifting, version=1, headers={"Approval": "2"})
    held(kit, {"scope": "player", "player": "anna", "reason": "letter of the court"})
    # The report on chips names no player.
    [said] = ran(kit)
    assert (list(said["deleted"]), said["held_count"]) == (["report_file"], 1)
    assert PersonKey.objects.filter(house=kit.house).exists()


def test_files_of_operations_go_before_books_and_as_the_house_has_set(kit: Kit) -> None:
    """A house may keep longer than the law wants, and never shorter."""
    admin, points = kit.office(Role.ADMIN), {"retain_books_days": 2000}
    refused = admin.post("limits", {"points": points, "reason": "less paper"})
    assert_problem(refused, 400, "invalid_request")
    made(kit, "chips")
    years_ago(kit, 11)
    longer = {"points": {"retain_books_days": 20 * 366}, "reason": "the owner wants it"}
    kit.approved(admin, "limits", longer, by=Role.MANAGER)
    assert ran(kit, "--dry-run") == []


def test_files_on_exclusions_are_kept_five_years_longer_than_those_on_money_laundering(kit: Kit) -> None:
    made(kit, "exclusions")
    made(kit, "player-activity")
    years_ago(kit, 9)
    assert [one["name"] for one in ran(kit, "--dry-run")] == ["2/player-activity.json"]
    [said] = ran(kit)
    assert said["deleted"]["report_file"]["count"] == 1
    years_ago(kit, 3)
    assert ran(kit, "--dry-run") == []
    years_ago(kit, 2)
    assert [(one["name"], one["days"]) for one in ran(kit, "--dry-run")] == [("1/exclusions.json", 2922 + 1827)]
    [_] = ran(kit)
    assert kept_wrong(kit) == []


def test_the_verifier_finds_a_file_on_exclusions_that_went_too_early(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    made(kit, "exclusions")
    years_ago(kit, 9)
    monkeypatch.setattr(due, "FIVE_YEARS", 0)
    assert len(ran(kit)) == 1
    assert kept_wrong(kit) == ["it was kept for 1095 days; the house has set [2922]"]


def test_a_run_that_leaves_something_fails_whole(kit: Kit) -> None:
    made(kit, "chips")
    years_ago(kit, 11)
    last = last_event()
    with unguarded("reports_reportpart") as cursor:
        cursor.execute("CREATE RULE keeps AS ON DELETE TO reports_reportpart DO INSTEAD NOTHING")
    try:
        with pytest.raises(retention.StillThereError, match=r"1/chips\.json"):
            retention.run(kit.house, "test")
    finally:
        with unguarded("reports_reportpart") as cursor:
            cursor.execute("DROP RULE keeps ON reports_reportpart")
    assert recorded_since(last, "retention.ran") == []
    assert not RetentionRun.objects.filter(house=kit.house).exists()


def test_the_verifier_finds_what_was_deleted_under_a_hold(
    kit: Kit, cage: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(kit, "chips")
    held(kit, {"scope": "house", "reason": "the authority asks"})
    years_ago(kit, 11)
    monkeypatch.setattr("casino.evidence.holds.in_force", lambda house: [])
    assert len(ran(kit)) == 1
    found = findings(kit.house)
    assert ("held_was_deleted", "evidence.RetentionRun 1") in found
    assert len([code for code, _ in found if code == "held_was_deleted"]) == 2
    with pytest.raises(CommandError):
        call_command("retention", "nobody")
