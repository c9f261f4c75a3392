"""The canary, by which worker and beat are seen to work, and what the clock has done in every house."""

import logging
import uuid

from casino.celery import HOUSES, app, task
from casino.core import heartbeat, log_lines
from casino.houses.models import House

log = logging.getLogger(__name__)

#: Tasks that may wait for each house, of all kinds together; the schedule has fewer kinds.
WAITING = 16


@task(heartbeat.CANARY)
def canary() -> None:
    """Leave the worker's sign of life."""
    heartbeat.live(heartbeat.Part.WORKER)


@task("houses.for_each")
def for_each(name: str) -> int:
    """Send the task `name` once for each house, with the house's id; returns to how many.

    No house takes the time of another, or keeps it from its turn. A worker that dies leaves the other houses' tasks
    where they are. Where more tasks wait than `WAITING` for each house, none is added: the clock asks again.
    """
    houses = list(House.objects.order_by("opened_at").values_list("id", flat=True))
    if heartbeat.waiting(HOUSES) > WAITING * len(houses):
        log.error("%s is sent to no house: the workers have not done yet what was sent before", name)
        return 0
    for house in houses:
        app.send_task(name, args=[str(house)], queue=HOUSES)
    return len(houses)


def named(house: str) -> House:
    """The house of a task by its id. Raises House.DoesNotExist."""
    found = House.objects.get(id=uuid.UUID(house))
    log_lines.note(house=found.code)
    return found
