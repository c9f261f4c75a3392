"""Transactional outbox: rows written with the change they follow. After the commit Celery gets a hint; the sweeper
sends rows that are still open after a while."""

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db.models import F, Min
from kombu.exceptions import OperationalError

from casino.celery import app
from casino.core import log_lines, sql, tracing
from casino.core.hints import Hints
from casino.houses.models import ClockTimestamp, OutboxMessage

log = logging.getLogger(__name__)


def publish(message: OutboxMessage) -> bool:
    """Send the hint to the broker; returns whether the broker took it. A broker that is away loses nothing: the sweeper
    sends the row again."""
    try:
        with tracing.sending(message.task, message.traceparent):
            named = {log_lines.HEADER: message.request, tracing.HEADER: tracing.here()}
            headers = {name: value for name, value in named.items() if value}
            app.send_task(message.task, args=[str(message.house_id), message.id], headers=headers, retry=False)
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


_OWNER = """
SELECT houses_house.id, houses_house.code FROM houses_outboxmessage
JOIN houses_house ON houses_house.id = houses_outboxmessage.house_id WHERE houses_outboxmessage.id = %s::bigint
"""


def require_own(house: str, message_id: int) -> None:
    """Refuse a hint of another database, which names a message that is not there or is another house's.

    `house` is the id of the house in the hint. Raises StrayHint.
    """
    owner, code = next(iter(sql.bound(_OWNER, [message_id])), (None, ""))
    if str(owner) != house:
        raise StrayHint(f"outbox message {message_id} is not of house {house}: the hint came from another database")
    log_lines.note(house=code)


#: Tasks that may take minutes, and after how long one of them is late.
LONG, LATE = ("reports.make_run", "golive.rehearse"), timedelta(minutes=15)


def waiting_for(houses: Sequence[str]) -> float:
    """The age in seconds of the oldest open message, 0 where there is none; what may take long counts when it is late.
    `houses` are codes of houses that may write nothing, and so work off nothing."""
    open_ones = OutboxMessage.objects.filter(done_at=None).exclude(house__code__in=houses)
    open_ones = open_ones.exclude(task__in=LONG, created_at__gt=ClockTimestamp() - LATE)
    oldest = open_ones.aggregate(age=ClockTimestamp() - Min("created_at"))["age"]
    return float(oldest.total_seconds()) if oldest is not None else 0.0


#: Seconds after which a message is sent again at the latest.
LONGEST = 20
#: Messages that the sweeper has with the broker at a time. After a long outage thousands may be open: the workers get
#: them in portions, and none of them again while it waits for its turn.
MOST = 100
_WAITS = "make_interval(secs => least(%s::float8 * 2 ^ least(greatest(deliveries - 1, 0), 30), %s::float8))"
_LEFT_ALONE = f"sent_at IS NOT NULL AND sent_at > clock_timestamp() - {_WAITS}"
#: One that has failed waits for its next time, and not with the broker.
_IN_FLIGHT = (
    "SELECT count(*) FROM houses_outboxmessage"  # noqa: S608 - from the code only
    f" WHERE done_at IS NULL AND last_error = '' AND {_LEFT_ALONE}"
)
#: The oldest first: that is fair, as one that cannot be worked off is soon sent only every `LONGEST` seconds.
_DUE = f"""
WHERE done_at IS NULL AND coalesce(sent_at, created_at) <= clock_timestamp() - {_WAITS} ORDER BY id LIMIT %s
"""


def sweep() -> int:
    """Send messages again that are still open and were last sent a while ago: after `CASINO_OUTBOX_STALE_SECONDS`, then
    after twice as long each time, up to `LONGEST`. Returns how many were sent: never more than `MOST` are with the
    broker at a time, and none after one that the broker did not take."""
    waits = [settings.CASINO_OUTBOX_STALE_SECONDS, LONGEST]
    [(in_flight,)] = sql.rows(_IN_FLIGHT, waits)
    sent = 0
    for message in sql.instances(OutboxMessage, _DUE, [*waits, max(MOST - in_flight, 0)]):
        if not send(message):
            break
        sent += 1
    return sent


#: Marks a message as done, with what its work has written.
DONE = """
UPDATE houses_outboxmessage SET done_at = clock_timestamp(), last_error = '' WHERE done_at IS NULL AND id = %s::bigint
"""

#: Opens a message that was done once more, with what brings its work back; the hint is left after the commit.
AGAIN = """
UPDATE houses_outboxmessage
SET done_at = NULL, created_at = clock_timestamp(), sent_at = NULL, deliveries = 0, last_error = ''
WHERE id = %s::bigint
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
