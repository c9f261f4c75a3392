"""The gate of every write that a control point holds back: the write kernel (`casino/core/write.py`) calls it, and
nobody else.

A write that needs an approval and has none is rolled back whole; what it was is then stored as a new approval, which
another person decides at a sign-in of their own, or several people, each with a role that must. The same request with
that approval goes through, once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import DateTimeField as Moment
from django.db.models import ExpressionWrapper, Max

from casino.approvals.models import OPEN, Approval, ApprovalKind, ApprovalState, Assent, alternatives
from casino.audit.events.approvals import ApprovalRequested
from casino.audit.services import Actor, record
from casino.core import locks, moments
from casino.core.errors import Conflict
from casino.houses import control_points
from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Role, Staff, Terminal, TerminalKind

#: The control point that says for how many minutes an approval can be decided and used, by the place of the terminal
#: that asked.
_MINUTES = {
    TerminalKind.TABLE: "approval_minutes_at_tables",
    TerminalKind.CAGE: "approval_minutes_at_drawers",
    TerminalKind.OFFICE: "approval_minutes_in_office",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as the kernel has it: who sends it from where, what it is in full, its hash, and the number of the
    approval that it names."""

    house: House
    staff: Staff
    terminal: Terminal
    actor: Actor
    operation: str
    path: str
    body: dict[str, Any] = field(repr=False)
    request_hash: str
    approval: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a control point asks for: an approval of this kind by a person with one of these roles; with `every_role`
    by a person of each of them, all different and independent. `amount` is what it looked at, in minor units."""

    kind: ApprovalKind
    roles: Sequence[Role]
    amount: int | None = None
    every_role: bool = False

    def met_by(self, found: Approval) -> bool:
        """Whether, however an approval was given, it was given by those who may decide this."""
        wanted = alternatives(self.roles, self.every_role)
        return all(any(enough <= given for enough in wanted) for given in found.alternatives())


class ApprovalNeeded(Exception):
    """A write needs an approval and names none; everything it did is rolled back."""

    def __init__(self, need: Need) -> None:
        super().__init__(need.kind)
        self.need = need


#: House and number of an approval that is locked.
_USE = """
UPDATE approvals_approval SET state = 'used', ended_at = clock_timestamp()
WHERE house_id = %s AND number = %s AND state = 'approved' AND expires_at > clock_timestamp() RETURNING id
"""


def use(request: Request, need: Need) -> Approval:
    """Use the approval that the request names, in the transaction of its write. Raises ApprovalNeeded where it names
    none, NotFound, and a Conflict for one that is not for this, or cannot be used; the caller's transaction must end
    with it, for the approval may have been used up in it already."""
    if request.approval is None:
        raise ApprovalNeeded(need)
    named = {"house": request.house, "number": request.approval}
    asking = Approval.objects.filter(**named).select_related("decided_by")
    assents = Assent.objects.filter(approval__house=request.house, approval__number=request.approval)
    _, [[found], given, used] = locks.lock_beside(
        Approval, locks.Rank.APPROVAL, asking, assents.select_related("given_by"),
        (_USE, [request.house.pk, request.approval]), **named,
    )  # fmt: skip
    approval: Approval = found
    approval.note_given(given)
    _require_for(request, need, approval)
    require_state(approval, ApprovalState.APPROVED)
    if not used:
        raise expired(approval)
    return approval


def _require_for(request: Request, need: Need, found: Approval) -> None:
    """Refuse an approval of something else. Raises Conflict approval_differs."""
    wrong = [
        name
        for name, differs in (
            ("request", found.request_hash != request.request_hash),
            ("requested_by", found.requested_by_id != request.staff.pk),
            ("kind", found.kind != need.kind),
            # The control points may have changed since: who decided must be among those who may decide now.
            ("roles", not need.met_by(found)),
        )
        if differs
    ]
    if wrong:
        raise Conflict(
            f"Approval {found.number} is not for this request of yours: it differs in {', '.join(wrong)}.",
            code="approval_differs",
            differs=wrong,
        )


def require_state(found: Approval, wanted: ApprovalState) -> None:
    """Raises a Conflict that says in which state the approval is instead."""
    if found.state != wanted:
        raise Conflict(
            f"Approval {found.number} is {found.state}; this needs one that is {wanted}.",
            code=f"approval_{found.state}",
        )


def expired(found: Approval) -> Conflict:
    """The refusal of an approval whose time has run out."""
    return Conflict(f"The time of approval {found.number} has run out. Ask again.", code="approval_expired")


def ask(request: Request, need: Need) -> Conflict:
    """Store the refused request as an approval to be decided, in a transaction of its own, and return the refusal that
    names it. The same request of the same person again finds the approval that is open already."""

    def attempt() -> Approval:
        locks.lock_approvals(request.house.id)
        return _open_one(request, need) or _new(request, need)

    found = locks.in_transaction(attempt)
    roles = (" and by " if found.every_role else " or ").join(Role(role).label.lower() for role in found.roles)
    return Conflict(
        f"This needs an approval by {roles}: number {found.number} is {found.state}. When it is approved, repeat the "
        f"request with the header Approval: {found.number}.",
        code="approval_required",
        approval={
            "approval": found.number,
            "kind": found.kind,
            "roles": found.roles,
            "every_role": found.every_role,
            "state": found.state,
            "expires_at": moments.utc(found.expires_at),
        },
    )


def _open_one(request: Request, need: Need) -> Approval | None:
    return Approval.objects.filter(
        house=request.house, requested_by=request.staff, request_hash=request.request_hash, kind=need.kind,
        roles=list(need.roles), every_role=need.every_role, state__in=OPEN, expires_at__gt=ClockTimestamp(),
    ).first()  # fmt: skip


def _new(request: Request, need: Need) -> Approval:
    last = Approval.objects.filter(house=request.house).aggregate(last=Max("number"))["last"] or 0
    made = Approval.objects.create(
        house=request.house, number=last + 1, kind=need.kind, operation=request.operation, path=request.path,
        body=request.body, request_hash=request.request_hash, amount=need.amount, roles=list(need.roles),
        every_role=need.every_role, requested_by=request.staff, terminal=request.terminal,
        expires_at=ExpressionWrapper(ClockTimestamp() + lasts(request), output_field=Moment()),
    )  # fmt: skip
    made.refresh_from_db()
    event = ApprovalRequested(
        approval=made.number, kind=str(made.kind), operation=made.operation, path=made.path, body=made.body,
        request_hash=made.request_hash, amount=made.amount, roles=list(made.roles),
        every_role=made.every_role or None, expires=moments.utc(made.expires_at),
    )  # fmt: skip
    record(chain=request.house.chain, house=request.house, actor=request.actor, event=event)
    return made


def lasts(request: Request) -> timedelta:
    """For how long an approval of this request can be decided and used."""
    points = control_points.in_force(request.house)
    return timedelta(minutes=getattr(points, _MINUTES[TerminalKind(request.terminal.kind)]))
