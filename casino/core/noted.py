"""What the last verification of each house has found, and how many spans workers have dropped, for those who watch.

It is kept on the broker, which may lose it.
"""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import redis

from casino.core import heartbeat

log = logging.getLogger(__name__)

#: The hash of the last verifications, by code of the house.
VERIFIED = "verified"
#: The number of spans that workers have dropped.
SPANS = "spans_dropped"


@dataclass(frozen=True, slots=True)
class Verified:
    """When a house was last verified, in seconds since 1970, how many findings there were, and when it was last read
    whole and not from a mark on."""

    at: float
    findings: int
    whole_at: float


def verified(house: str, findings: int, whole_at: datetime | None = None) -> None:
    """Keep what was found in a house; `whole_at` is when it was last read whole, where it was not now. A broker that is
    away is logged: the finding itself does not depend on it."""
    now = time.time()
    whole = now if whole_at is None else whole_at.timestamp()
    try:
        with heartbeat.broker() as client:
            client.hset(heartbeat.prefixed(VERIFIED), house, json.dumps([now, findings, whole]))
    except redis.RedisError as error:
        log.warning("that house %s was verified is noted nowhere: %s", house, error)


def verifications() -> Mapping[str, Verified]:
    """The last verification of each house, by its code. Raises RedisError."""
    with heartbeat.broker() as client:
        found = client.hgetall(heartbeat.prefixed(VERIFIED))
    assert isinstance(found, dict)  # noqa: S101 - narrows the sync-or-async return type of redis-py
    return {house.decode(): Verified(*json.loads(text)) for house, text in found.items()}


def spans_dropped(count: int, reason: str) -> None:
    """Add spans that this worker has dropped. A broker that is away is logged."""
    try:
        with heartbeat.broker() as client:
            client.incrby(heartbeat.prefixed(SPANS), count)
    except redis.RedisError as error:
        log.warning("that %d spans were dropped (%s) is noted nowhere: %s", count, reason, error)


def dropped_spans() -> int:
    """How many spans workers have dropped, as far as the broker knows. Raises RedisError."""
    with heartbeat.broker() as client:
        found = client.get(heartbeat.prefixed(SPANS))
    return int(found) if isinstance(found, bytes) else 0
