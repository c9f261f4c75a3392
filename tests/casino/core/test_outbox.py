"""Which messages of the outbox the sweeper sends again, and how old they must be."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db.models.functions import Now

from casino.core import outbox
from casino.houses.models import OutboxMessage
from tests.casino.kit import Kit

#: Seconds after which a message is stale that was never sent, or once.
STALE = settings.CASINO_OUTBOX_STALE_SECONDS
LONGEST = outbox.LONGEST


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
    assert (STALE, LONGEST) == (2, 20)


@pytest.mark.parametrize(
    ("created", "sent", "deliveries", "done", "taken"),
    [
        # Never sent, as where the broker was away.
        (STALE + 1, None, 0, False, True),
        (STALE - 1, None, 0, False, False),
        # Sent, and not worked off.
        (100, STALE + 1, 1, False, True),
        (100, STALE - 1, 1, False, False),
        # Sent more often: it waits twice as long each time, up to the longest.
        (100, 2 * STALE - 1, 2, False, False),
        (100, 2 * STALE + 1, 2, False, True),
        (100, 8 * STALE - 1, 4, False, False),
        (100, 8 * STALE + 1, 4, False, True),
        (100, LONGEST - 1, 5, False, False),
        (100, LONGEST + 1, 5, False, True),
        (100, LONGEST + 1, 1_000, False, True),
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


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of what the sweeper sends from now on, and nothing that other tests have left."""
    OutboxMessage.objects.filter(done_at=None).update(done_at=Now())
    taken: list[int] = []

    def publish(message: OutboxMessage) -> bool:
        taken.append(message.id)
        return True

    monkeypatch.setattr(outbox, "publish", publish)
    return taken


def open_messages(kit: Kit, count: int) -> list[int]:
    """The ids of so many messages that a long outage has left."""
    return [waiting(kit, created=100, sent=None, deliveries=0, subject=str(at)).id for at in range(count)]


def test_after_a_long_outage_the_broker_gets_portions_and_nothing_twice(kit: Kit, broker: list[int]) -> None:
    messages = open_messages(kit, outbox.MOST + 30)
    assert [outbox.sweep(), outbox.sweep()] == [outbox.MOST, 0]
    assert broker == messages[: outbox.MOST], "the oldest first"
    OutboxMessage.objects.filter(id__in=broker[:10]).update(done_at=Now())
    assert outbox.sweep() == 10
    assert broker == messages[: outbox.MOST + 10]
    OutboxMessage.objects.filter(id__in=messages).update(done_at=Now())


def test_what_cannot_be_worked_off_keeps_nothing_from_its_turn(kit: Kit, broker: list[int]) -> None:
    failing = open_messages(kit, outbox.MOST)
    assert outbox.sweep() == outbox.MOST
    for message in failing:
        outbox.failed(message, "log_rolled_back", "read-only")
    other = waiting(kit, created=STALE + 1, sent=None, deliveries=0, subject="other")
    assert outbox.sweep() == 1
    assert broker[-1] == other.id
    OutboxMessage.objects.filter(id__in=[*failing, other.id]).update(done_at=Now())


@pytest.mark.usefixtures("broker")
def test_a_broker_that_does_not_take_one_is_not_asked_for_the_others(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = open_messages(kit, 3)
    asked: list[int] = []

    def publish(message: OutboxMessage) -> bool:
        asked.append(message.id)
        return message.id == messages[0]

    monkeypatch.setattr(outbox, "publish", publish)
    assert outbox.sweep() == 1
    assert asked == messages[:2]
    sent = OutboxMessage.objects.filter(id__in=messages).exclude(sent_at=None)
    assert [(row.id, row.deliveries) for row in sent] == [(messages[0], 1)]
    OutboxMessage.objects.filter(id__in=messages).update(done_at=Now())
