"""Runs of reports over HTTP: asked for, made by the worker, downloaded, repeated as of the same moment, cancelled."""

import csv
import hashlib
import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection, connections

from casino.hands.models import Hand
from casino.houses.models import OutboxMessage
from casino.reports import making, runs
from casino.reports.frame import registry
from casino.reports.models import ReportPart, ReportRun
from casino.reports.render import base
from casino.staff.models import Role
from casino.verification import state_reader
from casino.verification.auditing import verify_house
from tests.casino.days.test_days import events
from tests.casino.kit import Desk, Kit

ALL = ["json", "csv", "xlsx", "pdf"]


def asked(office: Desk, report: str = "chips", **body: Any) -> dict[str, Any]:
    """A run that somebody asks for."""
    answer = office.post(f"reports/{report}/runs", {"formats": ALL} | body)
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()
    return found


def downloaded(office: Desk, run: dict[str, Any]) -> dict[str, bytes]:
    """The files of a run by name, each compared with its SHA-256."""
    found = {}
    for file in run["files"]:
        answer = office.get(f"report-runs/{run['run']}/files/{file['name']}")
        content = b"".join(answer.iter_bytes()) if hasattr(answer, "iter_bytes") else answer.content
        assert (answer.status_code, len(content)) == (200, file["size"])
        assert answer.headers["File-SHA256"] == file["sha256"] == hashlib.sha256(content).hexdigest()
        found[file["name"]] = content
    return found


@pytest.fixture
def busy(kit: Kit) -> Kit:
    """A house with chips in a drawer, a tray, and with players."""
    kit.table()
    kit.seated()
    return kit


def sell(kit: Kit) -> None:
    """Chips are sold, which changes where they are."""
    cashier = kit.cashier()
    cashier.ok("buy-ins", {"player": "T1-u1", "amount": 700})


def test_a_report_is_asked_for_made_and_downloaded(busy: Kit) -> None:
    office = busy.office(Role.AUDITOR)
    run = asked(office, group_by="kind")
    assert (run["run"], run["state"], run["as_of"], run["files"]) == (1, "waiting", None, [])
    assert office.get("report-runs/1/files/chips.json").json()["code"] == "report_not_made"
    assert busy.make_reports() == ["made"]
    run = office.get("report-runs/1").json()
    assert run["state"] == "made" and run["as_of"]["transaction"] > 0
    assert run["equalities"] and all(one["holds"] for one in run["equalities"])
    files = downloaded(office, run)
    assert set(files) >= {"chips.json", "chips.xlsx", "chips.pdf", "chips-places.csv", "chips-places-by-kind.csv"}
    report = json.loads(files["chips.json"])
    places = report["sections"][1]
    rows = list(csv.DictReader(io.StringIO(files["chips-places.csv"].decode())))
    assert len(rows) == len(places["rows"]) == places["row_count"] > 0
    assert sum(int(row["worth_minor"]) for row in rows) == places["totals"]["worth"]
    assert sum(int(row["pieces"]) for row in rows) == report["sections"][0]["totals"]["commissioned"]
    assert sum(row[-1] for row in places["groups"]["rows"]) == places["totals"]["worth"]
    assert zipfile.ZipFile(io.BytesIO(files["chips.xlsx"])).testzip() is None
    assert files["chips.pdf"].startswith(b"%PDF")
    [event] = events(busy, "report.made")
    assert {file["name"]: file["sha256"] for file in event["data"]["files"]} == {
        file["name"]: file["sha256"] for file in run["files"]
    }
    busy.sequence()
    assert verify_house(busy.house).findings == []


def test_a_run_repeats_the_moment_of_another_from_the_same_rows(busy: Kit) -> None:
    office = busy.office(Role.AUDITOR)
    asked(office, formats=["json", "csv"])
    busy.make_reports()
    sell(busy)
    asked(office, formats=["json", "csv"], repeats=1)
    asked(office, formats=["json", "csv"])
    assert busy.make_reports() == ["made", "made"]
    first, again, later = (downloaded(office, office.get(f"report-runs/{run}").json()) for run in (1, 2, 3))
    assert first["chips-places.csv"] == again["chips-places.csv"] != later["chips-places.csv"]
    sections = [json.loads(files["chips.json"])["sections"] for files in (first, again, later)]
    assert sections[0] == sections[1] != sections[2]


