"""Webhooks that bring nothing: chains that the receiver does not take, and those that the house has ended."""

from collections.abc import Iterator
from datetime import datetime

from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.live.models import Webhook, WebhookPosition
from casino.live.webhooks import ALARMING
from casino.reports.alarms_of_counts import Sign


def failing(house: House, _points: ControlPoints, _now: datetime) -> Iterator[Sign]:
    """Chains of which several attempts have failed, since when; and webhooks that the house has ended, while no later
    one is at the same destination."""
    chains = WebhookPosition.objects.filter(house=house, webhook__ended_at=None, attempts__gte=ALARMING)
    for one in chains.select_related("webhook").order_by("webhook__number", "chain"):
        if one.failing_since is not None:
            yield Sign(f"webhook {one.webhook.number}, {one.chain}", one.failing_since)
    for row in Webhook.objects.filter(house=house).exclude(problem="").order_by("number"):
        later = Webhook.objects.filter(house=house, destination=row.destination, number__gt=row.number)
        if row.ended_at is not None and not later.exists():
            yield Sign(f"webhook {row.number}", row.ended_at)
