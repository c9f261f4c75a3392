"""The parts of the installation for people at work: does each do its part for this house, and since when not."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import redis
from django.db.models import Min, TextChoices
from django.utils import timezone

from casino.audit import guard
from casino.audit import selectors as audit
from casino.core import heartbeat
from casino.core.heartbeat import SILENT, Signs
from casino.houses.models import House, OutboxMessage
from casino.live import handover
from casino.metrics.database import misses_standby
from casino.metrics.state import SETTLES
from casino.verification.auditing import SIGNED_WITHIN

#: Seconds after which a hand that is over and not settled says that something stands still.
STANDS_STILL = 60.0


class Part(TextChoices):
    """What is looked at, in the order in which a person looks."""

    WORKER = "worker"
    BEAT = "beat"
    SEQUENCER = "sequencer"
    SETTLEMENT = "settlement"
    LOG = "log"
    DATABASE = "database"
    HINTS = "hints"


class Condition(TextChoices):
    """How a part is."""

    IN_ORDER = "in_order", "in order"
    SILENT = "silent"
    STANDS_STILL = "stands_still", "stands still"
    BEHIND = "behind"
    READ_ONLY = "read_only", "read only"
    WAITS = "waits"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Found:
    """One part: how it is, and since when, where that is known and it is not in order."""

    part: Part
    condition: Condition
    since: datetime | None = None


def parts(house: House) -> list[Found]:
    """Every part, as it is now for a house."""
    now = timezone.now()
    return [*_processes(now), _settlement(house, now), _log(house, now), _database(), _hints()]


def _processes(now: datetime) -> Iterator[Found]:
    try:
        signs = heartbeat.signs()
    except redis.RedisError:
        yield from (Found(part, Condition.UNKNOWN) for part in (Part.WORKER, Part.BEAT, Part.SEQUENCER))
        return
    for part in (Part.WORKER, Part.BEAT, Part.SEQUENCER):
        yield _heard(part, signs, now)


def _heard(part: Part, signs: Signs, now: datetime) -> Found:
    silent_for = signs.silent_for.get(heartbeat.Part(part))
    if silent_for is None:
        return Found(part, Condition.SILENT)
    if silent_for > SILENT:
        return Found(part, Condition.SILENT, now - timedelta(seconds=silent_for))
    return Found(part, Condition.IN_ORDER)


def _settlement(house: House, now: datetime) -> Found:
    open_ones = OutboxMessage.objects.filter(house=house, done_at=None, task__in=SETTLES)
    oldest = open_ones.aggregate(at=Min("created_at"))["at"]
    if oldest is not None and (now - oldest).total_seconds() > STANDS_STILL:
        return Found(Part.SETTLEMENT, Condition.STANDS_STILL, oldest)
    return Found(Part.SETTLEMENT, Condition.IN_ORDER)


def _log(house: House, now: datetime) -> Found:
    if guard.refusal(house) is not None:
        return Found(Part.LOG, Condition.READ_ONLY)
    seconds = audit.behind(SIGNED_WITHIN.total_seconds()).get(house.code)
    if seconds is not None:
        return Found(Part.LOG, Condition.BEHIND, now - timedelta(seconds=seconds))
    return Found(Part.LOG, Condition.IN_ORDER)


def _database() -> Found:
    """The database has answered, or nobody could be asked; it may wait for a standby."""
    return Found(Part.DATABASE, Condition.WAITS if misses_standby() else Condition.IN_ORDER)


def _hints() -> Found:
    return Found(Part.HINTS, Condition.IN_ORDER if handover.is_alive() else Condition.SILENT)
