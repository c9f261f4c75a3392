"""What the last verification of each house has found, for those who watch: kept on the broker, which may lose it."""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

import redis

from casino.core import heartbeat

log = logging.getLogger(__name__)

#: The hash of the last verifications, by code of the house.
VERIFIED = "verified"


@dataclass(frozen=True, slots=True)
class Verified:
    """When a house was last verified, in seconds since 1970, and how many findings there were."""

    at: float
    findings: int


def verified(house: str, findings: int) -> None:
    """Keep what was found in a house. A broker that is away is logged: the finding itself does not depend on it."""
    try:
        with heartbeat.broker() as client:
            client.hset(heartbeat.prefixed(VERIFIED), house, json.dumps([time.time(), findings]))
    except redis.RedisError as error:
        log.warning("that house %s was verified is noted nowhere: %s", house, error)


def verifications() -> Mapping[str, Verified]:
    """The last verification of each house, by its code. Raises RedisError."""
    with heartbeat.broker() as client:
        found = client.hgetall(heartbeat.prefixed(VERIFIED))
    assert isinstance(found, dict)  # noqa: S101 - narrows the sync-or-async return type of redis-py
    return {house.decode(): Verified(*json.loads(text)) for house, text in found.items()}
