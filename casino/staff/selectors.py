"""Reading who works in a house."""

from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone

from casino.audit.models import Event
from casino.core import moments
from casino.houses.days import days
from casino.houses.models import House
from casino.staff.models import RotaEntry, Staff, TerminalToken

#: Kinds of events that are no act in a duty: refusals, reads, and what people do about their own sign-ins.
_NO_ACTS = ("attempt.", "data.", "staff.")


def duties_today(house: House, login: str) -> set[str]:
    """The roles in which a person has acted since the newest gaming day was opened; none in a house without days."""
    found = days(house)
    if not found:
        return set()
    since = moments.utc(found[-1].opened_at)
    named = Event.objects.filter(house=house).annotate(
        actor_text=KeyTextTransform("actor", "doc"),
        at_text=KeyTextTransform("at", "doc"),
        kind_text=KeyTextTransform("kind", "doc"),
        role_text=KeyTextTransform("role", "doc"),
    )
    acts = named.filter(actor_text=login, at_text__gte=since)
    for prefix in _NO_ACTS:
        acts = acts.exclude(kind_text__startswith=prefix)
    return set(acts.values_list("role_text", flat=True).distinct())


def on_duty(house: House) -> QuerySet[Staff]:
    """Who is signed in now: active staff with a token that has not ended, each with `live_tokens`, the oldest first:
    `on_rota` says whether the rota has the person at that place now."""
    now = timezone.now()
    planned = RotaEntry.objects.filter(
        house=house, staff=OuterRef("user"), kind=OuterRef("terminal__kind"), location=OuterRef("terminal__location"),
        withdrawn_at=None, starts_at__lte=now, ends_at__gt=now,
    )  # fmt: skip
    live = TerminalToken.objects.filter(house=house, expiry__gt=now).select_related("terminal")
    live = live.annotate(on_rota=Exists(planned))
    found = Staff.objects.filter(house=house, is_active=True, id__in=live.values("user_id"))
    return found.prefetch_related(Prefetch("auth_token_set", live.order_by("created"), to_attr="live_tokens"))
