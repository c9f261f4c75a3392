"""Winnings kept from minors that have to be remitted soon, or are late."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.reports.alarms_of_counts import Sign
from casino.safeguards.models import Minor

#: How long before the day somebody has to look: a manager approves it, and the bank pays.
SOON = timedelta(days=7)


def due(house: House, _points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """Minors whose winnings nobody has remitted, from a week before the day until which that is to be done."""
    waiting = Minor.objects.filter(house=house, remittance=None, remit_by__lte=now + SOON)
    for one in waiting.order_by("number"):
        if one.remit_by is not None and one.ended_at is not None:
            yield Sign(f"winnings of minor {one.number}", max(one.remit_by - SOON, one.ended_at), one.kept)
