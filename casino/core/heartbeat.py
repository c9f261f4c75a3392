"""Signs of life of worker and beat.

Beat sends a canary task every few seconds, and a worker runs it. Each of the two leaves a key on the broker that
expires by itself: while it is there, its part has run within the last `SILENT` seconds. The broker is the place because
nothing that lies there needs to be kept, no clock of another machine is compared, and it costs the database nothing; a
broker that has lost its content has the keys again with the next canary.
"""

from enum import StrEnum
from typing import Any

import redis
from celery.signals import after_task_publish
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

CANARY = "houses.canary"
#: Seconds between two canaries.
EVERY = 3.0
#: Seconds after which a part that was not heard of stands still. Below it a worker or beat may be started again.
SILENT = 20
#: Seconds that the broker is given to answer.
PATIENCE = 2.0


class Part(StrEnum):
    """What is listened to."""

    BEAT = "beat"
    WORKER = "worker"


def broker() -> redis.Redis:
    """A client of the broker that waits for no more than `PATIENCE`, and does not try again."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=PATIENCE,
        socket_connect_timeout=PATIENCE,
        retry=Retry(NoBackoff(), 0),
    )


def live(part: Part) -> None:
    """Leave a sign of life. Raises RedisError."""
    with broker() as client:
        client.set(_key(part), 1, px=SILENT * 1000)


def is_silent(part: Part) -> bool:
    """Whether a part has given no sign of life for `SILENT` seconds. Raises RedisError."""
    with broker() as client:
        return not client.exists(_key(part))


def _key(part: Part) -> str:
    """The name of a part's key; databases that share a broker have their own."""
    return f"{settings.CELERY_BROKER_TRANSPORT_OPTIONS['global_keyprefix']}alive:{part}"


def _canary_sent(**_: Any) -> None:
    live(Part.BEAT)


# Only beat sends this task, so the signal is beat's.
after_task_publish.connect(_canary_sent, sender=CANARY, weak=False)
