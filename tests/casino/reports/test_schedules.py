"""Schedules over HTTP, what falls due, and sending: to a folder, by mail, to a store, with attempts that fail."""

import email
import email.message
import email.policy
import hashlib
import hmac
import json
import socketserver
import threading
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, TypeVar

import pytest

from casino.approvals.models import Approval
from casino.audit.events.reports import (
    DeliverySent,
    ReportRequested,
    ScheduleFired,
    ScheduleStopped,
)
from casino.audit.verifier.state_approvers import needed, one_of
from casino.core import once_live
from casino.core.sql import database_time
from casino.houses.models import ClockTimestamp, House
from casino.reports import alarms, readers, schedules, sending, sigv4
from casino.reports.frame import registry
from casino.reports.models import Delivery, ReportSchedule
from casino.staff.models import Role, Staff
from casino.verification.auditing import verify_house
from tests.casino.days.test_days import FIRST, SECOND, close, events, opened
from tests.casino.kit import Desk, Kit
from tests.casino.reports.test_catalogue_of_control import forged
from tests.casino.transfers.test_transfers import refusal

REASON = {"reason": "as agreed"}
OFF = {"what": "player-activity", "cadence": "off", "destinations": ["archive"]}
Setter = Callable[..., Path]


@pytest.fixture
def destinations(settings: Any, tmp_path: Path) -> Setter:
    """Writes the operator's file of destinations; returns the folder that `archive` names."""

    def written(**more: dict[str, Any]) -> Path:
        folder = tmp_path / "archive"
        lines = []
        for name, found in ({"archive": {"kind": "folder", "path": str(folder)}} | more).items():
            lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in found.items())]
        (tmp_path / "destinations.toml").write_text("\n".join(lines) + "\n")
        settings.CASINO_DESTINATIONS = str(tmp_path / "destinations.toml")
        return folder

    return written


def put(kit: Kit, name: str, status: int = 201, **body: Any) -> dict[str, Any]:
    """A schedule that an auditor sets."""
    whole = {"what": "chips", "cadence": "day_close", "destinations": ["archive"]} | REASON | body
    answer = kit.office(Role.AUDITOR).post(f"report-schedules/{name}", whole)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def closed_day(kit: Kit) -> Desk:
    """A gaming day that is closed."""
    office = opened(kit, FIRST)
    close(kit, office, FIRST)
    return office


def retry_now(kit: Kit) -> None:
    """What waits for its next attempt is due."""
    Delivery.objects.filter(house=kit.house, state="waiting").update(next_at=ClockTimestamp())


def found_by_verifier(kit: Kit) -> list[str]:
    """Problems of reports that the verifier finds."""
    return [one.problem for one in verify_house(kit.house).findings if one.code in ("report_differs", "state_differs")]


def test_a_report_is_sent_to_a_folder_when_the_day_is_closed_and_once(kit: Kit, destinations: Setter) -> None:
    folder = destinations()
    row = put(kit, "chips-daily", formats=["json", "csv"])
    assert (row["number"], row["cadence"], row["time_of_day"], row["formats"]) == (1, "day_close", "", ["json", "csv"])
    assert schedules.fire_due(kit.house) == 0
    closed_day(kit)
    assert (schedules.fire_due(kit.house), schedules.fire_due(kit.house)) == (1, 0)
    # The run is not made yet: no attempt.
    assert sending.send_due(kit.house) == {1: "not_made"}
    assert kit.make_reports() == ["made"]
    retry_now(kit)
    # The folder is not there: an attempt that failed, and that is tried again later.
    assert sending.send_due(kit.house) == {1: "waiting"}
    assert sending.send_due(kit.house) == {}
    office = kit.office(Role.AUDITOR)
    [waiting] = office.get("report-deliveries?state=waiting").json()["results"]
    assert (waiting["attempts"], waiting["problem"], waiting["run"]) == (1, "folder_missing", 1)
    folder.mkdir()
    retry_now(kit)
    assert sending.send_due(kit.house) == {1: "sent"}
    run = office.get("report-runs/1").json()
    written = folder / kit.house.code / "chips-daily" / FIRST
    assert {one.name for one in written.iterdir()} == {one["name"] for one in run["files"]}
    for one in run["files"]:
        assert hashlib.sha256((written / one["name"]).read_bytes()).hexdigest() == one["sha256"]
    [failed], [sent] = events(kit, "report.delivery_failed"), events(kit, "report.delivered")
    assert (failed["data"]["attempt"], sent["data"]["attempt"], sent["data"]["files"]) == (1, 2, run["files"])
    assert found_by_verifier(kit) == []
    assert str(folder) not in json.dumps([failed, sent])


