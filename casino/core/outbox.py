"""Transactional outbox: rows written with the change they follow. After the commit Celery gets a hint; the sweeper
sends rows that are still open after a while."""

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db.models import F, Min, Q
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from casino.celery import app
from casino.core import sql
from casino.core.hints import Hints
from casino.houses.models import ClockTimestamp, OutboxMessage

log = logging.getLogger(__name__)


def publish(message: OutboxMessage) -> bool:
    """Send the hint to the broker; returns whether the broker took it. A broker that is away loses nothing: the sweeper
    sends the row again."""
    try:
        app.send_task(message.task, args=[str(message.house_id), message.id], retry=False)
    except OperationalError as error:
        log.warning("broker did not take %s: %s; the sweeper will send it again", message, error)
        return False
    return True


#: What a process has committed and not yet hinted at.
HINTS = Hints(lambda message: publish(message))


def send(message: OutboxMessage) -> bool:
    """Send a row again, and note that; returns whether the broker took it."""
    if not publish(message):
        return False
    OutboxMessage.objects.filter(id=message.id, done_at=None).update(
        sent_at=ClockTimestamp(), deliveries=F("deliveries") + 1
    )
    return True


class StrayHint(Exception):
    """A hint that names a message of another house. It is ignored, and nothing is written."""


def require_own(house: str, message_id: int) -> None:
    """Refuse a hint of another database, which names a message that is not there or is another house's.

    `house` is the id of the house in the hint. Raises StrayHint.
    """
    owner = OutboxMessage.objects.filter(id=message_id).values_list("house_id", flat=True).first()
    if str(owner) != house:
        raise StrayHint(f"outbox message {message_id} is not of house {house}: the hint came from another database")


def waiting_for(houses: Sequence[str]) -> float:
    """The age in seconds of the oldest open message, 0 where there is none; `houses` are codes of houses that may write
    nothing, and so work off nothing."""
    open_ones = OutboxMessage.objects.filter(done_at=None).exclude(house__code__in=houses)
    oldest = open_ones.aggregate(age=ClockTimestamp() - Min("created_at"))["age"]
    return float(oldest.total_seconds()) if oldest is not None else 0.0


#: After so many deliveries a message is sent ten times less often: something else than a lost task is wrong with it.
OFTEN = 5


def sweep() -> int:
    """Send every message again that is still open and was last sent a while ago. Returns how many were sent."""
    stale = timedelta(seconds=settings.CASINO_OUTBOX_STALE_SECONDS)
    due = (
        Q(sent_at=None, created_at__lt=Now() - stale)
        | Q(deliveries__lt=OFTEN, sent_at__lt=Now() - stale)
        | Q(sent_at__lt=Now() - 10 * stale)
    )
    waiting = OutboxMessage.objects.filter(due, done_at=None).order_by("id")[:500]
    return sum(send(message) for message in waiting)


#: Marks a message as done, with what its work has written.
DONE = """
UPDATE houses_outboxmessage SET done_at = clock_timestamp(), last_error = '' WHERE done_at IS NULL AND id = %s::bigint
"""


def done(message_id: int) -> None:
    """Mark a message as done because its work was done earlier."""
    sql.change(DONE, [message_id])


def failed(message_id: int, problem: str, detail: str) -> OutboxMessage | None:
    """Keep the reason why a message could not be processed; it stays open and will be sent again. Returns the message
    if `problem`, a short word, differs from the last one, None otherwise."""
    message = OutboxMessage.objects.get(id=message_id)
    kept = OutboxMessage.objects.filter(id=message_id, done_at=None, last_error=message.last_error)
    changed = kept.update(last_error=f"{problem}: {detail}"[:2000])
    return message if changed and not message.last_error.startswith(f"{problem}: ") else None
