"""Which messages of the outbox the sweeper sends again, and how old they must be."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db.models.functions import Now

from casino.core import outbox
from casino.houses.models import OutboxMessage
from tests.casino.kit import Kit

#: Seconds after which a message is stale, and those after which one is that was delivered often.
STALE = settings.CASINO_OUTBOX_STALE_SECONDS
OFTEN_STALE = 10 * STALE


def waiting(
    kit: Kit, *, created: float, sent: float | None, deliveries: int, done: bool = False, subject: str = "0"
) -> OutboxMessage:
    """A message that was written and last sent so many seconds ago."""
    message = OutboxMessage.objects.create(house=kit.house, task="hands.resolve_hand", subject=subject)
    OutboxMessage.objects.filter(id=message.id).update(
        created_at=Now() - timedelta(seconds=created),
        sent_at=None if sent is None else Now() - timedelta(seconds=sent),
        deliveries=deliveries,
        done_at=Now() if done else None,
    )
    return message


def test_a_message_is_stale_after_two_seconds() -> None:
    assert (STALE, outbox.OFTEN) == (2, 5)


@pytest.mark.parametrize(
    ("created", "sent", "deliveries", "done", "taken"),
    [
        # Never sent, as where the broker was away.
        (STALE + 1, None, 0, False, True),
        (STALE - 1, None, 0, False, False),
        # Sent, and not worked off.
        (100, STALE + 1, 1, False, True),
        (100, STALE - 1, 1, False, False),
        (100, STALE + 1, outbox.OFTEN - 1, False, True),
        # Sent often: ten times less often from now on.
        (100, STALE + 1, outbox.OFTEN, False, False),
        (100, OFTEN_STALE - 2, outbox.OFTEN, False, False),
        (100, OFTEN_STALE + 1, outbox.OFTEN, False, True),
        (100, OFTEN_STALE + 1, 1_000, False, True),
        # Worked off.
        (100, None, 0, True, False),
        (100, 50, 1, True, False),
    ],
)
def test_the_sweeper_takes_what_is_open_and_stale(
    kit: Kit, monkeypatch: pytest.MonkeyPatch,
    created: float, sent: float | None, deliveries: int, done: bool, taken: bool,
) -> None:  # fmt: skip
    message = waiting(kit, created=created, sent=sent, deliveries=deliveries, done=done)
    swept: list[int] = []

    def send(message: OutboxMessage) -> bool:
        swept.append(message.id)
        return True

    monkeypatch.setattr(outbox, "send", send)
    assert outbox.sweep() == len(swept)
    assert (message.id in swept) == taken
    # Nobody shall work it off: there is no such hand.
    OutboxMessage.objects.filter(id=message.id).update(done_at=Now())


def test_the_sweeper_counts_what_the_broker_took(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first, at most 500 at once: a sweep that finds many ends before the next one begins."""
    messages = [waiting(kit, created=100, sent=None, deliveries=0, subject=name) for name in "abc"]
    swept: list[int] = []

    def send(message: OutboxMessage) -> bool:
        swept.append(message.id)
        return message.id != messages[1].id

    monkeypatch.setattr(outbox, "send", send)
    assert outbox.sweep() == len(swept) - 1
    assert swept == sorted(swept) and {message.id for message in messages} <= set(swept)
    OutboxMessage.objects.filter(id__in=[message.id for message in messages]).update(done_at=Now())