def test_the_package_of_the_day_is_sent_when_it_is_made(kit: Kit, destinations: Setter) -> None:
    folder = destinations()
    folder.mkdir()
    put(kit, "package", what="package")
    closed_day(kit)
    assert schedules.fire_due(kit.house) == 1
    assert sending.send_due(kit.house) == {1: "not_made"}
    [digest] = kit.package()
    retry_now(kit)
    assert sending.send_due(kit.house) == {1: "sent"}
    [path] = (folder / kit.house.code / "package" / FIRST).iterdir()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest and zipfile.is_zipfile(path)
    assert found_by_verifier(kit) == []


def test_what_does_not_arrive_is_an_alarm_until_it_does_or_its_schedule_ends(kit: Kit, destinations: Setter) -> None:
    destinations()
    put(kit, "package", what="package")
    closed_day(kit)
    kit.package()
    schedules.fire_due(kit.house)
    waits = []
    for _ in range(sending.ALARMING):
        assert [one.kind for one in alarms.alarms(kit.house) if one.kind == "delivery_failing"] == []
        assert sending.send_due(kit.house) == {1: "waiting"}
        waits.append((Delivery.objects.get(house=kit.house).next_at - database_time()).total_seconds())
        retry_now(kit)
    assert [round(one / 60) for one in waits] == [1, 2, 4]
    [alarm] = [one for one in alarms.alarms(kit.house) if one.kind == "delivery_failing"]
    assert alarm.name == "delivery 1"
    put(kit, "package", what="package", cadence="off")
    assert Delivery.objects.get(house=kit.house).state == "withdrawn"
    assert [one for one in alarms.alarms(kit.house) if one.kind == "delivery_failing"] == []
    assert sending.send_due(kit.house) == {}
    assert found_by_verifier(kit) == []


def test_what_is_refused(kit: Kit, destinations: Setter) -> None:
    destinations()
    for body, status, code in (
        ({"what": "nothing"}, 404, "not_found"),
        ({"what": "package", "cadence": "daily"}, 422, "schedule_cadence"),
        ({"what": "transaction-log"}, 422, "schedule_report"),
        ({"what": "player-statement"}, 422, "report_filter"),
        ({"what": "package", "filters": {"table": "T1"}}, 422, "report_filter"),
        ({"what": "table-result", "filters": {"from": FIRST}}, 422, "report_filter"),
        ({"what": "table-result", "filters": {"drawer": "C1"}}, 422, "report_filter"),
        ({"what": "table-result", "filters": {"table": "no such/table"}}, 422, "report_filter"),
        ({"formats": ["slip"]}, 422, "report_format"),
        ({"destinations": ["archive", "elsewhere"]}, 422, "unknown_destination"),
        ({"valid_from": "2020-01-01T00:00:00Z"}, 422, "schedule_in_the_past"),
    ):
        assert put(kit, "one", status, **body)["code"] == code
    assert not ReportSchedule.objects.filter(house=kit.house).exists()
    listed = kit.office(Role.MANAGER).get("report-schedules").json()
    assert listed == {"schedules": [], "destinations": ["archive"]}


def test_a_schedule_asks_for_what_its_filters_say(kit: Kit, destinations: Setter) -> None:
    destinations().mkdir()
    kit.table()
    set_first = put(kit, "of-t1", what="table-result", formats=["json"], filters={"table": "T1"})
    assert set_first["filters"] == {"table": "T1"}
    put(kit, "anna", what="player-statement", formats=["json"], filters={"player": "anna"})
    kit.players("anna")
    closed_day(kit)
    assert schedules.fire_due(kit.house) == 2
    requested = {one["data"]["report"]: one["data"]["filters"] for one in events(kit, "report.requested")}
    days = {"from": FIRST, "until": FIRST}
    assert requested == {"table-result": {"table": "T1"} | days, "player-statement": {"player": "anna"} | days}
    assert kit.make_reports() == ["made", "made"]
    made = kit.office(Role.AUDITOR).get("report-runs/2").json()
    assert made["filters"] == {"table": "T1"} | days
    assert set(sending.send_due(kit.house).values()) == {"sent"}
    listed = kit.office(Role.MANAGER).get("report-schedules").json()["schedules"]
    assert [one["filters"] for one in listed] == [{"player": "anna"}, {"table": "T1"}]
    assert found_by_verifier(kit) == []


