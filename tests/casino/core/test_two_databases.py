"""Two databases on one broker: no worker takes the other's hints, and a hint that strays is refused."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from casino.celery import SETTLEMENT, queue_prefix
from casino.core import outbox
from casino.hands.models import Hand, HandState
from deploy.embedded.process import wait_until
from deploy.processes import Processes, Program, application, listen
from tests.casino.kit import Kit
from tests.services import TestServices, worker_name

ROOT = Path(__file__).resolve().parents[3]
#: Where Celery keeps what nobody has taken yet, below the prefix.
QUEUE = SETTLEMENT
#: Sends a task from another database's environment, to the queue of settlements.
SEND = (
    "import django; django.setup(); from casino.celery import SETTLEMENT, app;"
    "app.send_task('hands.sweep_outbox', queue=SETTLEMENT)"
)


@pytest.fixture
def second(services: TestServices) -> Iterator[dict[str, str]]:
    """The environment of another database, migrated or copied from one that was, on the same broker."""
    other = copy.copy(services)
    other.database = f"test_casino_{worker_name()}b_{os.getpid()}"
    environ = {**os.environ, **other.environ()}
    migrate = ("manage.py", "migrate", "--database", "owner", "--verbosity", "0")
    other.create_database(migrate=lambda: run(environ, *migrate), durable=False)
    try:
        yield environ
    finally:
        other.drop_database()


def run(environ: dict[str, str], *command: str) -> None:
    """Run Python in another database's environment."""
    subprocess.run([sys.executable, *command], env=environ, cwd=ROOT, check=True, timeout=120)


def worker(environ: dict[str, str], folder: Path) -> Processes:
    """The application's worker alone."""
    with listen(0) as listener:
        [program] = [one for one in application(listener) if one.name == "worker"]
    return Processes([Program(program.name, program.command)], environ=environ, log_dir=folder)


def waiting(broker: redis.Redis, prefix: str) -> int:
    """How many hints of a database nobody has taken."""
    return int(broker.llen(f"{prefix}{QUEUE}"))


@pytest.mark.slow
def test_no_worker_takes_the_hints_of_another_database(
    kit: Kit, second: dict[str, str], tmp_path: Path, settings: object
) -> None:
    broker = redis.Redis.from_url(os.environ["REDIS_URL"])
    here = settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"]  # type: ignore[attr-defined]
    broker.flushdb()
    kit.worked_hand()
    assert outbox.HINTS.drain(60)
    assert waiting(broker, here) == 1
    run(second, "-c", SEND)
    queues = {key.decode() for key in broker.keys(f"*:{QUEUE}")}
    (there,) = {queue.removesuffix(QUEUE) for queue in queues} - {here}
    with worker(second, tmp_path / "second"):
        assert wait_until(lambda: waiting(broker, there) == 0, seconds=60), "the other worker takes its own"
        assert not wait_until(lambda: waiting(broker, here) == 0, seconds=3)
    with worker(dict(os.environ), tmp_path / "first"):
        assert wait_until(lambda: Hand.objects.get(house=kit.house).state == HandState.SETTLED, seconds=60)


def test_processes_of_one_database_agree_on_its_queues_and_others_do_not() -> None:
    base = {"HOST": "/run/pg", "PORT": "", "NAME": "casino", "USER": "casino_app", "OPTIONS": {}}
    same = (base | {"USER": "casino"}, base | {"PORT": 5432}, {"NAME": "casino", "OPTIONS": {"host": "/run/pg"}})
    others = (base | {"NAME": "casino2"}, base | {"HOST": "db2"}, base | {"PORT": 5433})
    assert {queue_prefix(one) for one in same} == {queue_prefix(base)}
    assert len({queue_prefix(one) for one in (base, *others)}) == 4
