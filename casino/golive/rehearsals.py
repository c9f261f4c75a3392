"""Rehearsals that somebody has asked for: requested, cancelled, found. A worker plays them (`rehearsing.py`)."""

from datetime import timedelta
from typing import Any

from casino.audit.events.house import RehearsalCancelled, RehearsalRequested
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.golive import copying, stages
from casino.houses.models import (
    ClockTimestamp,
    House,
    HouseStage,
    OutboxMessage,
    Rehearsal,
    RehearsalRun,
    RehearsalState,
)
from casino.reports import readiness
from casino.reports.frame.head import utc

#: The task that plays a rehearsal, asked for in the outbox.
TASK = "golive.rehearse"
#: Seconds after which a rehearsal is interrupted, and ended.
SOFT_LIMIT, HARD_LIMIT = 600, 630
#: Mark of the codes of sandbox houses in which rehearsals are played.
MARK = "R"
#: Items of the checklist without which there is nothing to rehearse.
_NEEDED = ("people", "chip_set", "vault", "drawers", "tables", "trays")
_RUNS = OfHouse(lock=locks.lock_places, office=True)


def request(*, command: Command) -> Answer:
    """Ask for a rehearsal of the house as it is. Raises as :func:`ask`, WrongTerminal."""

    def change(house: House, work: Work) -> Outcome:
        run = ask(house, work)
        return Outcome(RehearsalRequested(rehearsal=run.number), describe(run), 202, version=run.version)

    return write.write(command, _RUNS, change)


def ask(house: House, work: Work, *, taken: timedelta | None = None) -> RehearsalRun:
    """A new rehearsal, whose event the caller records; the places are locked. `taken`: the caller plays it, and has it
    for so long.

    Raises Conflict rehearsal_under_way while another one waits, house_wrong_stage for a closed house, house_not_ready
    where something to rehearse is missing, house_code_too_long where a copy of the house can have no code.
    """
    number = _require_possible(house)
    added = RehearsalRun(
        house=house, number=number, requested_by=work.actor.staff, tries=0 if taken is None else 1,
        worked_until=None if taken is None else ClockTimestamp() + taken,
    )  # fmt: skip
    _, [found] = sql.together(sql.inserting(added), RehearsalRun.objects.filter(house=house, number=number))
    run: RehearsalRun = found
    run.house = house
    work.enqueue(task=TASK, subject=str(run.number))
    return run


def cancel(*, command: Command, number: int) -> Answer:
    """Cancel a rehearsal that is not played yet. Raises NotFound, Conflict rehearsal_ended."""

    def change(house: House, work: Work) -> Outcome:
        run = find(house, number)
        command.require_version(run.version)
        if run.state != RehearsalState.WAITING:
            raise Conflict(f"Rehearsal {number} is {run.state}.", code="rehearsal_ended", state=run.state)
        RehearsalRun.objects.filter(id=run.pk).update(state=RehearsalState.CANCELLED, ended_at=ClockTimestamp())
        OutboxMessage.objects.filter(house=house, task=TASK, subject=str(number)).update(done_at=ClockTimestamp())
        run.refresh_from_db()
        return Outcome(RehearsalCancelled(rehearsal=number), describe(run), version=run.version)

    return write.write(command, _RUNS, change)


def find(house: House, number: int) -> RehearsalRun:
    """One rehearsal. Raises NotFound."""
    found = RehearsalRun.objects.filter(house=house, number=number).first()
    if found is None:
        raise NotFound(f"This house has no rehearsal {number}.")
    return found


def describe(run: RehearsalRun) -> dict[str, Any]:
    """A rehearsal as answers have it."""
    played = Rehearsal.objects.filter(house=run.house_id, number=run.number).first()
    return {
        "rehearsal": run.number,
        "version": run.version,
        "state": run.state,
        "requested_by": run.requested_by,
        "requested_at": utc(run.requested_at),
        "part_count": run.part_count,
        "failure": run.failure,
        "ended_at": None if run.ended_at is None else utc(run.ended_at),
        "result": None if played is None else _result(played),
    }


def _result(played: Rehearsal) -> dict[str, Any]:
    items = [{"item": one["item"], "failed": one.get("failed", "")} for one in played.items]
    return {
        "passed": played.passed,
        "sandbox": played.sandbox,
        "configuration": played.configuration,
        "items": items,
        "verified": played.verified,
    }


def _require_possible(house: House) -> int:
    """Returns the number of the next rehearsal. Raises as :func:`ask`."""
    stages.require_stage(house, *(stage for stage in HouseStage if stage != HouseStage.CLOSED))
    runs = RehearsalRun.objects.filter(house=house)
    under_way, numbers, used = sql.together(
        runs.filter(state=RehearsalState.WAITING).order_by("id")[:1],
        runs.order_by("-number").values_list("number", flat=True)[:1],
        copying.used_codes(house.code, MARK),
    )
    for waiting in under_way:
        raise Conflict(
            f"Rehearsal {waiting.number} is under way.", code="rehearsal_under_way", rehearsal=waiting.number
        )
    copying.require_length(copying.next_after(house.code, MARK, used))
    missing = [item.code for item in readiness.checklist(house, only=_NEEDED) if item.missing]
    if missing:
        raise Conflict(f"The house is not ready: {', '.join(missing)}.", code="house_not_ready", missing=missing)
    return next(iter(numbers), 0) + 1
