"""Sandbox houses for those who write programs against the API: a copy of a house's configuration with logins of its
own, replaced by the next one when somebody wants a clean one."""

import re
import secrets
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.db import IntegrityError

from casino.audit.events.house import HouseClosed, SandboxReset
from casino.audit.services import Actor
from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
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
    made = copying.copy(house, copying.next_code(house.code, _MARK), actor, people=False)
    passwords = _people(made.house, actor)
    if before is not None:
        close(before, actor, "replaced by the next sandbox")
    return Sandbox(made.house, passwords, made.keys, "" if before is None else before.code)


def reset(*, command: Command, reason: str) -> Answer:
    """Close the sandbox from which it is asked for, and found the next one, which is set up as this one is and begins
    with what this one began with. All of it is one transaction; passwords and keys are in the first answer only.

    Raises Conflict not_a_sandbox, house_wrong_stage, house_code_too_long, sandbox_exists where another one is founded
    at the same moment, and what setting up a copy is refused with; WrongTerminal.
    """

    def change(house: House, work: Work) -> Outcome:
        if not house.is_sandbox:
            raise Conflict("Only a sandbox is reset; nothing of this house is ever thrown away.", code="not_a_sandbox")
        stages.require_stage(house, HouseStage.SANDBOX, HouseStage.SUSPENDED)
        left = list(stages.remaining(house))
        code = copying.next_code(re.sub(rf"-{_MARK}[0-9]+\Z", "", house.code), _MARK)
        copying.require_length(code)
        actor = Actor.system(f"sandbox:{house.code}")
        try:
            made = copying.copy(house, code, actor, people=False, stock=copying.stock_at_first(house))
        except (ValidationError, IntegrityError):
            raise Conflict(
                f"Another sandbox {code} is founded at this moment. Try again.", code="sandbox_exists"
            ) from None
        passwords = _people(made.house, actor)
        stages.to_stage(house, work, HouseStage.CLOSED)
        once = {
            "logins": [{"login": login, "password": password} for login, password in passwords.items()],
            "terminals": [{"terminal": terminal, "key": key} for terminal, key in made.keys.items()],
        }
        event = SandboxReset(successor=code, remaining=left or None, reason=reason)
        return Outcome(event, {"house": house.code, "stage": str(house.stage), "successor": code}, 201, once=once)

    return write.write(command, OfHouse(lock=locks.lock_days, office=True), change)


def _people(house: House, actor: Actor) -> dict[str, str]:
    """Hire one person of each role; passwords by login."""
    passwords = {f"{role}@{house.code}": secrets.token_urlsafe(12) for role in Role}
    for role, (login, password) in zip(Role, passwords.items(), strict=True):
        hire(house=house, login=login, name=str(role.label), roles=[role], password=password, actor=actor)
    return passwords


def close(house: House, actor: Actor, reason: str) -> None:
    """Close a sandbox for ever, unless it is; the event names what was left open."""

    def operation() -> None:
        locks.lock_days(house.id)
        if House.objects.values_list("stage", flat=True).get(id=house.id) == HouseStage.CLOSED:
            return
        left = list(stages.remaining(house))
        work = Work(house, actor)
        stages.to_stage(house, work, HouseStage.CLOSED)
        work.record(chain=house.chain, event=HouseClosed(remaining=left or None, reason=reason))

    locks.in_transaction(operation)
