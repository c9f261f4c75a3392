"""Celery tasks of the audit log. They may run any number of times."""

from casino.audit import witnessing
from casino.celery import task
from casino.houses.tasks import named


@task("audit.ask_witnesses")
def ask_witnesses(house: str) -> int:
    """Have a house's newest checkpoint cosigned; returns how many witnesses did now."""
    return witnessing.ask(named(house), witnessing.configured())
