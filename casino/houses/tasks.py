"""The canary: the task by which worker and beat are seen to work."""

from casino.celery import task
from casino.core import heartbeat


@task(heartbeat.CANARY)
def canary() -> None:
    """Leave the worker's sign of life."""
    heartbeat.live(heartbeat.Part.WORKER)
