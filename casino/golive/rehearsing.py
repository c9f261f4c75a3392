"""A rehearsal: an evening in a sandbox copy of a house, and what the verification of the copy finds. The result is an
event of the real house, and a row that the checklist asks for."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Max

from casino.audit.events.house import HouseRehearsed
from casino.audit.services import Actor
from casino.core import locks
from casino.core.errors import Conflict
from casino.core.write import Work
from casino.golive import copying
from casino.golive.acting import Cast
from casino.golive.playing import Evening
from casino.houses import days
from casino.houses.models import House, Rehearsal
from casino.reports import configuration, readiness, selectors
from casino.verification import auditing

#: Items of the checklist without which there is nothing to rehearse.
_NEEDED = ("people", "chip_set", "vault", "drawers", "tables", "trays")
#: Characters that are kept of what went wrong.
MOST_SAID = 300


def rehearse(house: House, actor: Actor) -> Rehearsal:
    """Copy the house as it is now, play an evening there, verify the copy, and record the result in the house's chain.

    Raises Conflict house_not_ready where something to rehearse is missing, and what keeps the copy from being made:
    then nothing was rehearsed, and nothing is recorded in the house.
    """
    _require_whole(house)
    digest = configuration.digest(house)
    made = copying.copy(house, copying.next_code(house, "R"), actor)
    evening = Evening(Cast(made), configuration.tables_in_use(made.house))
    items = [_item(name, part) for name, part in evening.parts()]
    verified: dict[str, int] = {}
    for name, check in (
        ("verification", lambda: _verify(made.house, verified)),
        ("custody", lambda: _custody(made.house)),
        ("trial_balance", lambda: _balance(made.house, evening.day)),
    ):
        items.append(_item(name, check))
    return _recorded(house, actor, made.house.code, digest, items, verified)


def _require_whole(house: House) -> None:
    missing = [item.code for item in readiness.checklist(house) if item.missing and item.code in _NEEDED]
    if missing:
        raise Conflict(f"The house is not ready: {', '.join(missing)}.", code="house_not_ready", missing=missing)


class Differs(Exception):
    """A check of the sandbox copy found something."""


def _item(name: str, part: Callable[[], None]) -> dict[str, Any]:
    """The result of one part: whatever stops it is what the rehearsal is there to find, and is recorded."""
    try:
        part()
    except Exception as error:
        code = getattr(error, "code", type(error).__name__)
        return {"item": name, "failed": f"{code}: {getattr(error, 'detail', error)}"[:MOST_SAID]}
    return {"item": name}


def _verify(house: House, verified: dict[str, int]) -> None:
    report = auditing.verify_house(house).as_json()
    verified |= report["counts"]
    if not report["ok"]:
        raise Differs(str(report["findings"]))


def _custody(house: House) -> None:
    problems = selectors.custody_problems(house) | selectors.transit_problems(house)
    if problems:
        raise Differs(str(problems))


def _balance(house: House, day: str) -> None:
    """The closing snapshot of the day: debits and credits of every commodity are equal."""
    totals = days.totals(house, day)
    wrong = {commodity: both for commodity, both in totals.items() if both["debit"] != both["credit"]}
    if wrong or not totals:
        raise Differs(str(wrong or "the day has no closing snapshot"))


def _recorded(
    house: House, actor: Actor, sandbox: str, digest: str, items: list[dict[str, Any]], verified: dict[str, int]
) -> Rehearsal:
    passed = not any("failed" in item for item in items)
    with transaction.atomic():
        locks.begin()
        locks.lock_places(house.id)
        number = 1 + (Rehearsal.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0)
        made = Rehearsal.objects.create(
            house=house, number=number, sandbox=sandbox, configuration=digest, passed=passed, items=items,
            verified=verified,
        )  # fmt: skip
        event = HouseRehearsed(
            rehearsal=number, sandbox=sandbox, configuration=digest, passed=passed, items=items, verified=verified
        )
        Work(house, actor).record(chain=house.chain, event=event)
    locks.begin()
    return made