def test_a_run_of_a_schedule_that_asks_for_something_else_is_found(kit: Kit, destinations: Setter) -> None:
    destinations()
    kit.table()
    put(kit, "of-t1", what="table-result", formats=["json"], filters={"table": "T1"})
    closed_day(kit)
    asked: Any = {
        "report_version": registry.get("table-result").version, "group_by": "", "formats": ["json"], "style": {},
        "copy": 0, "sensitivity": "P1",
    }  # fmt: skip
    forged(kit, kit.house.chain, ReportRequested(run=1, report="table-result", filters={"table": "T2"}, **asked))
    fired = ScheduleFired(schedule="of-t1", number=1, period=FIRST, run=1, deliveries={"1": "archive"})
    forged(kit, kit.house.chain, fired)
    assert "run 1 has other filters than version 1 says" in found_by_verifier(kit)


def test_every_date_and_every_month_fall_due_once_in_the_zone_of_the_house(kit: Kit, destinations: Setter) -> None:
    destinations()
    put(kit, "daily", cadence="daily", time_of_day="07:30")
    put(kit, "monthly", what="daily-revenue", cadence="monthly", time_of_day="08:00")
    closed_day(kit)
    now = database_time()
    year = now.year + 1
    kit.house.time_zone = "Europe/Budapest"
    before = datetime(year, 3, 1, 6, 29, 59, tzinfo=UTC)
    due = [(one.schedule.name, one.period, one.first, one.last) for one in schedules.due(kit.house, before)]
    # 31 dates are made up for, but not today's, whose time has not come; no day of the month before was played.
    assert {name for name, *_ in due} == {"daily"} and len(due) == 31
    assert f"{year}-03-01" not in [period for _, period, *_ in due]
    later = [one.period for one in schedules.due(kit.house, before + timedelta(seconds=1))]
    assert later[-1] == f"{year}-03-01" and len(later) == 32


def moments(house: House, *times: datetime) -> list[list[str]]:
    """The periods that are due at each of these moments."""
    return [[one.period for one in schedules.due(house, when)] for when in times]


