"""The continuous checks: chips against money, snapshots against entries."""

import logging
from typing import Any

from celery import shared_task
from django.db import transaction

from casino.chips.models import Imbalance, ImbalanceKind
from casino.house.models import ClockTimestamp, House
from casino.reports import selectors, snapshots

log = logging.getLogger(__name__)

_WORDS = {
    ImbalanceKind.CUSTODY: "chips and money do not agree",
    ImbalanceKind.SNAPSHOT: "a snapshot and the entries do not agree",
}


@shared_task(name="reports.check_custody")
def check_custody() -> int:
    """Compare chips with money in every house; returns how many houses are out of balance.

    Each is an error in the log every time, and one open row until a later check finds it in order. The database
    refuses any posting that leads there, so what this finds was written past it.
    """
    return sum(not check(house) for house in House.objects.order_by("opened_at"))


@shared_task(name="reports.check_snapshots")
def check_snapshots() -> int:
    """Compare the newest snapshots of every house with the entries since the ones before; returns in how many houses
    one differs. Recorded like chips that differ from money."""
    return sum(not check_newest(house) for house in House.objects.order_by("opened_at"))


def check(house: House) -> bool:
    """Whether chips and money agree in one house; keeps the answer in its exceptions."""
    return _keep(house, ImbalanceKind.CUSTODY, selectors.custody_problems(house))


def check_newest(house: House) -> bool:
    """Whether the newest snapshots of one house agree with the entries; keeps the answer in its exceptions."""
    return _keep(house, ImbalanceKind.SNAPSHOT, snapshots.newest_problems(house))


def _keep(house: House, kind: ImbalanceKind, problems: dict[str, Any]) -> bool:
    """Keep what a check found in the house's exceptions, or clear what an earlier one had found."""
    open_ones = Imbalance.objects.filter(house=house, kind=kind, cleared_at=None)
    with transaction.atomic():
        if not problems:
            open_ones.update(cleared_at=ClockTimestamp())
        elif not open_ones.update(found=problems):
            Imbalance.objects.bulk_create([Imbalance(house=house, kind=kind, found=problems)], ignore_conflicts=True)
    if problems:
        log.error("house %s: %s: %s", house.code, _WORDS[kind], problems)
    return not problems
