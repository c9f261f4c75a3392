"""Beat's scheduler: clocks that are set, queues that nobody empties."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from celery.beat import ScheduleEntry

from casino import beat
from casino.celery import app
from casino.core import heartbeat


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks that are sent from now on."""
    found: list[str] = []
    monkeypatch.setattr(beat.Scheduler, "apply_async", lambda self, entry, **_: found.append(entry.task))
    monkeypatch.setattr(beat.Scheduler, "producer", None)
    monkeypatch.setattr(heartbeat, "waiting", lambda queue: 0)
    return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> beat.Clock:
    """A scheduler with one entry, each second."""
    found = beat.Clock(app, lazy=True)
    found.add(name="each-second", task="hands.sweep_outbox", schedule=1.0)
    return found


def run_until_quiet(clock: beat.Clock) -> float:
    """Tick until nothing is due; returns the seconds until the next tick."""
    while not (seconds := clock.tick()):
        pass
    return seconds


def at(clock: beat.Clock, monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    """Set beat's clock."""
    monkeypatch.setattr(app, "now", lambda: moment)
    [entry] = clock.schedule.values()
    assert entry.default_now() == moment


def test_beat_keeps_no_times_of_a_clock_that_was_wrong() -> None:
    assert app.conf.beat_scheduler == "casino.beat:Clock"
    assert not hasattr(beat.Clock(app, lazy=True), "schedule_filename")


def test_what_is_sent_at_intervals_is_sent_at_the_start(sent: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    moment = app.now().replace(minute=30)  # no entry by the clock is due then
    monkeypatch.setattr(app, "now", lambda: moment)
    run_until_quiet(beat.Clock(app))
    entries = app.conf.beat_schedule.values()
    assert sorted(sent) == sorted(one["task"] for one in entries if isinstance(one["schedule"], float))


def test_a_clock_that_is_set_back_puts_nothing_off(
    clock: beat.Clock, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = app.now()
    at(clock, monkeypatch, now + timedelta(seconds=2))
    assert 0 < run_until_quiet(clock) <= 1 and len(sent) == 1
    at(clock, monkeypatch, now - timedelta(hours=1))
    assert 0 < run_until_quiet(clock) <= 1 and len(sent) == 1, "within a second, not within an hour"
    at(clock, monkeypatch, now - timedelta(hours=1) + timedelta(seconds=1.1))
    run_until_quiet(clock)
    assert len(sent) == 2


def test_a_clock_that_is_set_ahead_sends_each_entry_once(
    clock: beat.Clock, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at(clock, monkeypatch, app.now() + timedelta(hours=1))
    run_until_quiet(clock)
    assert len(sent) == 1


def test_nothing_is_added_to_a_queue_in_which_messages_pile_up(
    clock: beat.Clock, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = {"celery": beat.FULL}
    monkeypatch.setattr(heartbeat, "waiting", lambda queue: lengths[queue])
    at(clock, monkeypatch, app.now() + timedelta(seconds=2))
    assert 0 < run_until_quiet(clock) <= 1 and sent == [], "it is tried again at its next turn"
    lengths["celery"] -= 1
    at(clock, monkeypatch, app.now() + timedelta(seconds=2))
    run_until_quiet(clock)
    assert sent == ["hands.sweep_outbox"]


def test_beat_lives_although_the_queue_is_full(
    clock: beat.Clock, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lived: list[Any] = []
    monkeypatch.setattr(heartbeat, "waiting", lambda queue: beat.FULL)
    monkeypatch.setattr(heartbeat, "live", lived.append)
    clock.apply_async(ScheduleEntry(name="canary", task=heartbeat.CANARY, schedule=3.0, app=app))
    assert (sent, lived) == ([], [heartbeat.Part.BEAT])
