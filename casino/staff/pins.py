"""PINs: a number of four to eight digits, which the person chose with the password, and by which the person goes on at
a table's terminal that was left alone.

A PIN signs nobody in and approves nothing: it wakes a session that its person has got with the password, at a table
only, and only of a person who has no privileged role. After a few wrong ones (`pin_tries`) only the password wakes that
session."""

from itertools import pairwise

from django.contrib.auth.hashers import check_password, make_password
from django.http import HttpRequest

from casino.audit.events import AuditEvent
from casino.audit.events.staff import PinSet, SignInRefused
from casino.audit.services import Actor, record
from casino.core import locks
from casino.core.canonical import fingerprint
from casino.core.errors import BadRequest, Forbidden
from casino.houses.control_points import in_force
from casino.staff import idleness, limits, sessions
from casino.staff.models import Staff, TerminalKind, TerminalToken
from casino.staff.second_factor import ROLES

#: What a PIN looks like.
PATTERN = r"^[0-9]{4,8}\Z"


def is_taken(token: TerminalToken, person: Staff, tries: int) -> bool:
    """Whether this person's PIN would wake this token, where so many wrong ones are allowed."""
    at_table = token.terminal.kind == TerminalKind.TABLE
    return at_table and person.pin is not None and may_have(person) and token.pin_failures < tries


def may_have(person: Staff) -> bool:
    """Whether a PIN may stand in for the person's password: of nobody who approves, judges or gives rights."""
    return not ROLES & set(person.roles)


def choose(staff: Staff, pin: str | None) -> PinSet:
    """Set the PIN of a person, or take it away with None, in the caller's transaction, which saves the row. Raises
    Forbidden pin_not_taken for a privileged role, BadRequest pin_too_simple."""
    if pin is not None and not may_have(staff):
        raise Forbidden(f"The roles of {staff.login} need the password at every terminal.", code="pin_not_taken")
    if pin is not None and _is_simple(pin):
        raise BadRequest("A PIN of one digit, or of digits in a row, is guessed first.", code="pin_too_simple")
    staff.pin = None if pin is None else make_password(pin)
    return PinSet(pin_sha256=None if staff.pin is None else fingerprint(staff.pin))


def _is_simple(pin: str) -> bool:
    steps = {int(after) - int(before) for before, after in pairwise(pin)}
    return len(steps) == 1 and steps <= {-1, 0, 1}


def reauthenticate(*, token: TerminalToken, pin: str, request: HttpRequest, request_id: str) -> sessions.Renewed:
    """Renew the token of a session, in exchange for the person's PIN. A wrong one is counted and recorded. Raises
    Forbidden `pin_wrong`, `pin_not_taken`, TooManyAttempts while the login is locked."""
    person, terminal = token.user, token.terminal
    limits.require_open(request, person.get_username())
    actor = Actor(staff=person.login, role="", terminal=terminal.code, request=request_id)

    def operation() -> sessions.Renewed | Forbidden:
        staff = locks.lock(Staff, locks.Rank.STAFF, id=person.id)
        now = TerminalToken.objects.select_related("terminal").filter(digest=token.digest).first()
        tries = in_force(person.house).pin_tries
        if now is None or not (staff.is_active and is_taken(now, staff, tries)):
            return Forbidden("Here only the password is taken.", code="pin_not_taken")
        renewed = sessions.renew(now) if check_password(pin, staff.pin or "") else None
        event: AuditEvent = SignInRefused(code="pin_wrong")
        if renewed is None:
            TerminalToken.objects.filter(digest=now.digest).update(pin_failures=now.pin_failures + 1)
        else:
            event = idleness.reauthenticated(now, renewed, by_pin=True)
        record(chain=person.house.chain, house=person.house, actor=actor, event=event)
        return renewed or _wrong(tries - now.pin_failures - 1)

    # What it counts and records stays when this refuses.
    found = locks.in_transaction(operation)
    if isinstance(found, Forbidden):
        raise found
    return found


def _wrong(left: int) -> Forbidden:
    otherwise = f"{left} more may be tried" if left else "from now on the password is needed"
    return Forbidden(f"The PIN is wrong; {otherwise}.", code="pin_wrong", tries_left=left)
