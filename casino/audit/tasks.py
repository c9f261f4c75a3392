"""Celery tasks of the audit log. They may run any number of times."""

import uuid

from casino.audit import witnessing
from casino.celery import task
from casino.houses.models import House


@task("audit.ask_witnesses")
def ask_witnesses() -> int:
    """Have every house's newest checkpoint cosigned, each by a task of its own; returns how many houses there are."""
    houses = list(House.objects.order_by("code").values_list("id", flat=True))
    for house in houses:
        ask_for_house.delay(str(house))  # type: ignore[attr-defined] # Celery's
    return len(houses)


@task("audit.ask_witnesses_for_house")
def ask_for_house(house: str) -> int:
    """Have one house's newest checkpoint cosigned; returns how many witnesses did now."""
    return witnessing.ask(House.objects.get(id=uuid.UUID(house)), witnessing.configured())