def test_the_same_moment_gives_the_same_bytes_in_every_format(busy: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    office = busy.office(Role.MANAGER)
    asked(office)
    message = OutboxMessage.objects.get(house=busy.house, task=runs.TASK)

    class Killed(BaseException):
        """Stands for kill -9: nothing of the worker runs any more."""

    def killed(*_: Any) -> str:
        raise Killed

    monkeypatch.setattr(making, "_keep", killed)
    with pytest.raises(Killed):
        making.work_off(message.pk)
    monkeypatch.undo()
    moment = ReportRun.objects.get(house=busy.house).as_of
    assert making.work_off(message.pk) == "taken"
    run_rows = ReportRun.objects.filter(house=busy.house)
    run_rows.update(worked_until=run_rows.get().requested_at)
    sell(busy)
    assert making.work_off(message.pk) == "made"
    run = office.get("report-runs/1").json()
    assert run["as_of"] == moment
    assert making.work_off(message.pk) == "made"
    assert office.get("report-runs/1").json() == run


def test_a_run_that_fails_again_and_again_is_given_up(busy: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    office = busy.office(Role.MANAGER)
    asked(office)
    message = OutboxMessage.objects.get(house=busy.house, task=runs.TASK)

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(base, "_produce", broken)
    for deliveries in range(making.TRIES):
        OutboxMessage.objects.filter(id=message.pk).update(deliveries=deliveries)
        with pytest.raises(ZeroDivisionError):
            making.work_off(message.pk)
    OutboxMessage.objects.filter(id=message.pk).update(deliveries=making.TRIES)
    assert making.work_off(message.pk) == "failed"
    run = office.get("report-runs/1").json()
    assert (run["state"], run["failure"], run["files"]) == ("failed", "given_up", [])
    busy.sequence()
    assert verify_house(busy.house).findings == []


def test_a_run_that_takes_too_long_fails(busy: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    office = busy.office(Role.MANAGER)
    asked(office)

    def endless(*_: Any) -> Any:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(base, "_produce", endless)
    assert busy.make_reports() == ["failed"]
    assert office.get("report-runs/1").json()["failure"] == "took_too_long"


def test_a_cancelled_run_keeps_nothing(busy: Kit) -> None:
    office = busy.office(Role.MANAGER)
    run = asked(office)
    message = OutboxMessage.objects.get(house=busy.house, task=runs.TASK)
    cancelled = office.ok(f"report-runs/{run['run']}/cancel", version=1)
    assert (cancelled["state"], cancelled["version"]) == ("cancelled", 2)
    assert making.work_off(message.pk) == "cancelled"
    assert ReportPart.objects.filter(house=busy.house).count() == 0
    again = office.post("report-runs/1/cancel", version=2)
    assert (again.status_code, again.json()["code"]) == (409, "report_run_ended")
    busy.sequence()
    assert verify_house(busy.house).findings == []


def test_a_run_that_is_cancelled_while_it_is_made_ends_without_files(
    busy: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = busy.office(Role.MANAGER)
    asked(office)
    real = making.produce

    def cancelled_meanwhile(*arguments: Any) -> Any:
        office.ok("report-runs/1/cancel", version=1)
        return real(*arguments)

    monkeypatch.setattr(making, "produce", cancelled_meanwhile)
    assert busy.make_reports() == ["cancelled"]
    assert office.get("report-runs/1").json()["files"] == []


def test_what_no_report_has_is_refused_with_what_there_is(busy: Kit) -> None:
    office = busy.office(Role.AUDITOR)

    def refused(report: str = "chips", **body: Any) -> tuple[int, str, Any]:
        answer = office.post(f"reports/{report}/runs", {"formats": ["csv"]} | body)
        return answer.status_code, answer.json()["code"], answer.json().get("choices")

    assert refused("none")[:2] == (404, "not_found")
    assert refused(filters={"colour": "red"})[:2] == (422, "report_filter")
    assert refused(group_by="owner") == (422, "report_group", ["kind", "place", "commodity", "band"])
    assert refused(formats=["slip"]) == (422, "report_format", ["json", "csv", "xlsx", "pdf"])
    assert refused(separator="comma", decimal="comma")[:2] == (422, "report_style")
    assert refused(repeats=7)[:2] == (404, "not_found")
    asked(office, "trial-balance")
    assert refused(repeats=1)[:2] == (409, "report_other")


def test_only_who_may_read_a_report_asks_for_it_and_gets_its_files(busy: Kit) -> None:
    office = busy.office(Role.AUDITOR)
    asked(office)
    busy.make_reports()
    floor = busy.office(Role.FLOOR)
    assert floor.post("reports/chips/runs", {"formats": ["csv"]}).status_code == 403
    assert floor.get("report-runs/1").status_code == 403
    assert floor.get("report-runs/1/files/chips.json").status_code == 403
    readable = [name for name, report in registry.reports().items() if Role.AUDITOR in report.roles]
    assert [one["report"] for one in office.get("reports").json()["reports"]] == readable


def test_a_run_is_not_taken_for_a_hand_whose_id_is_its_number(kit: Kit) -> None:
    kit.table()
    kit.seated().ok("hands", {"mode": "physical"})
    hand = Hand.objects.get(house=kit.house)
    OutboxMessage.objects.create(house=kit.house, task=runs.TASK, subject=str(hand.pk))
    [query] = [one for one in state_reader.queries() if "houses_outboxmessage" in one]
    with connection.cursor() as cursor:
        cursor.execute(query, {"house": kit.house.id, "hands": None})
        found = [row for (row,) in cursor.fetchall()]
    assert [row["key"] for row in found] == [f"{runs.TASK}/{hand.pk}"]
    assert found[0]["row"]["subject"] == str(hand.pk)


def test_a_moment_waits_for_transactions_that_are_under_way(busy: Kit) -> None:
    from casino.core.patience import Busy
    from casino.reports.frame import as_of

    with connections["owner"].cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT pg_current_xact_id()")
        try:
            with pytest.raises(Busy), pytest.MonkeyPatch.context() as patched:
                patched.setattr(as_of, "PATIENCE", 0.2)
                as_of.now(busy.house)
        finally:
            cursor.execute("ROLLBACK")
    moment = as_of.now(busy.house)
    assert moment.at - busy.house.opened_at < timedelta(hours=1) and moment.transaction and moment.event


def test_a_moment_waits_for_no_other_database(busy: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction there has a number of the same server, and writes nothing here; one that was prepared and has no
    process any more is waited for where it is."""
    from casino.reports.frame import as_of

    monkeypatch.setattr(as_of, "PATIENCE", 0.2)
    info = connections["owner"].settings_dict
    address = {"host": info["HOST"], "user": info["USER"], "password": info["PASSWORD"]}
    with psycopg.connect(dbname="postgres", port=info["PORT"] or None, **address) as other:
        other.execute("SELECT pg_current_xact_id()")
        assert as_of.now(busy.house).event
