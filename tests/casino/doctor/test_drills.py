"""What a drill of a backup has found goes into the audit trail of the house: once, typed, and judged."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from casino.audit.events.backups import BackupDrilled
from casino.audit.models import Event
from casino.doctor import drills
from casino.metrics.backups import RecordsUnreadable
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from deploy.backups import records
from deploy.backups.drill import Report
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue_of_control import forged

AT = 1_767_225_600.0


def noted(folder: Path, kit: Kit, at: float = AT, **found: Any) -> Path:
    """The folder in which the operator's drill has noted what it did, as `deploy.backups` writes it."""
    houses = [{"house": kit.house.code, "hand_count": 3, "event_count": 40}]
    report = Report(
        backup="20260101-000000F", backup_age=3_600.4, archived="000000010000000000000007",
        recovered_to="000000010000000000000007", last_commit=at - 4.25, cut_off_seconds=3.5, cut_off_leaves=45,
        steps={"restore": 1.5}, houses=houses,
    )  # fmt: skip
    records.keep(folder, records.DRILL, records.of_drill(folder, report.as_json() | found, at))
    return folder


def recorded(kit: Kit) -> list[dict[str, Any]]:
    """What the trail has of drills."""
    found = Event.objects.filter(house=kit.house, doc__kind="backup.drilled").order_by("id")
    return [one.doc for one in found]


def test_the_report_of_a_drill_is_recorded_once(kit: Kit, tmp_path: Path, settings: Any) -> None:
    settings.CASINO_BACKUP_RECORDS = noted(tmp_path, kit)
    said = io.StringIO()
    call_command("record_drill", kit.house.code, stdout=said)
    assert f"{kit.house.code}: recorded, {kit.house.chain} " in said.getvalue()
    [event] = recorded(kit)
    assert (event["actor"], event["role"], event["request"]) == ("operator", "system", "record_drill")
    assert event["data"] | {"report_sha256": ""} == {
        "tried": "2026-01-01T00:00:00.000000Z", "ok": True, "backup": "20260101-000000F", "backup_age_seconds": 3_600,
        "recovered_to": "000000010000000000000007", "last_commit": "2025-12-31T23:59:55.750000Z",
        "cut_off_leaves": 45, "cut_off_seconds": 4, "hand_count": 3, "event_count": 40, "problems": [],
        "report_sha256": "",
    }  # fmt: skip
    assert len(event["data"]["report_sha256"]) == 64
    # The auditor reads it like any event.
    read = kit.office(Role.AUDITOR).get("audit/events?kind=backup.drilled").json()["results"]
    assert len(read) == 1
    said = io.StringIO()
    call_command("record_drill", kit.house.code, stdout=said)
    assert f"{kit.house.code}: nothing new" in said.getvalue() and len(recorded(kit)) == 1
    noted(tmp_path, kit, AT + 60, ok=False, problems=["WAL is not archived"])
    call_command("record_drill", kit.house.code, stdout=io.StringIO())
    assert [(one["data"]["ok"], one["data"]["problems"]) for one in recorded(kit)] == [
        (True, []), (False, ["WAL is not archived"]),
    ]  # fmt: skip
    assert verify_house(kit.house).findings == []


def test_a_drill_that_could_not_be_tried_is_recorded_too(kit: Kit, tmp_path: Path) -> None:
    found = {"ok": False, "problems": ["there is no backup [backup_failed]"]}
    records.keep(tmp_path, records.DRILL, records.of_drill(tmp_path, found, AT))
    assert drills.record_last(tmp_path, kit.house) is not None
    [event] = recorded(kit)
    assert (event["data"]["ok"], "backup" in event["data"], "event_count" in event["data"]) == (False, False, False)
    assert verify_house(kit.house).findings == []


def test_a_house_that_was_not_in_the_backup_learns_it(kit: Kit, tmp_path: Path) -> None:
    noted(tmp_path, kit, houses=[{"house": "ELSEWHERE", "hand_count": 1, "event_count": 1}])
    drills.record_last(tmp_path, kit.house)
    [event] = recorded(kit)
    assert (event["data"]["ok"], event["data"]["problems"]) == (False, ["this house was not in the backup"])
    assert verify_house(kit.house).findings == []


def test_many_problems_do_not_fill_the_trail(kit: Kit, tmp_path: Path) -> None:
    noted(tmp_path, kit, ok=False, problems=["x" * 1_000] * 30)
    drills.record_last(tmp_path, kit.house)
    found = recorded(kit)[0]["data"]["problems"]
    assert len(found) == 20 and found[-1] == "and 11 more" and len(found[0]) == 300


@pytest.mark.parametrize(
    "wrong", [{"tried_at": None}, {"houses": 3}, {"problems": None}, {"backup_age": "long"}], ids=str
)
def test_a_record_that_is_none_is_refused(kit: Kit, tmp_path: Path, wrong: dict[str, Any], settings: Any) -> None:
    noted(tmp_path, kit)
    records.keep(
        tmp_path, records.DRILL, records.of_drill(tmp_path, {"ok": True, "problems": []}, AT) | {"backup": "x"} | wrong
    )
    with pytest.raises(RecordsUnreadable):
        drills.record_last(tmp_path, kit.house)
    settings.CASINO_BACKUP_RECORDS = tmp_path
    with pytest.raises(CommandError, match="none"):
        call_command("record_drill", kit.house.code)
    assert recorded(kit) == []


def test_without_a_folder_or_a_drill_nothing_is_recorded(kit: Kit, tmp_path: Path, settings: Any) -> None:
    settings.CASINO_BACKUP_RECORDS = None
    with pytest.raises(CommandError, match="CASINO_BACKUP_RECORDS"):
        call_command("record_drill")
    assert drills.record_last(tmp_path, kit.house) is None and recorded(kit) == []


@pytest.mark.parametrize(
    "wrong",
    [{"ok": False}, {"problems": ["bad"]}, {"event_count": None}, {"tried": "2999-01-01T00:00:00.000000Z"}],
    ids=str,
)
def test_the_verifier_judges_what_is_said(kit: Kit, wrong: dict[str, Any]) -> None:
    said: dict[str, Any] = {
        "tried": "2026-01-01T00:00:00.000000Z", "ok": True, "backup": "F", "cut_off_leaves": 0, "cut_off_seconds": 0,
        "event_count": 1, "problems": [], "report_sha256": "0" * 64,
    }  # fmt: skip
    forged(kit, kit.house.chain, BackupDrilled(**said | wrong))
    # `forged` acts for nobody: that alone is a finding, and what does not fit another.
    found = [one.problem for one in verify_house(kit.house).findings if one.code == "drill_differs"]
    assert len(found) == 2, found
