"""Changes of what a house is made of, once it serves guests: who works there, its terminals, tables and drawers.

While a house is founded one person sets these up, and three people sign for the whole before it goes live
(`casino/golive/signing.py`). From then on each change takes an approval. A sandbox never goes live and asks for none.
"""

from collections.abc import Iterable

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.core.work import Work
from casino.houses import stages
from casino.houses.models import House, HouseStage
from casino.staff.models import Role

#: Tables, their terms and fees, trays, drawers.
SETTINGS = Need(kind=ApprovalKind.SETTINGS, roles=(Role.MANAGER,))
#: Terminals, and people whose roles are not privileged.
STAFF = Need(kind=ApprovalKind.STAFF, roles=(Role.MANAGER,))
#: Roles of people who supervise, manage or check; giving them takes an auditor.
_PRIVILEGED = frozenset({
    Role.CAGE_SUPERVISOR, Role.COMPLIANCE, Role.SURVEILLANCE, Role.MANAGER, Role.AUDITOR, Role.ADMIN,
})  # fmt: skip
PRIVILEGED_STAFF = Need(kind=ApprovalKind.STAFF, roles=(Role.AUDITOR,))
#: A login that a new password has locked, and a second factor that is taken away: the sole auditor may be whom it
#: concerns, so a manager can decide too.
SIGN_IN = Need(kind=ApprovalKind.STAFF, roles=(Role.MANAGER, Role.AUDITOR))


def is_live(house: House) -> bool:
    """Whether a house has gone live, as the database has it: called after the locks of a write."""
    return stages.now(house) not in (HouseStage.FOUNDING, HouseStage.SANDBOX)


def require_approval(house: House, work: Work, need: Need) -> None:
    """Go on with an approval only, where the house is live. Raises Conflict approval_required."""
    if is_live(house):
        work.require_approval(need)


def of_roles(roles: Iterable[str]) -> Need:
    """What giving these roles takes."""
    return PRIVILEGED_STAFF if _PRIVILEGED & set(roles) else STAFF
