"""Delivers hints to webhooks: a thread of the process that sends them (`manage.py send_hints`).

It looks at the ends of chains twice a second over a connection of its own, and sends what is new: at most `AT_A_TIME`
hints of one chain in one POST, in the order of their numbers. The next of a chain is sent when the receiver has taken
those before, and a chain that fails is tried again later and holds up no other. Nothing is kept for sending but the
number that was taken last, and of what is under way the last: so a process that dies leaves the same to the next, under
the same id. Two processes never send the same chain at once: each has it for itself for a while
(`casino/core/leases.py`), and sends nothing any more when that is over. There is no transaction while something is
sent.

Not in Celery: a task of the clock would come late (a second, and what waits in its queue), and a receiver that hangs
would keep a worker from the house's own work.
"""

import hashlib
import json
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import F
from django.db.models.functions import Coalesce

from casino.core import leases, sql
from casino.core.destinations import NotSent
from casino.core.errors import LogRefused
from casino.houses.models import ClockTimestamp
from casino.live import hints, receivers, webhooks
from casino.live.hints import Head, Hint
from casino.live.models import Webhook, WebhookPosition
from casino.live.receivers import Receiver
from casino.live.webhooks import Ended

log = logging.getLogger(__name__)

#: Seconds between two looks at the chains, and after a look that has failed.
EVERY, AFTER_FAILURE = 0.5, 5.0
#: Hints that one POST has at most.
AT_A_TIME = 100
#: Chains that are sent at the same time, of one webhook, so that one that hangs holds up no other, and together.
AT_ONCE, TOGETHER = 4, 64
#: How long a chain waits that has failed: the first time, and at most.
FIRST, LONGEST = timedelta(seconds=1), timedelta(hours=1)
#: For how long a process has a chain for itself: an attempt, and time to note what became of it.
LEASE = timedelta(seconds=2 * receivers.LONGEST)

_DUE = """
SELECT head.id, head.house_id, head.name, head.seq, coalesce(here.position, 0), here.until
FROM audit_chainhead head
LEFT JOIN live_webhookposition here ON here.webhook_id = %s::bigint AND here.chain = head.name
WHERE head.house_id = %s::uuid
    AND (head.name = ANY(%s::text[]) OR split_part(head.name, '/', 1) || '/*' = ANY(%s::text[]))
    AND head.seq > coalesce(here.position, 0)
    AND coalesce(here.next_at <= clock_timestamp(), true)
    AND coalesce(here.worked_until < clock_timestamp(), true)
ORDER BY here.next_at NULLS FIRST, head.id LIMIT %s::bigint
"""
_EPOCH = "SELECT coalesce(max(epoch), 0) FROM audit_log WHERE house_id = %s::uuid"


@dataclass(frozen=True, slots=True)
class Parcel:
    """Hints of one chain on their way: the ids of webhook and position, the numbers before the first and of the last,
    the end of the lease, which nobody else has, and what is sent under which id."""

    webhook: int
    row: int
    position: int
    until: int
    lease: datetime
    message: str
    body: bytes


def message_of(row: Webhook, epoch: int, found: Sequence[Hint], *, whole: bool) -> tuple[str, bytes]:
    """The id and the body of a POST. The id follows from the house and the body, so that the same hints have the same
    one; after a backup was restored the epoch of the log is another, and so is the id."""
    last = found[-1]
    content = {
        "house": row.house.code, "webhook": row.number, "epoch": epoch, "chain": last.chain, "position": last.seq,
        "hints": [hint.shown(whole=whole) for hint in found],
    }  # fmt: skip
    body = json.dumps(content, separators=(",", ":")).encode()
    return f"msg_{hashlib.sha256(row.house_id.bytes + body).hexdigest()[:40]}", body


class Deliverer:
    """Sends for every house of the database. Used by one thread, which alone speaks to the database."""

    def __init__(self) -> None:
        # Threads are made as they are needed.
        self._pool = ThreadPoolExecutor(TOGETHER, "webhook")
        self._flying: dict[Future[None], Parcel] = {}

    def look(self) -> int:
        """Note what has become of what was sent, and send what is due; returns how many parcels are on their way."""
        sql.drop_lost_connections()
        self._note_done()
        going = Webhook.objects.filter(ended_at=None).select_related("house", "subscribed_by")
        for row in going.order_by("id"):
            if (why := webhooks.lost(row)) is not None:
                _end(row, why)
            elif (free := min(AT_ONCE - self._flying_of(row), TOGETHER - len(self._flying))) > 0:
                self._send_due(row, free)
        return len(self._flying)

    def rest(self, seconds: float) -> None:
        """Wait until something that was sent has an answer, this long at most."""
        wait(self._flying, seconds, FIRST_COMPLETED)

    def close(self) -> None:
        """Wait for what is on its way, and note it."""
        wait(self._flying)
        self._note_done()
        self._pool.shutdown()

    def _flying_of(self, row: Webhook) -> int:
        return sum(parcel.webhook == row.pk for parcel in self._flying.values())

    def _send_due(self, row: Webhook, most: int) -> None:
        due = sql.bound(_DUE, [row.pk, row.house_id, row.chains, row.chains, most])
        if not due:
            return
        try:
            receiver = receivers.named(row.house.code, row.destination)
        except (NotSent, ImproperlyConfigured) as problem:
            code = problem.code if isinstance(problem, NotSent) else "misconfigured"
            log.error("house %s: webhook %s: %s", row.house.code, row.number, problem)
            for _, _, name, *_ in due:
                _fail(_row_of(row, name), code)
            return
        for identity, house, name, seq, position, until in due:
            self._send(row, receiver, Head(identity, house, name, seq), position, until)

    def _send(self, row: Webhook, receiver: Receiver, head: Head, position: int, until: int | None) -> None:
        # From before the lease, so that nothing is sent any more when that has ended.
        deadline = time.monotonic() + receiver.timeout
        parcel = _parcel(row, head, position, until)
        if parcel is not None:
            self._flying[self._pool.submit(receiver.send, parcel.message, parcel.body, deadline)] = parcel

    def _note_done(self) -> None:
        for future in [one for one in self._flying if one.done()]:
            problem = future.exception()
            if problem is not None and not isinstance(problem, NotSent):
                del self._flying[future]
                raise problem  # an error of ours: the lease ends by itself, and the same is sent again
            _note(self._flying[future], problem)
            # Only now: what could not be noted is noted with the next look.
            del self._flying[future]


