"""Passkeys of which there may be a copy."""

from collections.abc import Iterator
from datetime import datetime

from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.reports.alarms_of_counts import Sign
from casino.staff.models import Passkey


def cloned(house: House, _points: ControlPoints, _now: datetime) -> Iterator[Sign]:
    """Passkeys that have signed more often than they said, until their person has removed them, or an administrator has
    taken the second factor away. Who has the copy still lacks the password."""
    found = Passkey.objects.filter(house=house, clone_seen_at__isnull=False).select_related("staff")
    for one in found.order_by("clone_seen_at"):
        if one.clone_seen_at is not None:
            yield Sign(f"passkey of {one.staff.login}", one.clone_seen_at)
