"""Who may read what a schedule sends: who sets it and who approves it must, and go on to while it is in force."""

from collections.abc import Mapping
from enum import StrEnum

from casino.approvals.gate import Need
from casino.approvals.models import Approval, ApprovalKind
from casino.core import once_live
from casino.core.errors import Forbidden
from casino.core.work import Work
from casino.days import packages
from casino.houses.models import House
from casino.reports.frame import registry
from casino.reports.frame.report import COUNTED, FIGURES
from casino.reports.models import Cadence, ReportSchedule
from casino.staff.models import Role, Staff

PACKAGE = "package"
#: Who sets schedules; an administrator reads few reports, and ends every schedule.
SETTERS = (Role.ADMIN, Role.MANAGER, Role.AUDITOR, Role.COMPLIANCE)
#: Who approves them, as far as they read the report.
APPROVERS = (Role.MANAGER, Role.AUDITOR, Role.COMPLIANCE)


class Lost(StrEnum):
    """Why a schedule stops: who has set or approved it works here no more, or may read the report no more."""

    SETTER_LEFT = "setter_left"
    SETTER_READS = "setter_may_not_read"
    APPROVER_LEFT = "approver_left"
    APPROVER_READS = "approver_may_not_read"


def roles_of(what: str) -> tuple[Role, ...]:
    """The roles that read a report, or the package of a day. Raises NotFound for an unknown report."""
    return packages.READERS if what == PACKAGE else registry.get(what).roles


def may_read(staff: Staff, what: str, filters: Mapping[str, str]) -> bool:
    """Whether a person may read what is sent: by role, and with its figures unless it is asked for without them."""
    held = set(staff.roles)
    blind = () if what == PACKAGE else registry.get(what).blind_roles
    return bool(held & set(roles_of(what))) and (not held & set(blind) or filters.get(FIGURES.name) == COUNTED)


def require_reader(staff: Staff, what: str, filters: Mapping[str, str]) -> None:
    """Raises Forbidden schedule_reader for who may not read what is sent."""
    if not may_read(staff, what, filters):
        raise Forbidden(
            f"{staff.login} may not read {what}: who sets a schedule, and who approves it, must be able to.",
            code="schedule_reader", allowed_roles=[*map(str, roles_of(what))],
        )  # fmt: skip


def require_approval(house: House, work: Work, *, what: str, cadence: str, filters: Mapping[str, str]) -> None:
    """Go on with the approval of a person who may read what is sent, where the house is live; the end of a schedule is
    approved as other settings are. Raises Conflict approval_required, Forbidden schedule_reader."""
    if cadence == Cadence.OFF:
        once_live.require_approval(house, work, once_live.SETTINGS)
        return
    readers = roles_of(what)
    roles = tuple(role for role in APPROVERS if role in readers)
    once_live.require_approval(house, work, Need(kind=ApprovalKind.SETTINGS, roles=roles))
    if once_live.is_live(house):
        require_reader(Staff.objects.get(house=house, login=work.approver), what, filters)


def lost(row: ReportSchedule) -> Lost | None:
    """Why a version must not run any more; None while it may."""
    setter = Staff.objects.get(id=row.set_by_id)
    if not _works_here(setter):
        return Lost.SETTER_LEFT
    if not may_read(setter, row.what, row.filters):
        return Lost.SETTER_READS
    if row.approval is None:
        return None
    approver = Approval.objects.select_related("decided_by").get(house=row.house_id, number=row.approval).decided_by
    if approver is None or not _works_here(approver):
        return Lost.APPROVER_LEFT
    return None if may_read(approver, row.what, row.filters) else Lost.APPROVER_READS


def _works_here(staff: Staff) -> bool:
    """A login that waits for its owner's new password is still that of a person who works here."""
    return staff.is_active or staff.locked_by_password
