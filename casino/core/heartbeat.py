"""Signs of life of workers, beat and the sequencer.

Beat sends a canary task every few seconds, and a worker runs it. Each of the two leaves a key on the broker that
expires by itself: while it is there, its part has run within the last `SILENT` seconds. The broker is the place because
nothing that lies there needs to be kept, no clock of another machine is compared, and it costs the database nothing; a
broker that has lost its content has the keys again with the next canary.

Each worker also notes by its name when it last began a task. So one of several that stands still is seen although the
others run the canaries.

The sequencer leaves its sign between two rounds, with the number of houses whose log it cannot let go on.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import redis
from celery.signals import after_task_publish, task_prerun, worker_shutdown
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from casino.celery import FILES, HOUSES, SETTLEMENT

CANARY = "houses.canary"
#: Every queue; the second is Celery's default.
QUEUES = (SETTLEMENT, "celery", HOUSES, FILES)
#: Seconds between two canaries.
EVERY = 3.0
#: Seconds after which a part that was not heard of stands still. Below it a worker or beat may be started again.
SILENT = 20
#: Seconds after which a worker that was not heard of is taken to have been taken out of service.
FORGOTTEN = 600
#: The sorted set of workers by the time of their last task.
WORKERS = "workers"
#: The sorted set of parts by the time of their last sign of life: it is kept when the sign has expired.
PARTS = "parts"
#: Seconds that the broker is given to answer.
PATIENCE = 2.0


class Part(StrEnum):
    """What is listened to."""

    BEAT = "beat"
    WORKER = "worker"
    SEQUENCER = "sequencer"


@dataclass(frozen=True, slots=True)
class Signs:
    """What the broker knows of the parts at one time: for how many seconds each was silent (one that is missing was
    never heard of), the houses whose log the sequencer cannot let go on, and the messages that wait in each queue."""

    silent_for: Mapping[Part, float]
    refused_logs: int
    waiting: Mapping[str, int]


def broker() -> redis.Redis:
    """A client of the broker that waits for no more than `PATIENCE`, and does not try again."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=PATIENCE,
        socket_connect_timeout=PATIENCE,
        retry=Retry(NoBackoff(), 0),
    )


def live(part: Part, value: int = 1) -> None:
    """Leave a sign of life, and a number with it. Raises RedisError."""
    with broker() as client:
        pipeline = client.pipeline(transaction=False)
        pipeline.set(_key(part), value, px=SILENT * 1000)
        pipeline.zadd(prefixed(PARTS), {part: _now(client)})
        pipeline.execute()


def is_silent(part: Part) -> bool:
    """Whether a part has given no sign of life for `SILENT` seconds. Raises RedisError."""
    with broker() as client:
        return not client.exists(_key(part))


def signs() -> Signs:
    """What the broker knows now. Raises RedisError."""
    with broker() as client:
        now = _now(client)
        pipeline = client.pipeline(transaction=False)
        pipeline.zrange(prefixed(PARTS), 0, -1, withscores=True)
        pipeline.get(_key(Part.SEQUENCER))
        for queue in QUEUES:
            pipeline.llen(prefixed(queue))
        heard_of, refused, *lengths = pipeline.execute()
    last = {name.decode(): score for name, score in heard_of}
    return Signs(
        {part: max(0.0, now - last[part]) for part in Part if part in last},
        int(refused or 0),
        dict(zip(QUEUES, lengths, strict=True)),
    )


def heard(worker: str) -> None:
    """Note that the worker of this name lives. Raises RedisError."""
    with broker() as client:
        client.zadd(prefixed(WORKERS), {worker: _now(client)})


def left(worker: str) -> None:
    """Forget a worker that ends in good order. Raises RedisError."""
    with broker() as client:
        client.zrem(prefixed(WORKERS), worker)


def silent_workers() -> list[str]:
    """The names of the workers that have begun no task for `SILENT` seconds, and had within `FORGOTTEN`. Raises
    RedisError."""
    with broker() as client:
        now = _now(client)
        client.zremrangebyscore(prefixed(WORKERS), "-inf", now - FORGOTTEN)
        found = client.zrangebyscore(prefixed(WORKERS), "-inf", now - SILENT)
    assert isinstance(found, list)  # noqa: S101 - narrows the sync-or-async return type of redis-py
    return [name.decode() for name in found]


def waiting(queue: str) -> int:
    """How many messages wait in a queue. Raises RedisError."""
    with broker() as client:
        found = client.llen(prefixed(queue))
    assert isinstance(found, int)  # noqa: S101 - as above
    return found


def _now(client: redis.Redis) -> int:
    """The broker's time, in seconds: the workers' clocks may differ."""
    seconds, _ = client.time()
    return int(seconds)


def prefixed(name: str) -> str:
    """A name on the broker; databases that share a broker have their own."""
    return f"{settings.CELERY_BROKER_TRANSPORT_OPTIONS['global_keyprefix']}{name}"


def _key(part: Part) -> str:
    """The name of a part's key."""
    return prefixed(f"alive:{part}")


def _canary_sent(**_: Any) -> None:
    live(Part.BEAT)


class _OfThisProcess:
    """When this process last noted that its worker lives: every task would be a command to the broker too many."""

    noted = 0.0

    @classmethod
    def task_begins(cls, task: Any, **_: Any) -> None:
        """Note it, for a task that a worker runs; called as a function it has no worker. A worker that makes files runs
        no canary and may have nothing to do for days: it is not expected to be heard of."""
        worker, now = task.request.hostname, time.monotonic()
        makes_files = (task.request.delivery_info or {}).get("routing_key") == FILES
        if worker is not None and not makes_files and now - cls.noted > EVERY:
            heard(worker)
            cls.noted = now


def _worker_ends(sender: Any, **_: Any) -> None:
    left(sender.hostname)


# Only beat sends this task, so the signal is beat's.
after_task_publish.connect(_canary_sent, sender=CANARY, weak=False)
task_prerun.connect(_OfThisProcess.task_begins, weak=False)
worker_shutdown.connect(_worker_ends, weak=False)
