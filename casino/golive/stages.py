"""Suspending, resuming and closing a house: a manager asks, an auditor approves."""

from collections.abc import Iterator

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.house import HouseClosed, HouseResumed, HouseSuspended
from casino.audit.events.registry import ApprovedEvent
from casino.bookkeeping import chart
from casino.cage.models import Drawer
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
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
    tables = Table.objects.filter(house=house).exclude(state__in=[TableState.CLOSED, TableState.RETIRED])
    drawers = Drawer.objects.filter(house=house, shifts__closed_at=None, shifts__isnull=False)
    named = [rows.order_by("code").values_list("code", flat=True) for rows in (tables, drawers, house.chip_sets.all())]
    with locks.gathered() as locking:
        locks.lock_every(Table, Drawer, rank=locks.Rank.DESK, house=house)
    periods, closings, open_tables, open_drawers, chip_sets, held = sql.together(
        *locking, *days.reading(house), *named, chart.holding(house)
    )[len(locking) :]
    yield from (f"day {day.name}" for day in days.of(periods, closings) if day.closed_at is None)
    yield from (f"table {code}" for code in open_tables)
    yield from (f"drawer {code}" for code in open_drawers)
    for code in chip_sets:
        if any(chart.held_in(house, code, held).as_json().values()):
            yield f"chips {code}"


def require_stage(house: House, *allowed: HouseStage) -> None:
    """Refuse a house in another stage, as the database has it. Raises Conflict house_wrong_stage."""
    stage = stages.now(house)
    if stage not in allowed:
        raise Conflict(
            f"The house is {stage}; this needs one that is {' or '.join(allowed)}.", code="house_wrong_stage",
            stage=stage,
        )  # fmt: skip


def to_stage(house: House, work: Work, stage: HouseStage) -> None:
    """Write the next stage with the work's event, which records it."""
    work.soon(House.objects.filter(id=house.id), stage=stage)
    house.stage = stage
    stages.read(house, [(stage,)])


def _changed(house: House, work: Work, stage: HouseStage, event: ApprovedEvent) -> Outcome:
    work.require_approval(APPROVED)
    to_stage(house, work, stage)
    return Outcome(event, {"house": house.code, "stage": str(stage)})
