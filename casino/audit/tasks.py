"""Celery tasks of the audit log. They may run any number of times."""

from datetime import timedelta

from django.conf import settings

from casino.audit import witnessing
from casino.celery import task
from casino.houses.tasks import named


@task("audit.ask_witnesses")
def ask_witnesses(house: str) -> int:
    """Have a house's newest checkpoint cosigned; returns how many witnesses did now."""
    return witnessing.ask(named(house), witnessing.configured())


@task("audit.take_timestamp")
def take_timestamp(house: str) -> bool:
    """Have a house's newest checkpoint stamped by the time-stamp authority, if it is time; says whether it was."""
    # X.509 costs 70 ms of CPU at the start of a process; houses without an authority do without.
    from casino.audit import timestamping

    interval = timedelta(seconds=settings.CASINO_TIMESTAMP_INTERVAL)
    return timestamping.stamp(named(house), timestamping.configured(), interval)
