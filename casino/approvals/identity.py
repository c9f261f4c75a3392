"""Changing who a house is: an administrator says it, and once the house is live another person approves it. What was
said before is never edited."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from casino.audit.events.house import IdentityChanged
from casino.audit.services import Actor
from casino.core import locks, once_live, write
from casino.core.errors import Conflict
from casino.core.write import Answer, Command, OfHouse, Outcome, Work
from casino.houses import identity
from casino.houses.models import House, Identity


def _lock(house_id: UUID) -> None:
    """Nobody sets up a place, signs the house or opens a day meanwhile."""
    locks.lock_places(house_id)
    locks.lock_days(house_id)


def change(*, command: Command, parts: Mapping[str, Any], reason: str) -> Answer:
    """Change these parts of the identity; the others stay. Raises Conflict no_change, currency_in_use or
    approval_required, Unprocessable unknown_time_zone, unknown_currency, too_many_places or unknown_language."""

    def changed(house: House, work: Work) -> Outcome:
        before = identity.parts(house)
        after = before | dict(parts)
        if after == before:
            raise Conflict("The identity says this already.", code="no_change")
        identity.require_known(parts, after)
        identity.require_currency_free(house, before, after)
        once_live.require_approval(house, work, once_live.SETTINGS)
        event = _add(house, after, command.context.staff.login, command.approval, reason)
        return Outcome(event, identity.describe(house), 201, version=event.number)

    return write.write(command, OfHouse(office=True, lock=_lock), changed)


def set_at_founding(*, house: House, parts: Mapping[str, Any], actor: Actor) -> None:
    """Say who a house is that is being set up, in a separate transaction."""
    with transaction.atomic():
        whole = identity.parts(house) | dict(parts)
        event = _add(house, whole, actor.staff, None, "set when the house was set up")
        Work(house, actor).record(chain=house.chain, event=event)


def _add(house: House, whole: dict[str, Any], login: str, approval: int | None, reason: str) -> IdentityChanged:
    last = Identity.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
    Identity.objects.create(house=house, number=last + 1, parts=whole, set_by=login, approval=approval)
    House.objects.filter(id=house.id).update(**{name: whole[name] for name in identity.AT_ONCE})
    if not identity.day_is_open(house):
        identity.wind_clock(house)
    return IdentityChanged(number=last + 1, identity=whole, reason=reason)
