"""`/metrics`: who may read it, what is counted, and that it says what state the installation is in."""

import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.utils import timezone

from casino import configuration
from casino.approvals.control_points import set_at_founding
from casino.chips.models import Imbalance
from casino.core import heartbeat
from casino.core.heartbeat import Part
from casino.evidence.models import LegalHold
from casino.houses import control_points
from casino.houses.models import House, OutboxMessage
from casino.metrics import declared, exposition, state
from casino.reports import runs, verifying
from casino.staff.models import Role
from deploy.backups import records
from deploy.embedded.process import wait_until
from tests.casino.evidence.test_complaints import held
from tests.casino.kit import ACTOR, SAMPLE, Kit
from tests.casino.metrics.reading import TOKEN, scraped, token_file, value
from tests.casino.scene import assert_problem
from tests.casino.superuser import unguarded


@pytest.fixture(autouse=True)
def let_in(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token of the tests reads; nothing is kept from one scrape to the next. Houses are those that the test founds:
    their files, and what is read of each by itself, would have to be read of thousands that other tests have left."""
    settings.CASINO_METRICS_TOKEN_FILE = token_file(tmp_path)
    monkeypatch.setattr(state, "GOOD_FOR", 0.0)
    monkeypatch.setattr(state, "House", SimpleNamespace(objects=House.objects.filter(opened_at__gte=timezone.now())))


def of_house(kit: Kit, name: str) -> float:
    samples = scraped(kit.http(None))
    return samples[name, frozenset({("house", kit.house.code), ("sandbox", "1")})]


# --- Who may read -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", [None, "Bearer wrong-token-of-thirty-chars", f"Basic {TOKEN}", TOKEN, "Bearer "])
def test_without_the_token_nobody_reads(kit: Kit, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    answer = kit.http(None).get("/metrics", headers=headers)
    assert_problem(answer, 403, "forbidden")
    assert "cukassza" not in answer.text.replace("urn:cukassza", "")


def test_with_nothing_set_nobody_reads(kit: Kit, settings: Any) -> None:
    settings.CASINO_METRICS_TOKEN_FILE = None
    assert_problem(kit.http(None).get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}), 403, "forbidden")


def test_a_short_token_is_none(kit: Kit, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "short").write_text("short")
    settings.CASINO_METRICS_TOKEN_FILE = tmp_path / "short"
    assert_problem(kit.http(None).get("/metrics", headers={"Authorization": "Bearer short"}), 403, "forbidden")


def test_a_token_that_cannot_be_read_lets_nobody_in(
    kit: Kit, settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CASINO_METRICS_TOKEN_FILE = tmp_path / "none"
    assert_problem(kit.http(None).get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}), 403, "forbidden")
    assert "the token of /metrics cannot be read" in caplog.text


@pytest.mark.parametrize(
    ("networks", "token", "status"),
    [
        ("127.0.0.1", None, 200),
        ("10.0.0.0/8,127.0.0.0/8", None, 200),
        ("10.0.0.0/8", None, 403),
        ("10.0.0.0/8", TOKEN, 403),
        ("127.0.0.1", TOKEN, 200),
    ],
)
def test_addresses_alone_and_with_a_token(
    kit: Kit, settings: Any, networks: str, token: str | None, status: int
) -> None:
    [one] = [one for one in configuration.declared() if one.field == "metrics_from"]
    settings.CASINO_METRICS_FROM = list(map(ip_network, one.kind.parse(networks)))
    if token is None:
        settings.CASINO_METRICS_TOKEN_FILE = None
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    assert kit.http(None).get("/metrics", headers=headers).status_code == status
    if token is not None:
        assert kit.http(None).get("/metrics").status_code == 403, "both are asked for"
    with pytest.raises(ValueError, match="networks"):
        one.kind.parse("10.0.0.1/8")


# --- What is counted --------------------------------------------------------------------------------------------------


def test_requests_refusals_and_actions_are_counted(kit: Kit) -> None:
    before = scraped(kit.http(None))
    dealer = kit.worked_hand()
    kit.settle()
    refused = dealer.post("hands", {"mode": "physical"}, version=1)
    assert_problem(refused, 412, "version_conflict")
    assert_problem(kit.http(None).get("/api/v1/house"), 401, "not_authenticated")
    assert kit.http(None).get("/no/such/address").status_code == 404
    after = scraped(kit.http(None))

    def grown(name: str, **labels: str) -> float:
        return value(after, name, **labels) - value(before, name, **labels)

    assert grown("cukassza_requests_total", operation="act", method="POST", status="2xx") == 2
    assert grown("cukassza_requests_total", operation="dealHand", method="POST", status="2xx") == 1
    assert grown("cukassza_requests_total", operation="dealHand", method="POST", status="4xx") == 1
    assert grown("cukassza_requests_total", operation="none", method="GET", status="4xx") == 1
    assert grown("cukassza_request_seconds_count", operation="act") == 2
    assert 0 < grown("cukassza_request_seconds_sum", operation="act") < 60
    assert grown("cukassza_refusals_total", operation="dealHand", code="version_conflict") == 1
    assert grown("cukassza_refusals_total", operation="readHouse", code="not_authenticated") == 1
    assert grown("cukassza_actions_total", game="ferbli") == len(SAMPLE)


def test_an_action_that_was_refused_or_repeated_is_not_counted(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    before = value(scraped(kit.http(None)), "cukassza_actions_total", game="ferbli")
    version = dealer.version
    for _ in range(2):
        dealer.ok("hand/actions", {"actions": [{"actor": "p1", "verb": "po", "amount": 100}]}, key="k", version=version)
    assert dealer.post("hand/actions", {"actions": [{"actor": "p4", "verb": "k"}]}).status_code == 422
    assert value(scraped(kit.http(None)), "cukassza_actions_total", game="ferbli") - before == 1


def test_labels_are_those_that_are_declared(kit: Kit) -> None:
    kit.worked_hand()
    by_series = {series: metric for metric in declared.EVERY for series in metric.series}
    # What the library adds: when a counter or a histogram began.
    found = {name for name, _ in scraped(kit.http(None))}
    created = {name for name in found if name.endswith("_created")}
    assert found - created <= by_series.keys()
    for name, labels in scraped(kit.http(None)):
        if name not in created:
            assert {label for label, _ in labels} - {"le"} == set(by_series[name].labels), name
    assert len(by_series) == sum(len(metric.series) for metric in declared.EVERY), "each name once"


def test_processes_that_share_a_folder_are_added_up(tmp_path: Path, settings: Any) -> None:
    """Two processes count; both have ended when a third one adds up, and only the start of a new web forgets them."""
    counts = (
        "import os, sys; os.environ['PROMETHEUS_MULTIPROC_DIR'] = sys.argv[1]\n"
        "from casino.core import measured\n"
        "measured.request_ended('act', 'POST', 200, 0.02)"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", counts, str(tmp_path)], check=True)
    settings.CASINO_METRICS_DIR = tmp_path
    text = exposition.text().decode()
    assert 'cukassza_requests_total{method="POST",operation="act",status="2xx"} 2.0' in text
    assert 'cukassza_request_seconds_bucket{le="0.025",operation="act"} 2.0' in text
    begins = "import sys; from pathlib import Path; from casino.core import shared_counts\n"
    subprocess.run([sys.executable, "-c", f"{begins}shared_counts.share(Path(sys.argv[1]))", str(tmp_path)], check=True)
    assert list(tmp_path.glob("*.db")) == []


# --- The state --------------------------------------------------------------------------------------------------------


def test_a_hand_that_is_not_settled_is_seen(kit: Kit) -> None:
    assert of_house(kit, "cukassza_unsettled_seconds") == 0
    kit.worked_hand()
    assert 0 < of_house(kit, "cukassza_unsettled_seconds") < 60
    kit.settle()
    assert of_house(kit, "cukassza_unsettled_seconds") == 0


def test_a_disputed_table_is_seen(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    assert of_house(kit, "cukassza_disputed_tables") == 0
    floor = kit.dealer(role=Role.FLOOR)
    floor.version = dealer.version
    floor.ok("hand/dispute", {"hand": "T1-000001", "reason": "a card was seen"})
    assert of_house(kit, "cukassza_disputed_tables") == 1


def test_an_imbalance_counts_while_it_is_open(kit: Kit) -> None:
    assert of_house(kit, "cukassza_imbalances") == 0
    row = Imbalance.objects.create(house=kit.house, found={"nine": 1})
    assert of_house(kit, "cukassza_imbalances") == 1
    Imbalance.objects.filter(id=row.id).update(cleared_at=row.found_at)
    assert of_house(kit, "cukassza_imbalances") == 0


def test_a_log_that_is_behind_and_a_folder_that_is_behind_are_seen(kit: Kit, settings: Any) -> None:
    assert of_house(kit, "cukassza_log_waiting_events") > 0 and of_house(kit, "cukassza_log_behind_seconds") > 0
    kit.sequence()
    assert of_house(kit, "cukassza_log_waiting_events") == 0 and of_house(kit, "cukassza_log_behind_seconds") == 0
    assert of_house(kit, "cukassza_house_read_only") == 0
    labels = {"house": kit.house.code, "sandbox": "1", "folder": "1"}
    assert value(scraped(kit.http(None)), "cukassza_outside_folder_lag_leaves", **labels) == 0
    [folder] = settings.CASINO_CHECKPOINT_DIRS
    [path] = folder.glob(f"*{kit.house.code}*.checkpoints")
    kept, size = path.read_bytes(), value(scraped(kit.http(None)), "cukassza_outside_folder_lag_leaves", **labels)
    path.write_bytes(b"")
    try:
        size = value(scraped(kit.http(None)), "cukassza_outside_folder_lag_leaves", **labels)
        assert size > 0
    finally:
        path.write_bytes(kept)


def test_the_outbox_is_seen_by_task(kit: Kit) -> None:
    def found(name: str) -> float:
        return value(scraped(kit.http(None)), name, task=runs.TASK)

    before = found("cukassza_outbox_open_messages"), found("cukassza_outbox_failed_messages")
    message = OutboxMessage.objects.create(house=kit.house, task=runs.TASK, subject="1", last_error="X: no room")
    assert (found("cukassza_outbox_open_messages"), found("cukassza_outbox_failed_messages")) == (
        before[0] + 1, before[1] + 1,
    )  # fmt: skip
    assert found("cukassza_outbox_oldest_seconds") > 0
    OutboxMessage.objects.filter(id=message.id).update(done_at=message.created_at)
    assert found("cukassza_outbox_open_messages") == before[0]


def test_what_is_kept_for_a_time_is_counted_with_its_age(kit: Kit) -> None:
    kit.worked_hand()
    kit.settle()
    with unguarded("staff_answeredrequest", "houses_outboxmessage") as cursor:
        cursor.execute("UPDATE staff_answeredrequest SET at = at - interval '50 days'")
        cursor.execute("UPDATE houses_outboxmessage SET done_at = done_at - interval '50 days'")
    samples = scraped(kit.http(None))
    assert value(samples, "cukassza_outbox_messages") >= 0
    for name in ("cukassza_answered_requests_oldest_seconds", "cukassza_outbox_done_oldest_seconds"):
        assert value(samples, name) >= 50 * 86_400


def test_pruning_that_stands_still_is_seen_beyond_the_longest_days_of_any_house(kit: Kit) -> None:
    def late() -> float:
        return value(scraped(kit.http(None)), "cukassza_pruning_late_seconds")

    kit.worked_hand()
    with unguarded("staff_answeredrequest") as cursor:
        cursor.execute("UPDATE staff_answeredrequest SET at = clock_timestamp() - interval '80 days'")
    assert late() == 0
    longest, other = 2 * control_points.in_force(kit.house).retain_answers_days, Kit.found(bare=True)
    set_at_founding(house=other.house, points={"retain_answers_days": longest}, actor=ACTOR)
    with unguarded("staff_answeredrequest") as cursor:
        statement = "UPDATE staff_answeredrequest SET at = clock_timestamp() - make_interval(days => %s + 2)"
        cursor.execute(statement, [longest])
    in_force = LegalHold.objects.filter(lifted_at=None)
    assert late() == 0 if in_force.exists() else 2 * 86_400 <= late() < 2 * 86_400 + 60
    held(kit, {"scope": "house", "reason": "the authority asks"})
    assert late() == 0
    other.close()


def test_parts_are_heard_of_or_not(kit: Kit, own_valkey: str, settings: Any) -> None:
    settings.REDIS_URL = own_valkey
    silent = {part: value(scraped(kit.http(None)), "cukassza_heartbeat_age_seconds", part=part) for part in Part}
    assert set(silent.values()) == {math.inf}
    heartbeat.live(Part.SEQUENCER, 3)
    samples = scraped(kit.http(None))
    assert value(samples, "cukassza_heartbeat_age_seconds", part="sequencer") <= 2
    assert value(samples, "cukassza_heartbeat_age_seconds", part="beat") == math.inf
    assert value(samples, "cukassza_sequencer_refused_logs") == 3
    with heartbeat.broker() as client:
        client.rpush(heartbeat.prefixed("settlement"), "one", "two")
    assert value(scraped(kit.http(None)), "cukassza_queue_messages", queue="settlement") == 2


def test_the_last_verification_is_seen(kit: Kit, own_valkey: str, settings: Any) -> None:
    settings.REDIS_URL = own_valkey
    name = "cukassza_verification_findings"
    assert (name, frozenset({("house", kit.house.code), ("sandbox", "1")})) not in scraped(kit.http(None))
    found = verifying.verification(kit.house)
    assert of_house(kit, name) == sum(found["audit_findings_by_code"].values()) + len(found["hand_findings"])
    kit.sequence()
    assert verifying.verification(kit.house)["ok"]
    assert of_house(kit, name) == 0 and of_house(kit, "cukassza_verified_timestamp_seconds") > 1.7e9


def test_backups_and_drills_are_seen_where_they_are_noted(kit: Kit, settings: Any, tmp_path: Path) -> None:
    assert not {name for name, _ in scraped(kit.http(None)) if "backup" in name or "drill" in name}
    settings.CASINO_BACKUP_RECORDS = tmp_path
    samples = scraped(kit.http(None))
    assert samples["cukassza_backup_timestamp_seconds", frozenset({("repository", "1")})] == 0, "never"
    records.keep(tmp_path, records.BACKUP, {"repositories": {"1": {"good_at": 100.0}, "2": {"good_at": 200.0}}})
    records.keep(tmp_path, records.DRILL, {"good_at": 300.0, "ok": False, "problems": ["bad"]})
    samples = scraped(kit.http(None))
    assert value(samples, "cukassza_backup_timestamp_seconds", repository="2") == 200
    assert value(samples, "cukassza_restore_drill_timestamp_seconds") == 300
    assert value(samples, "cukassza_restore_drill_failed") == 1
    (tmp_path / records.DRILL).write_text("{")
    assert value(scraped(kit.http(None)), "cukassza_scrape_failed", source="backups") == 1


def test_the_server_of_the_database_is_seen(kit: Kit) -> None:
    samples = scraped(kit.http(None))
    assert value(samples, "cukassza_database_connections") >= 1
    assert value(samples, "cukassza_database_size_bytes") > 1_000_000
    assert value(samples, "cukassza_database_xid_age") > 0
    for name in ("database_in_recovery", "synchronous_standby_wanted", "standbys", "database_sync_waits"):
        assert samples[f"cukassza_{name}", frozenset()] == 0


def test_a_session_that_holds_another_up_is_seen(kit: Kit) -> None:
    """The application's role sees its own sessions whole, and the locks of everybody."""
    lock = "SELECT pg_advisory_lock(4711)"
    with psycopg.connect(os.environ["DATABASE_URL"]) as holder, psycopg.connect(os.environ["DATABASE_URL"]) as other:
        holder.execute(lock)
        waiter = threading.Thread(target=other.execute, args=[lock])
        waiter.start()
        try:
            seen: dict[Any, float] = {}

            def are_seen() -> bool:
                """Locks are those of everybody on the server: another's may have waited for longer than ours."""
                seen.update(scraped(kit.http(None)))
                names = ("cukassza_database_lock_wait_seconds", "cukassza_database_idle_transaction_seconds")
                return all(value(seen, name) > 0.2 for name in names)

            assert wait_until(are_seen, seconds=20)
            assert value(seen, "cukassza_database_lock_waits") >= 1
        finally:
            holder.rollback()
            holder.execute("SELECT pg_advisory_unlock_all()")
            waiter.join()
        # Locks of the whole server are counted, so others may wait for a moment.
        assert wait_until(lambda: value(scraped(kit.http(None)), "cukassza_database_lock_waits") == 0, seconds=20)


@pytest.mark.parametrize("source", sorted(state.SOURCES))
def test_a_part_that_cannot_be_read_takes_no_other_with_it(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    def away() -> Iterator[state.Sample]:
        raise OperationalError("away")
        yield

    monkeypatch.setattr(state, "SOURCES", {**state.SOURCES, source: away})
    samples = scraped(kit.http(None))
    for name in state.SOURCES:
        assert value(samples, "cukassza_scrape_failed", source=name) == (name == source)
    assert f"metrics of {source} cannot be read: away" in caplog.text


def test_without_the_broker_the_houses_are_still_there(kit: Kit, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    samples = scraped(kit.http(None))
    failed = {name for name in state.SOURCES if value(samples, "cukassza_scrape_failed", source=name)}
    assert failed == {"broker", "verifications"}
    mine = {name for name, labels in samples if ("house", kit.house.code) in labels}
    assert {"cukassza_unsettled_seconds", "cukassza_disputed_tables", "cukassza_log_behind_seconds"} <= mine


def test_what_was_read_is_good_for_a_moment(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    scraped(kit.http(None))
    monkeypatch.setattr(state, "GOOD_FOR", 60.0)
    scraped(kit.http(None))
    monkeypatch.setattr(state, "read", lambda: pytest.fail("read again"))
    try:
        scraped(kit.http(None))
    finally:
        exposition._STATE._until = 0.0


def test_wrong_settings_stop_the_process() -> None:
    fields = {one.field: one.kind.parse for one in configuration.declared()}
    for name, given in (("log_format", "xml"), ("metrics_from", "everybody")):
        with pytest.raises((ValueError, ImproperlyConfigured)):
            fields[name](given)
