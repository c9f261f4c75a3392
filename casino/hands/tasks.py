"""Celery tasks. They call the same services a view would and may run any number of times."""

from celery import shared_task

from casino.hands import services, settlement
from casino.house import outbox


@shared_task(name=services.RESOLVE)
def resolve_hand(message_id: int) -> str:
    """Settle the hand of one outbox message. A failure keeps its reason with the message, which the sweeper sends
    again."""
    try:
        return settlement.resolve(message_id)
    except Exception as error:
        outbox.failed(message_id, f"{type(error).__name__}: {error}")
        raise


@shared_task(name="hands.sweep_outbox")
def sweep_outbox() -> int:
    """Send open outbox messages again that the broker or a worker has lost."""
    return outbox.sweep()
