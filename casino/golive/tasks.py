"""The task that plays rehearsals; it may run any number of times."""

from casino.celery import task
from casino.core import outbox, patience
from casino.golive import rehearsals, rehearsing


@task(rehearsals.TASK, soft_time_limit=rehearsals.SOFT_LIMIT, time_limit=rehearsals.HARD_LIMIT)
def rehearse(house: str, message_id: int) -> str:
    """Play the rehearsal that an outbox message of a house names; returns its state. A failure keeps its reason with
    the message, which the sweeper sends again. Raises StrayHint for a message that is not this house's."""
    outbox.require_own(house, message_id)
    try:
        return rehearsing.work_off(message_id)
    except patience.Busy:
        raise
    except Exception as error:
        outbox.failed(message_id, type(error).__name__, str(error))
        raise
