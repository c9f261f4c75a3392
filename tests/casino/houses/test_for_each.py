"""What the clock has done in every house: a task of its own for each, in a queue behind which nothing waits."""

from typing import Any

import pytest
from django.conf import settings

from casino.celery import HOUSES, SETTLEMENT, app
from casino.core import heartbeat
from casino.houses import tasks
from casino.houses.models import House
from deploy.processes import QUEUES
from tests.casino.kit import Kit


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What is sent to the broker from now on."""
    found: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(app, "send_task", lambda name, **options: found.append((name, options)))
    return found


def test_each_house_has_a_task_of_its_own(kit: Kit, sent: list[tuple[str, dict[str, Any]]]) -> None:
    other = Kit.found()
    assert tasks.for_each("reports.check_custody") == House.objects.count() == len(sent)
    named = [options["args"] for name, options in sent if name == "reports.check_custody"]
    assert named.count([str(kit.house.id)]) == named.count([str(other.house.id)]) == 1
    assert all((options["queue"], "expires" in options) == (HOUSES, False) for _, options in sent)


def test_no_house_is_sent_more_while_its_tasks_are_not_done(
    kit: Kit, sent: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tasks.WAITING * House.objects.count()
    monkeypatch.setattr(heartbeat, "waiting", {HOUSES: full + 1}.__getitem__)
    assert tasks.for_each("reports.check_custody") == 0 and sent == []
    monkeypatch.setattr(heartbeat, "waiting", {HOUSES: full}.__getitem__)
    assert tasks.for_each("reports.check_custody") == len(sent) > 0


def test_the_workers_take_settlements_first_and_checks_of_houses_last() -> None:
    assert QUEUES.split(",") == [SETTLEMENT, app.conf.task_default_queue, HOUSES]


def test_nothing_expires_by_a_worker_s_clock() -> None:
    entries = settings.CELERY_BEAT_SCHEDULE.values()
    assert sum(entry["task"] == "houses.for_each" for entry in entries) in range(4, tasks.WAITING)
    assert not any("options" in entry for entry in entries)


def test_a_house_that_is_not_there_is_an_error(live_db: None) -> None:
    with pytest.raises(House.DoesNotExist):
        tasks.named("00000000-0000-0000-0000-000000000000")
