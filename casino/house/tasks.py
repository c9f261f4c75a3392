"""What the books need done by the clock. Every task may run at any time, and any number of times."""

from celery import shared_task
from django.db import transaction
from django.utils import timezone

from casino.house.models import House
from ledger import holds, snapshots


@shared_task(name="house.expire_holds")
def expire_holds() -> int:
    """Mark the holds whose time has run out, house by house; returns how many. They bind nothing before that either."""
    return sum(_expire(house) for house in House.objects.order_by("opened_at"))


@shared_task(name="house.take_snapshots")
def take_snapshots() -> int:
    """Take today's snapshot (UTC) of every house that has none yet; returns how many were taken."""
    name = daily_snapshot(timezone.now().date().isoformat())
    return sum(_take(house, name) for house in House.objects.order_by("opened_at"))


def daily_snapshot(date: str) -> str:
    """The name of a day's snapshot; a gaming day's closing one has another."""
    return f"daily {date}"


def _expire(house: House) -> int:
    with transaction.atomic():
        return holds.expire_holds(house.id)


def _take(house: House, name: str) -> bool:
    with transaction.atomic():
        return not snapshots.take(house.id, name).replayed
