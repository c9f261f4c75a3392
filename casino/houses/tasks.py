"""The canary, by which worker and beat are seen to work, and what the clock has done in every house."""

import uuid

from casino.celery import HOUSES, app, task
from casino.core import heartbeat
from casino.houses.models import House


@task(heartbeat.CANARY)
def canary() -> None:
    """Leave the worker's sign of life."""
    heartbeat.live(heartbeat.Part.WORKER)


@task("houses.for_each")
def for_each(name: str, expires: float) -> int:
    """Send the task `name` once for each house, with the house's id; returns how many houses there are.

    No house takes the time of another, or keeps it from its turn. A worker that dies leaves the other houses' tasks
    where they are. A task that no worker has begun after `expires` seconds is dropped: the clock sends another one.
    """
    houses = list(House.objects.order_by("opened_at").values_list("id", flat=True))
    for house in houses:
        app.send_task(name, args=[str(house)], queue=HOUSES, expires=expires)
    return len(houses)


def named(house: str) -> House:
    """The house of a task by its id. Raises House.DoesNotExist."""
    return House.objects.get(id=uuid.UUID(house))
