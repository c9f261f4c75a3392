"""Reading who works in a house."""

from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from casino.houses.models import House
from casino.staff.models import Staff, TerminalToken


def on_duty(house: House) -> QuerySet[Staff]:
    """Who is signed in now: active staff with a token that has not ended, each with `live_tokens`, the oldest first."""
    live = TerminalToken.objects.filter(house=house, expiry__gt=timezone.now()).select_related("terminal")
    found = Staff.objects.filter(house=house, is_active=True, id__in=live.values("user_id"))
    return found.prefetch_related(Prefetch("auth_token_set", live.order_by("created"), to_attr="live_tokens"))
