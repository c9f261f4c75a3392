"""Changing who a house is: an administrator says it, and once the house is live another person approves it. What was
said before is never edited."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from casino.audit.events.house import IdentityChanged
from casino.audit.services import Actor
from casino.core import locks, once_live, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import identity, stages
from casino.houses.models import House, Identity


def _lock(house_id: UUID) -> None:
    """Nobody sets up a place, signs the house or opens a day meanwhile."""
    locks.lock_places(house_id)
    locks.lock_days(house_id)


def change(*, command: Command, parts: Mapping[str, Any], reason: str) -> Answer:
    """Change these parts of the identity; the others stay. Raises Conflict no_change, currency_in_use or
    approval_required, Unprocessable unknown_time_zone, unknown_currency, too_many_places or unknown_language."""

    def changed(house: House, work: Work) -> Outcome:
        newest = identity.newest(house)
        before = identity.parts_of(house, newest)
        after = before | dict(parts)
        if after == before:
            raise Conflict("The identity says this already.", code="no_change")
        identity.require_known(parts, after)
        identity.require_currency_free(house, before, after)
        once_live.require_approval(house, work, once_live.SETTINGS)
        event = _add(house, newest, after, command.context.staff.login, command.approval, reason)
        return Outcome(event, identity.describe(house), 201, version=event.number)

    return write.write(command, OfHouse(office=True, lock=_lock, knowing=(stages,)), changed)


def set_at_founding(*, house: House, parts: Mapping[str, Any], actor: Actor) -> None:
    """Say who a house is that is being set up, in a separate transaction."""
    with sql.joined():
        newest = identity.newest(house)
        whole = identity.parts_of(house, newest) | dict(parts)
        event = _add(house, newest, whole, actor.staff, None, "set when the house was set up")
        Work(house, actor).record(chain=house.chain, event=event)


def _add(
    house: House, newest: Identity | None, whole: dict[str, Any], login: str, approval: int | None, reason: str
) -> IdentityChanged:
    number = 1 + (0 if newest is None else newest.number)
    added = Identity(house=house, number=number, parts=whole, set_by=login, approval=approval)
    at_once = {name: whole[name] for name in identity.AT_ONCE}
    *_, day_is_open = sql.together(
        sql.inserting(added),
        sql.updating(House.objects.filter(id=house.id), **at_once),
        identity.open_days(house),
    )
    if not day_is_open:
        identity.wind_clock(house)
    return IdentityChanged(number=number, identity=whole, reason=reason)
