"""Deciding approvals: another person approves or refuses, at a sign-in of their own; who asked may withdraw."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest

from casino.approvals import gate, selectors
from casino.approvals.models import OPEN, Approval, ApprovalState, Assent
from casino.audit.events import AuditEvent
from casino.audit.events.approvals import ApprovalApproved, ApprovalExpired, ApprovalRefused, ApprovalWithdrawn
from casino.audit.services import Actor, record
from casino.core import commands, locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import Forbidden, NotFound
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff import passkeys
from casino.staff.credentials import require_two_minds, role_for
from casino.staff.decisions import Shown, WithCode
from casino.staff.independence import require_another, require_apart
from casino.staff.models import Role, Staff, Terminal


def get(house: House, number: int) -> Approval:
    """The approval of this number. Raises NotFound."""
    found = Approval.objects.filter(house=house, number=number).select_related("requested_by").first()
    if found is None:
        raise NotFound(f"This house has no approval {number}.")
    return found


@dataclass(frozen=True, slots=True)
class OfApproval:
    """An approval as the subject of its decision."""

    number: int

    def open(self, command: Command) -> Approval:
        """Lock it. Raises NotFound."""
        house = command.context.house
        asking = Approval.objects.filter(house=house, number=self.number).select_related("requested_by")
        found, (again,) = commands.locked(
            command, Approval, locks.Rank.APPROVAL, asking, house=house, number=self.number
        )
        found.house, found.requested_by = house, again[0].requested_by
        return found

    def chain(self, found: Approval) -> str:
        """The house's."""
        return found.house.chain

    def advance(self, found: Approval, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """An approval has no version."""
        return outcome.version, outcome.event

    def answer(self, found: Approval, outcome: Outcome) -> Mapping[str, Any]:
        """The approval as it is now."""
        return selectors.describe(Approval.objects.select_related(*selectors.NAMED).get(pk=found.pk))


def approve(*, command: Command, number: int, given: WithCode | None) -> Answer:
    """Approve a request of another person; `given`: the code or passkey, None in a rehearsal, where nobody has one.
    Where a person of every role must approve, the person does so in the first of their roles that has not, and it is
    approved with the last of them. Raises NotFound, Forbidden for a role that may not decide it, Forbidden four_eyes,
    password_change_required, code_required, code_refused, PasskeyRefused, TooManyAttempts, and a Conflict for one that
    cannot be decided any more."""
    made = lambda shown, waits: ApprovalApproved(  # noqa: E731
        approval=number, second_factor=shown.factor or None, passkey_sha256=shown.passkey or None,
        waits_for=waits or None,
    )  # fmt: skip
    return _decide(command, number, ApprovalState.APPROVED, given, made)


def refuse(*, command: Command, number: int, given: WithCode | None, reason: str) -> Answer:
    """Refuse a request of another person: one no is enough, even after approvals. Raises as :func:`approve`."""
    made = lambda shown, _: ApprovalRefused(  # noqa: E731
        approval=number, second_factor=shown.factor or None, passkey_sha256=shown.passkey or None, reason=reason
    )
    return _decide(command, number, ApprovalState.REFUSED, given, made, reason=reason)


def _decide(
    command: Command, number: int, state: ApprovalState, given: WithCode | None,
    event: Callable[[Shown, list[str]], AuditEvent], **fields: Any,
) -> Answer:  # fmt: skip
    context = command.context
    role = _role(context.staff, get(context.house, number), state)
    command = replace(command, context=replace(context, role=role))

    def change(found: Approval, work: Work) -> Outcome:
        gate.require_state(found, ApprovalState.REQUESTED)
        _require_another(command, found)
        of_several = found.every_role and state == ApprovalState.APPROVED
        if of_several:
            _require_next(context.staff, role, found)
        shown = Shown() if given is None else given.use(context.staff, role, _for_passkey(found, state))
        if of_several and (waits := _assent(command, role, found)):
            return Outcome(event(shown, waits))
        # An approval that has run out is not decided: by the database's clock, as when it is used.
        decided = Approval.objects.filter(id=found.pk, expires_at__gt=ClockTimestamp()).update(
            state=state,
            decided_by=context.staff,
            decided_at=ClockTimestamp(),
            decided_terminal=context.terminal,
            **fields,
        )
        if not decided:
            raise gate.expired(found)
        return Outcome(event(shown, []))

    with nullcontext() if given is None else given.counted(context.staff):
        return write.write(command, OfApproval(number), change)


def passkey_challenge(
    *, staff: Staff, terminal: Terminal, number: int, decision: str, request: HttpRequest
) -> dict[str, Any]:
    """What a browser asks a passkey of this person for a signature with, for one decision on exactly this request.
    Raises NotFound where the approval does not concern the person."""
    found = selectors.seen_by(staff).filter(number=number).first()
    if found is None:
        raise NotFound(f"There is no approval {number} that concerns you.")
    bound_to = _for_passkey(found, _STATES[decision])
    return passkeys.asking(passkeys.issue(terminal, bound_to), request, staff)


#: The state after a decision.
_STATES = {"approve": ApprovalState.APPROVED, "refuse": ApprovalState.REFUSED}


def _for_passkey(found: Approval, state: ApprovalState) -> str:
    """What the challenge of a passkey for this decision is for."""
    return passkeys.for_decision(state, found.number, found.request_hash)


def _role(staff: Staff, asked: Approval, state: ApprovalState) -> Role:
    """The role in which a person decides. Raises Forbidden."""
    roles = list(asked.roles)
    if asked.every_role and state == ApprovalState.APPROVED:
        given = asked.assents.filter(given_by=staff).first()
        # Who has approved it already is refused once it is locked; one that was decided, by its state.
        roles = [given.role] if given else asked.waits_for() or roles
    return role_for(staff, [Role(one) for one in roles])


def _require_next(staff: Staff, role: Role, found: Approval) -> None:
    """Refuse a person who has approved it already, who hired one of those that have or was hired by one, or may know
    a password of both, and a role that somebody else has approved it in. Raises Forbidden four_eyes,
    password_change_required, forbidden."""
    before = [one.given_by for one in found.assents.select_related("given_by")]
    require_another(staff, "have approved this", before)
    for person in before:
        require_two_minds(person, staff)
    if role not in (waits := found.waits_for()):
        raise Forbidden(
            f"Somebody has approved this as {role.label.lower()} already; it waits for {', '.join(waits)}.",
            allowed_roles=waits,
        )


def _assent(command: Command, role: Role, found: Approval) -> list[str]:
    """Store that a person approves for a role; returns the roles that have not. Raises Conflict approval_expired."""
    if not Approval.objects.filter(id=found.pk, expires_at__gt=ClockTimestamp()).exists():
        raise gate.expired(found)
    context = command.context
    Assent.objects.create(
        house=found.house, approval=found, role=role, given_by=context.staff, terminal=context.terminal
    )
    return found.waits_for()


def _require_another(command: Command, found: Approval) -> None:
    """Refuse the person who asked, whose own entry it would change, who hired that person or was hired by them, and
    anybody who may know the passwords of both. Raises Forbidden four_eyes, password_change_required."""
    one, other = found.requested_by, command.context.staff
    if one.pk == other.pk:
        raise Forbidden("You asked for this yourself; a second person must decide it.", code="four_eyes")
    if f"/staff/{other.login}/" in found.path:
        raise Forbidden("This changes your own entry; another person must decide it.", code="four_eyes")
    require_apart(one, other)
    require_two_minds(one, other)


def withdraw(*, command: Command, number: int) -> Answer:
    """Withdraw what one has asked for oneself, before it is used. Raises NotFound, Forbidden for anybody else, and a
    Conflict for one that has ended."""

    def change(found: Approval, work: Work) -> Outcome:
        if found.requested_by_id != command.context.staff.pk:
            raise Forbidden("Only the person who asked for an approval can withdraw it.")
        if found.state not in OPEN:
            gate.require_state(found, ApprovalState.REQUESTED)
        Approval.objects.filter(id=found.pk).update(state=ApprovalState.WITHDRAWN, ended_at=ClockTimestamp())
        return Outcome(ApprovalWithdrawn(approval=number))

    return write.write(command, OfApproval(number), change)


def expire(house: House) -> int:
    """Mark the approvals of a house whose time has run out, each with its event; returns how many. Nobody can decide or
    use them before that either."""

    def operation() -> int:
        locks.lock_approvals(house.id)
        late = Approval.objects.filter(house=house, state__in=OPEN, expires_at__lte=ClockTimestamp())
        count = 0
        for number in late.order_by("number").values_list("number", flat=True):
            found = locks.lock(Approval, locks.Rank.APPROVAL, house=house, number=number)
            if found.state in OPEN:
                Approval.objects.filter(id=found.pk).update(state=ApprovalState.EXPIRED, ended_at=ClockTimestamp())
                event = ApprovalExpired(approval=number)
                record(chain=house.chain, house=house, actor=Actor.system("clock:approvals"), event=event)
                count += 1
        return count

    return locks.in_transaction(operation)
