"""Reading who works in a house."""

from datetime import UTC

from django.db.models import Prefetch, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone

from casino.audit.models import Event
from casino.houses.days import days
from casino.houses.models import House
from casino.staff.models import Staff, TerminalToken

#: Kinds of events that are no act in a duty: refusals, reads, and what people do about their own sign-ins.
_NO_ACTS = ("attempt.", "data.", "staff.")


def duties_today(house: House, login: str) -> set[str]:
    """The roles in which a person has acted since the newest gaming day was opened; none in a house without days."""
    found = days(house)
    if not found:
        return set()
    since = found[-1].opened_at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    texts = {f"{name}_text": KeyTextTransform(name, "doc") for name in ("actor", "at", "kind", "role")}
    acts = Event.objects.filter(house=house).annotate(**texts).filter(actor_text=login, at_text__gte=since)
    for prefix in _NO_ACTS:
        acts = acts.exclude(kind_text__startswith=prefix)
    return set(acts.values_list("role_text", flat=True).distinct())


def on_duty(house: House) -> QuerySet[Staff]:
    """Who is signed in now: active staff with a token that has not ended, each with `live_tokens`, the oldest first."""
    live = TerminalToken.objects.filter(house=house, expiry__gt=timezone.now()).select_related("terminal")
    found = Staff.objects.filter(house=house, is_active=True, id__in=live.values("user_id"))
    return found.prefetch_related(Prefetch("auth_token_set", live.order_by("created"), to_attr="live_tokens"))