def test_a_month_is_sent_when_its_last_day_is_closed(
    kit: Kit, destinations: Setter, monkeypatch: pytest.MonkeyPatch
) -> None:
    destinations()
    put(kit, "month", what="daily-revenue", cadence="monthly", time_of_day="05:00")
    [row] = schedules.in_force(kit.house, database_time())
    # The schedule was there before that month ended.
    row.valid_from = datetime(2020, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(schedules, "in_force", lambda house, now: [row])
    office = opened(kit, FIRST)
    close(kit, office, FIRST)
    opened(kit, SECOND)
    morning = datetime(2020, 3, 1, 6, tzinfo=UTC)
    assert moments(kit.house, morning) == [[]]
    close(kit, office, SECOND)
    [due] = schedules.due(kit.house, morning)
    assert (due.period, due.first, due.last) == ("2020-02", FIRST, SECOND)


def test_every_closed_day_is_sent_once_at_the_next_moment_of_the_day(kit: Kit, destinations: Setter) -> None:
    destinations()
    put(kit, "daily", what="daily-revenue", cadence="daily", time_of_day="07:30")
    office = opened(kit, FIRST)
    opened(kit, SECOND)
    assert moments(kit.house, database_time() + timedelta(days=2)) == [[]]
    for name in (FIRST, SECOND):
        close(kit, office, name)
    now = database_time()
    both = [FIRST, SECOND]
    assert moments(kit.house, now + timedelta(days=1), now + timedelta(days=3)) == [both, both]
    due = list(schedules.due(kit.house, now + timedelta(days=1)))
    assert [(one.first, one.last) for one in due] == [(FIRST, FIRST), (SECOND, SECOND)]
    assert [bool(schedules.fire(kit.house, one)) for one in due] == [True, True]
    assert moments(kit.house, now + timedelta(days=3), now + timedelta(days=40)) == [[], []]


def test_a_schedule_whose_setter_has_left_stops_and_sends_nothing_more(kit: Kit, destinations: Setter) -> None:
    destinations().mkdir()
    closed_day(kit)
    put(kit, "one", what="player-activity", formats=["json"], cadence="monthly")
    waiting = put(kit, "one", what="player-activity", formats=["json"])
    opened(kit, SECOND)
    close(kit, kit.office(Role.MANAGER), SECOND)
    assert (waiting["number"], schedules.fire_due(kit.house), kit.make_reports()) == (2, 1, ["made"])
    kit.office(Role.ADMIN).ok(f"staff/{waiting['set_by']}/deactivate", REASON, version=1)
    assert sending.send_due(kit.house) == {}
    assert Delivery.objects.get(house=kit.house).state == "withdrawn"
    assert (schedules.fire_due(kit.house), schedules.stop_lost(kit.house)) == (0, 0)
    [stop] = events(kit, "report.schedule_stopped")
    wanted = {"schedule": "one", "number": 2, "problem": "setter_left", "withdrawn": [1]}
    assert stop["data"] == wanted
    _, shown = kit.office(Role.MANAGER).get("report-schedules").json()["schedules"]
    assert shown["stopped"] == "setter_left" and shown["stopped_at"] is not None
    assert [one.name for one in alarms.alarms(kit.house) if one.kind == "schedule_stopped"] == ["schedule one"]
    assert found_by_verifier(kit) == []
    kit.office(Role.ADMIN).ok("report-schedules/one", OFF | REASON)
    assert [one for one in alarms.alarms(kit.house) if one.kind == "schedule_stopped"] == []


def test_who_sets_a_schedule_must_be_able_to_read_it(kit: Kit, destinations: Setter) -> None:
    destinations()
    for role, what in (
        (Role.ADMIN, "chips"), (Role.ADMIN, "package"), (Role.MANAGER, "tax-check"), (Role.COMPLIANCE, "package"),
    ):  # fmt: skip
        body = {"what": what, "cadence": "day_close", "destinations": ["archive"]} | REASON
        refused = kit.office(role).post("report-schedules/one", body)
        assert refusal(refused) == (403, "schedule_reader")
        assert str(role) not in refused.json()["allowed_roles"]
    for number, (role, what) in enumerate(
        ((Role.ADMIN, "staff-changes"), (Role.MANAGER, "package"), (Role.COMPLIANCE, "player-activity"))
    ):
        body = {"what": what, "cadence": "day_close", "destinations": ["archive"]} | REASON
        assert kit.office(role).ok("report-schedules/one", body)["number"] == number + 1
    assert found_by_verifier(kit) == []


def test_who_approves_a_schedule_must_be_able_to_read_it_and_go_on_to(
    kit: Kit, destinations: Setter, monkeypatch: pytest.MonkeyPatch
) -> None:
    destinations()
    monkeypatch.setattr(once_live, "is_live", lambda house: True)
    setter = kit.office(Role.AUDITOR)
    body = {"what": "tax-check", "cadence": "day_close", "destinations": ["archive"]} | REASON
    asked = setter.post("report-schedules/one", body)
    assert refusal(asked) == (409, "approval_required")
    assert asked.json()["approval"]["roles"] == ["auditor"]
    number = asked.json()["approval"]["approval"]
    assert refusal(kit.office(Role.MANAGER).post(f"approvals/{number}/approve", {})) == (403, "forbidden")
    row = approved_schedule(kit, "activity", what="player-activity")
    approver = Approval.objects.get(house=kit.house, number=row["approval"]).decided_by
    assert approver is not None
    closed_day(kit)
    Staff.objects.filter(id=approver.pk).update(roles=["dealer"])
    assert schedules.fire_due(kit.house) == 0
    [stop] = events(kit, "report.schedule_stopped")
    assert stop["data"] == {"schedule": "activity", "number": 1, "problem": "approver_may_not_read", "withdrawn": []}


def approved_schedule(kit: Kit, name: str, **body: Any) -> dict[str, Any]:
    """A schedule that an auditor sets, once a manager has approved it."""
    whole = {"what": "chips", "cadence": "day_close", "destinations": ["archive"]} | REASON | body
    return kit.approved(kit.office(Role.AUDITOR), f"report-schedules/{name}", whole)


def test_a_schedule_that_runs_for_who_may_not_read_it_is_found(
    kit: Kit, destinations: Setter, monkeypatch: pytest.MonkeyPatch
) -> None:
    destinations()
    with monkeypatch.context() as unguarded:
        unguarded.setattr(readers, "require_reader", lambda *_: None)
        kit.office(Role.ADMIN).ok(
            "report-schedules/one", {"what": "chips", "cadence": "day_close", "destinations": ["archive"]} | REASON
        )
    [problem] = found_by_verifier(kit)
    assert problem.endswith("who has set one, may not read chips")
    stop = ScheduleStopped(schedule="one", number=1, problem="setter_may_not_read", withdrawn=[])
    forged(kit, kit.house.chain, stop)
    forged(kit, kit.house.chain, ScheduleFired(schedule="one", number=1, period=FIRST, deliveries={"1": "archive"}))
    assert "version 1 of one has stopped" in found_by_verifier(kit)


def test_the_verifier_knows_who_approves_a_schedule() -> None:
    def approvers(what: str, cadence: str = "daily") -> frozenset[frozenset[str]]:
        data = {"what": what, "cadence": cadence}
        return needed({"kind": "report.schedule_set", "role": "auditor", "data": data}, {})

    assert approvers("tax-check") == one_of(("auditor",))
    assert approvers("package") == approvers("chips") == one_of(("auditor", "manager"))
    assert approvers("held-money") == one_of(("auditor", "compliance", "manager"))
    assert approvers("tax-check", "off") == one_of(("manager",))


def test_a_forged_delivery_is_found(kit: Kit, destinations: Setter) -> None:
    folder = destinations()
    folder.mkdir()
    put(kit, "package", what="package")
    closed_day(kit)
    kit.package()
    schedules.fire_due(kit.house)
    assert found_by_verifier(kit) == []
    files = [{"name": "x.zip", "size": 1, "sha256": "0" * 64}]
    forged(kit, kit.house.chain, DeliverySent(delivery=1, attempt=1, destination="archive", files=files))
    assert f"what was sent is not the package of {FIRST}" in found_by_verifier(kit)


# --- Servers of others -----------------------------------------------------------------------------------------------


class Store(HTTPServer):
    """A store that keeps what is put, if its signature is right by a computation of its own."""

    secret = "s3cret/KEY"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), StoreHandler)
        self.kept: dict[str, bytes] = {}
        self.answers: list[int] = []
        self.fail_first = 1


