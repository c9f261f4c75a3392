"""Complaints whose answer is due soon, or late."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from casino.evidence.models import Complaint, ComplaintState
from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.reports.alarms_of_counts import Sign

#: How long before an answer is due somebody has to look: so long is what is written still on its way.
SOON = timedelta(days=7)
#: States in which the house still owes an answer. A body outside may have the complaint before the house has answered.
_OWED = (ComplaintState.OPEN, ComplaintState.ESCALATED)


def due(house: House, _points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """Complaints that nobody has answered, from a week before the day on which they must be."""
    waiting = Complaint.objects.filter(house=house, state__in=_OWED, answered_at=None, due_at__lte=now + SOON)
    for one in waiting.order_by("number"):
        yield Sign(f"complaint {one.number}", max(one.due_at - SOON, one.arrived_at))
