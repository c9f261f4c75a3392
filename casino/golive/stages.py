"""Suspending, resuming and closing a house: a manager asks, an auditor approves."""

from collections.abc import Iterator

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.house import HouseClosed, HouseResumed, HouseSuspended
from casino.audit.events.registry import ApprovedEvent
from casino.bookkeeping import chart
from casino.cage.models import Drawer
from casino.chips.models import ChipSet
from casino.core import locks, write
from casino.core.errors import Conflict
from casino.core.write import Answer, Command, OfHouse, Outcome, Work
from casino.houses import days, stages
from casino.houses.models import House, HouseStage
from casino.staff.models import Role
from casino.tables.models import Table, TableState

APPROVED = Need(kind=ApprovalKind.STAGE, roles=(Role.AUDITOR,))
_STAGES = OfHouse(lock=locks.lock_days, office=True)


def suspend(*, command: Command, reason: str) -> Answer:
    """Suspend a house that plays: no table opens, no hand is dealt and no chips are sold until it is resumed. What is
    owed is paid, and what is open is counted and closed. Raises Conflict house_wrong_stage, approval_required."""

    def change(house: House, work: Work) -> Outcome:
        require_stage(house, house.open_stage)
        return _changed(house, work, HouseStage.SUSPENDED, HouseSuspended(reason=reason))

    return write.write(command, _STAGES, change)


def resume(*, command: Command, reason: str) -> Answer:
    """Open a suspended house again. Raises as :func:`suspend`."""

    def change(house: House, work: Work) -> Outcome:
        require_stage(house, HouseStage.SUSPENDED)
        return _changed(house, work, house.open_stage, HouseResumed(reason=reason))

    return write.write(command, _STAGES, change)


def close(*, command: Command, reason: str) -> Answer:
    """Close a house for ever. Raises Conflict house_not_empty with the codes of what is still open or in circulation,
    and as :func:`suspend`."""

    def change(house: House, work: Work) -> Outcome:
        require_stage(house, house.open_stage, HouseStage.SUSPENDED)
        left = list(remaining(house))
        if left:
            raise Conflict(f"The house still has {', '.join(left)}.", code="house_not_empty", remaining=left)
        return _changed(house, work, HouseStage.CLOSED, HouseClosed(reason=reason))

    return write.write(command, _STAGES, change)


def remaining(house: House) -> Iterator[str]:
    """Codes of what keeps a house from being closed: days, tables and drawers that are open, and chips that people
    hold. Tables and then drawers are locked until the transaction ends, in the order of their ids."""
    locks.lock_all(Table, locks.Rank.DESK, house=house)
    locks.lock_all(Drawer, locks.Rank.DESK, house=house)
    yield from (f"day {day.name}" for day in days.days(house) if day.closed_at is None)
    tables = Table.objects.filter(house=house).exclude(state__in=[TableState.CLOSED, TableState.RETIRED])
    yield from (f"table {code}" for code in tables.order_by("code").values_list("code", flat=True))
    drawers = Drawer.objects.filter(house=house, shifts__closed_at=None, shifts__isnull=False)
    yield from (f"drawer {code}" for code in drawers.order_by("code").values_list("code", flat=True))
    for code in ChipSet.objects.filter(house=house).order_by("code").values_list("code", flat=True):
        if any(chart.public(house, code).as_json().values()):
            yield f"chips {code}"


def require_stage(house: House, *allowed: HouseStage) -> None:
    """Refuse a house in another stage, as the database has it. Raises Conflict house_wrong_stage."""
    stage = House.objects.values_list("stage", flat=True).get(id=house.id)
    if stage not in allowed:
        raise Conflict(
            f"The house is {stage}; this needs one that is {' or '.join(allowed)}.", code="house_wrong_stage",
            stage=stage,
        )  # fmt: skip


def to_stage(house: House, stage: HouseStage) -> None:
    """Write the next stage, which the caller records."""
    House.objects.filter(id=house.id).update(stage=stage)
    house.stage = stage
    stages.changed(house)


def _changed(house: House, work: Work, stage: HouseStage, event: ApprovedEvent) -> Outcome:
    work.require_approval(APPROVED)
    to_stage(house, stage)
    return Outcome(event, {"house": house.code, "stage": str(stage)})
