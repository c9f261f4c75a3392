"""Changing a house's control points: an administrator proposes, a manager or an auditor approves, and they are in force
from a moment on that has not passed yet. What was set before is never edited."""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Max

from casino.approvals import gate, selectors
from casino.approvals.models import ApprovalKind
from casino.audit.events.approvals import LimitsChanged
from casino.audit.services import Actor
from casino.core import locks, moments, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import control_points
from casino.houses.models import ClockTimestamp, House, Limits
from casino.staff.models import Role

APPROVED = gate.Need(kind=ApprovalKind.CONTROL_POINTS, roles=(Role.MANAGER, Role.AUDITOR))
#: Who approves that two duties may meet in one person.
SMALL_HOUSE = gate.Need(kind=ApprovalKind.CONTROL_POINTS, roles=(Role.AUDITOR,))


def change(*, command: Command, points: Mapping[str, int], valid_from: datetime | None, reason: str) -> Answer:
    """Set these control points (minor units, by name; the others stay) from a moment on, or at once. Raises Conflict
    approval_required, and too_many_tables for a house that is not small, Unprocessable limits_in_the_past."""

    def changed(house: House, work: Work) -> Outcome:
        _require_not_past(valid_from)
        if points.get("small_house"):
            _require_small(house)
        work.require_approval(SMALL_HOUSE if "small_house" in points else APPROVED)
        event = _add(house, points, valid_from, command.context.staff.login, command.approval, reason)
        # Of what is to come too: the answer is the whole.
        return Outcome(event, selectors.limits(house), 201, version=event.number)

    return write.write(command, OfHouse(office=True, lock=locks.lock_approvals), changed)


def set_at_founding(*, house: House, points: Mapping[str, int], actor: Actor) -> None:
    """Set control points of a house that is being set up, in force at once, in a separate transaction."""
    with sql.joined():
        event = _add(house, points, None, actor.staff, None, "set when the house was set up")
        Work(house, actor).record(chain=house.chain, event=event)


def _require_not_past(valid_from: datetime | None) -> None:
    if valid_from is not None and valid_from <= sql.database_time():
        raise Unprocessable(
            "Control points begin at a moment to come; leave valid_from out to begin at once.",
            code="limits_in_the_past",
            valid_from=valid_from.isoformat(),
        )


def _require_small(house: House) -> None:
    if not control_points.has_few_tables(house):
        most = control_points.MOST_TABLES_OF_SMALL
        raise Conflict(f"This is for a house of at most {most} tables.", code="too_many_tables", max=most)


def _add(
    house: House, points: Mapping[str, int], valid_from: datetime | None, login: str, approval: int | None, reason: str
) -> LimitsChanged:
    """Add the next control points: those that would be in force then, with these changes."""
    known = Limits.objects.filter(house=house)
    last = known.aggregate(last=Max("number"))["last"] or 0
    before = known.filter(valid_from__lte=valid_from or ClockTimestamp()).order_by("-valid_from", "-number").first()
    whole = control_points.defaults(house) | (before.points if before else {}) | dict(points)
    row = Limits.objects.create(
        house=house, number=last + 1, valid_from=valid_from or ClockTimestamp(), points=whole, set_by=login,
        approval=approval,
    )  # fmt: skip
    row.refresh_from_db()
    control_points.changed(house)
    return LimitsChanged(number=row.number, valid_from=moments.utc(row.valid_from), points=whole, reason=reason)