class StoreHandler(BaseHTTPRequestHandler):
    """PUT of one object."""

    server: Store

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 200 if self._is_signed(body) else 403
        if self.server.fail_first:
            self.server.fail_first, status = 0, 503
        if status == 200:
            self.server.kept[self.path] = body
        self.server.answers.append(status)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _is_signed(self, body: bytes) -> bool:
        algorithm, _, rest = self.headers["Authorization"].partition(" ")
        given = dict(part.split("=", 1) for part in rest.split(", "))
        _, day, region, service, end = given["Credential"].split("/")
        named = given["SignedHeaders"].split(";")
        digest = hashlib.sha256(body).hexdigest()
        lines = [f"{name}:{self.headers[name].strip()}\n" for name in named]
        request = "PUT\n" + self.path + "\n\n" + "".join(lines) + "\n" + ";".join(named) + "\n" + digest
        scope = f"{day}/{region}/{service}/{end}"
        text = f"{algorithm}\n{self.headers['x-amz-date']}\n{scope}\n" + hashlib.sha256(request.encode()).hexdigest()
        key = b"AWS4" + self.server.secret.encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return hmac.compare_digest(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), given["Signature"])

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


class Post(socketserver.ThreadingTCPServer):
    """Takes mail over SMTP (RFC 5321), as far as it is needed."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), PostHandler)
        self.messages: list[email.message.EmailMessage] = []


class PostHandler(socketserver.StreamRequestHandler):
    """One session."""

    server: Post

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline().strip().upper():
            if line.startswith(b"DATA"):
                self.wfile.write(b"354 go on\r\n")
                lines = []
                while (line := self.rfile.readline()) != b".\r\n":
                    lines.append(line[1:] if line.startswith(b"..") else line)
                message = email.message_from_bytes(b"".join(lines), policy=email.policy.default)
                assert isinstance(message, email.message.EmailMessage)
                self.server.messages.append(message)
            self.wfile.write(b"221 bye\r\n" if line == b"QUIT" else b"250 ok\r\n")


Server = TypeVar("Server", bound=socketserver.BaseServer)


def served(server: Server) -> Iterator[Server]:
    """A server while the test runs."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def store() -> Iterator[Store]:
    """A store."""
    yield from served(Store())


