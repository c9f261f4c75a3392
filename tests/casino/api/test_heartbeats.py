"""/readyz and the parts that nobody asks: beat, the workers, the outbox."""

import os
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from celery.signals import task_prerun
from django.utils import timezone

from casino.api import health
from casino.audit.management.commands.sequence_audit import SignOfLife
from casino.core import heartbeat, outbox
from casino.core.heartbeat import Part
from casino.houses.models import House, OutboxMessage
from casino.houses.tasks import canary
from casino.reports import runs
from tests.casino.kit import Kit


def failed(kit: Kit) -> list[tuple[str, str]]:
    """The failed checks and their codes; /readyz is 503 exactly when there are some."""
    answer = kit.http(None).get("/readyz")
    found = [(one["check"], one["code"]) for one in answer.json().get("failed", ())]
    assert answer.status_code == (503 if found else 200), answer.text
    return found


def silence(*parts: Part) -> None:
    """Let the signs of life of these parts expire now."""
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as broker:
        for part in parts:
            assert broker.delete(*broker.keys(f"*alive:{part}")) == 1


@pytest.mark.usefixtures("all_running")
def test_a_worker_that_runs_no_task_is_silent_until_it_runs_one(kit: Kit) -> None:
    assert failed(kit) == []
    silence(Part.WORKER)
    assert failed(kit) == [("worker", "worker_silent")]
    canary()
    assert failed(kit) == []


@pytest.mark.usefixtures("all_running")
def test_beat_that_sends_nothing_is_silent_and_no_worker_is_blamed(kit: Kit) -> None:
    silence(Part.BEAT, Part.WORKER)
    assert failed(kit) == [("beat", "beat_silent")]


def test_signs_of_life_expire_by_themselves(kit: Kit) -> None:
    heartbeat.live(Part.WORKER)
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as broker:
        [key] = broker.keys("*alive:worker")
        assert 0 < broker.ttl(key) <= heartbeat.SILENT


@pytest.mark.usefixtures("all_running")
def test_one_of_several_workers_that_stands_still_is_counted(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted() -> int:
        answer = kit.http(None).get("/readyz").json()
        assert "workers" in answer["checks"] and "broken@here" not in str(answer), "anybody may ask"
        count: int = answer.get("silent_worker_count", 0)
        assert answer["status"] != "ready" or not count
        return count

    heartbeat.heard("broken@here")
    assert counted() == 0
    monkeypatch.setattr(heartbeat, "SILENT", 0)
    assert counted() == 1
    monkeypatch.setattr(heartbeat, "FORGOTTEN", 0)
    assert counted() == 0, "it was taken out of service"
    monkeypatch.undo()
    heartbeat.heard("broken@here")
    monkeypatch.setattr(heartbeat, "SILENT", 0)
    assert heartbeat.silent_workers() == ["broken@here"]
    heartbeat._worker_ends(SimpleNamespace(hostname="broken@here"))
    assert heartbeat.silent_workers() == []


def test_a_worker_notes_when_it_begins_tasks_but_not_each_time(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []
    monkeypatch.setattr(heartbeat, "heard", noted.append)
    monkeypatch.setattr(heartbeat._OfThisProcess, "noted", 0.0)
    begun = (("files@here", "files"), (None, None), ("worker@here", "houses"), ("worker@here", "houses"))
    for hostname, queue in begun:
        request = SimpleNamespace(hostname=hostname, delivery_info=queue and {"routing_key": queue})
        task_prerun.send(sender=canary, task=SimpleNamespace(request=request))
    assert noted == ["worker@here"]


def test_a_report_may_take_minutes(kit: Kit) -> None:
    others = list(House.objects.exclude(id=kit.house.id).values_list("code", flat=True))
    for subject, minutes in enumerate((14, 16)):
        begun = timezone.now() - timedelta(minutes=minutes)
        OutboxMessage.objects.create(house=kit.house, task=runs.TASK, subject=subject, created_at=begun)
        assert (outbox.waiting_for(others) > 0) is (minutes > 15)


@pytest.mark.usefixtures("all_running")
def test_a_message_that_stays_open_is_an_outbox_that_stands_still(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    message = OutboxMessage.objects.create(house=kit.house, task="hands.resolve", subject="0")
    assert failed(kit) == []
    monkeypatch.setattr(health, "STANDS_STILL", 0.0)
    assert failed(kit) == [("outbox", "outbox_stands_still")]
    others = list(House.objects.exclude(id=kit.house.id).values_list("code", flat=True))
    assert 0.0 < outbox.waiting_for(others) < 60.0
    assert outbox.waiting_for([*others, kit.house.code]) == 0.0, "a house that may write nothing works off nothing"
    outbox.done(message.id)
    assert outbox.waiting_for(others) == 0.0


@pytest.mark.usefixtures("all_running")
def test_a_sequencer_that_is_not_heard_of_degrades_and_stops_nobody(kit: Kit) -> None:
    def counted() -> int:
        answer = kit.http(None).get("/readyz")
        assert answer.status_code == 200 and "sequencer" in answer.json()["checks"]
        count: int = answer.json().get("silent_sequencer_count", 0)
        return count

    assert counted() == 0
    silence(Part.SEQUENCER)
    assert counted() == 1
    SignOfLife().leave(0)
    assert counted() == 0


@pytest.mark.usefixtures("all_running")
def test_a_standby_that_commits_wait_for_and_is_not_there_degrades(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "missing_standby_count" not in kit.http(None).get("/readyz").json()
    monkeypatch.setattr(health, "misses_standby", lambda: True)
    answer = kit.http(None).get("/readyz")
    assert (answer.status_code, answer.json()["missing_standby_count"]) == (200, 1)


def test_the_sequencer_says_how_many_logs_cannot_go_on_and_does_not_wait_for_the_broker(
    own_valkey: str, settings: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = own_valkey
    life = SignOfLife()
    life.leave(2)
    assert heartbeat.signs().refused_logs == 2
    life.leave(5)
    assert heartbeat.signs().refused_logs == 2, "a sign every few seconds is enough"
    settings.REDIS_URL = "unix:///no/such/socket"
    away = SignOfLife()
    away.leave(0)
    assert "the broker takes no sign of life" in caplog.text
    monkeypatch.setattr(heartbeat, "live", lambda *_: pytest.fail("asked again at once"))
    away.leave(0)


def test_when_a_part_was_last_heard_of_is_known_after_its_sign_has_expired(own_valkey: str, settings: Any) -> None:
    settings.REDIS_URL = own_valkey
    heartbeat.live(Part.BEAT)
    silence_of(own_valkey, "beat")
    assert heartbeat.is_silent(Part.BEAT)
    assert heartbeat.signs().silent_for.keys() == {Part.BEAT}


def silence_of(url: str, part: str) -> None:
    """Let the sign of life of a part expire on the broker of a test's own."""
    with redis.Redis.from_url(url) as broker:
        assert broker.delete(*broker.keys(f"*alive:{part}")) == 1
