"""Sandbox houses for those who write programs against the API: a copy of a house's configuration with logins of its
own, replaced by the next one when somebody wants a clean one."""

import secrets
from dataclasses import dataclass, field

from casino.audit.events.house import HouseClosed
from casino.audit.services import Actor
from casino.core import locks
from casino.core.errors import Conflict
from casino.core.write import Work
from casino.golive import copying, stages
from casino.houses.models import House, HouseStage
from casino.staff.models import Role
from casino.staff.services import hire

_MARK = "S"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A new sandbox: its house, passwords by login, keys by terminal. They are kept nowhere."""

    house: House
    passwords: dict[str, str] = field(repr=False)
    keys: dict[str, str] = field(repr=False)
    #: Code of the one that it has replaced; empty where there was none.
    replaced: str


def make(house: House, actor: Actor, *, reset: bool) -> Sandbox:
    """A sandbox copy `CODE-S1`, `CODE-S2` ... in which one person of each role can sign in. `reset`: the one before is
    closed, with all that is open there. Raises Conflict sandbox_exists where there is one and `reset` is not asked for,
    and what :func:`casino.golive.copying.copy` raises."""
    open_now = House.objects.filter(code__startswith=f"{house.code}-{_MARK}", is_sandbox=True).exclude(
        stage=HouseStage.CLOSED
    )
    before = open_now.order_by("-opened_at").first()
    if before is not None and not reset:
        raise Conflict(f"There is a sandbox {before.code}; --reset replaces it.", code="sandbox_exists")
    made = copying.copy(house, copying.next_code(house, _MARK), actor, people=False)
    passwords = {f"{role}@{made.house.code}": secrets.token_urlsafe(12) for role in Role}
    for role, (login, password) in zip(Role, passwords.items(), strict=True):
        name = str(role.label)
        hire(house=made.house, login=login, name=name, roles=[role], password=password, actor=actor)
    if before is not None:
        close(before, actor, "replaced by the next sandbox")
    return Sandbox(made.house, passwords, made.keys, "" if before is None else before.code)


def close(house: House, actor: Actor, reason: str) -> None:
    """Close a sandbox for ever, unless it is; the event names what was left open."""

    def operation() -> None:
        locks.lock_days(house.id)
        if House.objects.values_list("stage", flat=True).get(id=house.id) == HouseStage.CLOSED:
            return
        left = list(stages.remaining(house))
        stages.to_stage(house, HouseStage.CLOSED)
        Work(house, actor).record(chain=house.chain, event=HouseClosed(remaining=left or None, reason=reason))

    locks.in_transaction(operation)