@pytest.fixture
def post() -> Iterator[Post]:
    """A post office."""
    yield from served(Post())


def test_a_store_gets_signed_requests_and_mail_has_files_or_links(
    kit: Kit, destinations: Setter, store: Store, post: Post, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(Store.secret + "\n")
    mail = {"kind": "mail", "to": ["owner@example.org"], "from": "house@example.org", "host": "127.0.0.1",
            "port": post.server_address[1], "tls": "none"}  # fmt: skip
    destinations(
        bucket={"kind": "s3", "endpoint": f"http://127.0.0.1:{store.server_address[1]}", "bucket": "reports",
                "prefix": "őrzött", "region": "eu-central-1", "access_key": "AK1",
                "secret_file": str(tmp_path / "secret")},
        owners=mail | {"attach": True}, others=mail | {"attach": False, "link": "https://house.example/"},
    )  # fmt: skip
    put(kit, "sent", formats=["json", "csv"], destinations=["bucket", "owners", "others"])
    closed_day(kit)
    schedules.fire_due(kit.house)
    kit.make_reports()
    assert sending.send_due(kit.house) == {1: "waiting", 2: "sent", 3: "sent"}
    retry_now(kit)
    assert sending.send_due(kit.house) == {1: "sent"}
    assert store.answers[0] == 503 and set(store.answers[1:]) == {200}
    run = kit.office(Role.AUDITOR).get("report-runs/1").json()
    whole = {one["name"]: one["sha256"] for one in run["files"]}
    kept = {path.rpartition("/")[2]: hashlib.sha256(body).hexdigest() for path, body in store.kept.items()}
    assert kept == whole
    assert all(path.startswith(f"/reports/%C5%91rz%C3%B6tt/{kit.house.code}/sent/") for path in store.kept)
    with_files, with_links = post.messages
    attached = {one.get_filename(): one.get_payload(decode=True) for one in with_files.iter_attachments()}
    assert {name: hashlib.sha256(content).hexdigest() for name, content in attached.items()} == whole  # type: ignore[arg-type]
    assert not list(with_links.iter_attachments())
    text = with_links.get_content()
    assert all(f"https://house.example/api/v1/report-runs/1/files/{name}" in text for name in whole)
    assert with_files["Message-ID"] and "owner@example.org" not in json.dumps(events(kit, "report.schedule_set"))
    assert found_by_verifier(kit) == []


def test_a_signature_is_that_of_the_published_example() -> None:
    """AWS's published test of a PUT object ("Signature Calculations", example PUT Object) signs other headers too; the
    derivation of the key is that of the published example of the signing key."""
    headers = sigv4.headers(
        sigv4.Keys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), region="us-east-1", service="iam",
        method="PUT", host="example.org", path="/a%20b", payload_sha256="0" * 64,
        at=datetime(2015, 8, 30, 12, 36, tzinfo=UTC),
    )  # fmt: skip
    key = bytes.fromhex("c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9")
    canonical = (
        "PUT\n/a%20b\n\nhost:example.org\nx-amz-content-sha256:" + "0" * 64 + "\nx-amz-date:20150830T123600Z\n\n"
        "host;x-amz-content-sha256;x-amz-date\n" + "0" * 64
    )
    text = "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/iam/aws4_request\n"
    text += hashlib.sha256(canonical.encode()).hexdigest()
    assert headers["Authorization"].endswith(hmac.new(key, text.encode(), hashlib.sha256).hexdigest())
