"""A32: the certificate says what verifying found, names checkpoints and program, and is signed with the log."""

import json
from pathlib import Path
from typing import Any

import pytest

from casino.audit import zipapp
from casino.audit.verifier import command
from casino.reports.catalogue import a32_certificate
from casino.staff.models import Role
from tests.casino.days.test_days import events
from tests.casino.hands.test_settlement import alter_as_superuser
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import rows
from tests.casino.reports.test_runs import asked, downloaded


def certified(kit: Kit) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A run of the certificate, and its rows."""
    office = kit.office(Role.AUDITOR)
    run = asked(office, "certificate", formats=["json", "pdf"])
    assert kit.make_reports() == ["made"]
    run = office.get(f"report-runs/{run['run']}").json()
    return run, rows(json.loads(downloaded(office, run)["certificate.json"]))


def test_a_certificate_is_signed_with_the_log_and_checked_without_the_house(
    kit: Kit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit.players("anna", chips=500)
    kit.sequence()
    run, found = certified(kit)
    said = {(row["part"], row["what"]): row for row in found}
    assert said["result", "nothing was found"]["finding"] == 0
    assert said["verified", "signed checkpoints"]["number"] == 1
    assert said["verified", "events, each with its place, hash and payload"]["number"] > 5
    assert said["program", "verify.pyz"]["detail"] == f"SHA-256 {zipapp.sha256()}"
    held = [row for row in found if row["part"] == "checkpoints held"]
    assert held and all(row["detail"].startswith("epoch 1, ") for row in held)
    assert sum(row["part"] == "does not prove" for row in found) > 3
    # The event has the files' SHA-256; its receipt is checked by the program alone.
    [made] = events(kit, "report.made")
    assert {one["name"]: one["sha256"] for one in made["data"]["files"]} == {
        one["name"]: one["sha256"] for one in run["files"]
    }
    kit.sequence()
    office = kit.office(Role.AUDITOR)
    event = office.get("audit/events?kind=report.made").json()["results"][0]
    (tmp_path / "receipt.json").write_bytes(office.get(f"receipts/{event['hash']}").content)
    (tmp_path / "key").write_text(office.get("audit/key").text)
    arguments = ["receipt", str(tmp_path / "receipt.json"), "--key", str(tmp_path / "key"), "--hash", event["hash"]]
    assert command.main(arguments) == 0, capsys.readouterr()


def test_a_certificate_says_that_something_was_found(kit: Kit) -> None:
    kit.players("anna", chips=500)
    kit.sequence()
    alter_as_superuser("UPDATE cage_drawer SET x_readings = 9 WHERE house_id = %s", kit.house.id)
    run, found = certified(kit)
    assert [row["what"] for row in found if row["part"] == "result"] == ["SOMETHING WAS FOUND"]
    assert any(row["part"] == "finding" and "x_readings" in row["detail"] for row in found)
    [one] = run["equalities"]
    assert (one["holds"], one["other"]) == (False, 0) and one["one"] >= 1


def test_of_many_findings_some_are_listed_and_all_are_counted(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.sequence()
    whole = a32_certificate.verification_from_mark

    def found_much(house: Any) -> dict[str, Any]:
        return whole(house) | {"hand_findings": [{"hand": f"T1-{n:06d}"} for n in range(7)], "ok": False}

    monkeypatch.setattr(a32_certificate, "verification_from_mark", found_much)
    monkeypatch.setattr(a32_certificate, "MOST_LISTED", 5)
    run, found = certified(kit)
    listed = [row for row in found if row["part"] == "finding"]
    assert [row["detail"] for row in listed[:5]] == [f"hand T1-{n:06d}" for n in range(5)]
    [rest] = listed[5:]
    assert (rest["what"], rest["number"], rest["finding"]) == ("hands", 2, 2)
    assert [one["one"] for one in run["equalities"]] == [7]