def _row_of(row: Webhook, chain: str) -> WebhookPosition:
    """The position of a chain; one of a table or drawer that was set up since begins with its first event."""
    found, _ = WebhookPosition.objects.get_or_create(
        webhook=row, chain=chain, defaults={"house": row.house, "position": 0}
    )
    return found


def _parcel(row: Webhook, head: Head, position: int, until: int | None) -> Parcel | None:
    """Have a chain, with what is to be sent of it; None where another process has it, or has sent it meanwhile."""
    found = hints.after([(head, position)], AT_A_TIME)[head.id, position]
    if until is not None:
        found = [hint for hint in found if hint.seq <= until]
    there = WebhookPosition.objects.filter(
        id=_row_of(row, head.name).pk, position=position, until=until, webhook__ended_at=None
    )
    if not leases.take(there, LEASE, until=found[-1].seq):
        return None
    mine = WebhookPosition.objects.get(webhook=row, chain=head.name)
    assert mine.worked_until is not None  # noqa: S101 - it was taken just now
    [(epoch,)] = sql.bound(_EPOCH, [head.house])
    message, body = message_of(row, epoch, found, whole=webhooks.sender_of(row).whole)
    return Parcel(row.pk, mine.pk, position, found[-1].seq, mine.worked_until, message, body)


def _note(parcel: Parcel, problem: NotSent | None) -> None:
    """Move the position on, or the time of the next attempt, unless it was moved back meanwhile: then only the lease
    ends."""
    mine = WebhookPosition.objects.filter(id=parcel.row, worked_until=parcel.lease)
    same = mine.filter(position=parcel.position, until=parcel.until)
    if problem is None:
        moved = same.update(
            position=parcel.until, until=None, attempts=0, problem="", failing_since=None, sent_at=ClockTimestamp(),
            next_at=ClockTimestamp(), worked_until=None,
        )  # fmt: skip
        if not moved:
            mine.update(worked_until=None)
        return
    found = WebhookPosition.objects.select_related("webhook__house").get(id=parcel.row)
    log.warning(
        "house %s: webhook %s, %s: %s: %s",
        found.webhook.house.code, found.webhook.number, found.chain, problem.code, problem,
    )  # fmt: skip
    if same.exists():
        _fail(found, problem.code)
    mine.update(worked_until=None)
    if problem.code == Ended.GONE:
        _end(found.webhook, Ended.GONE)


def _fail(one: WebhookPosition, code: str) -> None:
    """Note a failed attempt, and when the next is."""
    WebhookPosition.objects.filter(id=one.pk).update(
        attempts=F("attempts") + 1, problem=code, failing_since=Coalesce("failing_since", ClockTimestamp()),
        next_at=ClockTimestamp() + min(FIRST * 2 ** min(one.attempts, 20), LONGEST),
    )  # fmt: skip


def _end(row: Webhook, why: Ended) -> None:
    """End a webhook, as soon as the house may write again."""
    try:
        webhooks.end_by_house(row, why)
    except LogRefused as error:
        log.error("house %s: webhook %s does not end: %s", row.house.code, row.number, error.detail)


def deliver(stop: threading.Event) -> None:
    """Send until `stop`. What fails is named in the log, and tried again: the streams of the same process go on."""
    deliverer = Deliverer()
    while not stop.is_set():
        try:
            on_their_way = deliverer.look()
        except (DatabaseError, InterfaceError) as error:
            log.warning("webhooks cannot be read: %s", error)
            connection.close()
            stop.wait(AFTER_FAILURE)
        except Exception:
            log.exception("webhooks stand still")
            stop.wait(AFTER_FAILURE)
        else:
            if on_their_way:
                deliverer.rest(EVERY)
            else:
                stop.wait(EVERY)
    try:
        deliverer.close()
    except (DatabaseError, InterfaceError) as error:
        log.warning("what was sent to webhooks last is not noted, and is sent again: %s", error)
    finally:
        connection.close()


@contextmanager
def running() -> Iterator[None]:
    """A thread that sends to webhooks, while this lasts."""
    stop = threading.Event()
    thread = threading.Thread(target=deliver, args=(stop,), name="webhooks")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
