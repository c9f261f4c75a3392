"""Celery tasks. They call the same services a view would and may run any number of times."""

from typing import Any

from celery.signals import task_prerun, worker_init

from casino.celery import task
from casino.core import outbox, patience, sql, tracing
from casino.hands import automatic, bonus, services, settlement

#: Seconds that a settlement waits for a lock.
LOCK_SECONDS = 0.5


def warm_up(**_: Any) -> None:
    """Before the pool forks, so that its children share what is built."""
    services.warm_up()


worker_init.connect(warm_up)
task_prerun.connect(sql.drop_lost_connections, weak=False)


@task(bonus.RESOLVE_CONFIRMED)
def resolve_confirmed_hand(house: str, message_id: int) -> str:
    """As :func:`resolve_hand`, for a hand whose bonus was confirmed and approved."""
    return _resolve(house, message_id)


@task(services.RESOLVE)
def resolve_hand(house: str, message_id: int) -> str:
    """Settle the hand of one outbox message of a house, and return the hand's state. A failure keeps its reason with
    the message, which the sweeper sends again. A table that somebody else holds locked keeps no worker from the others:
    it is waited for briefly, and the message sent again. Raises StrayHint for a message that is not this house's, Busy
    for a table that is locked."""
    return _resolve(house, message_id)


def _resolve(house: str, message_id: int) -> str:
    outbox.require_own(house, message_id)
    try:
        with tracing.part("settlement") as part, patience.at_most(LOCK_SECONDS):
            state = settlement.resolve(message_id)
            part.note(state=state)
            return state
    except patience.Busy:
        raise
    except Exception as error:
        settlement.failed(message_id, error)
        raise


@task("hands.sweep_outbox")
def sweep_outbox() -> int:
    """Send open outbox messages again that the broker or a worker has lost."""
    return outbox.sweep()


@task("hands.run_clocks")
def run_clocks() -> int:
    """Play the automatic act of every seat whose time to act has run out; returns how many were played."""
    return automatic.run()
