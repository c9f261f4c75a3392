"""Passwords: one check for every caller that names a person, rate-limited in one place, and two people who sign
together."""

import getpass
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple, NoReturn, TextIO

from axes.handlers.proxy import AxesProxyHandler
from django.contrib.auth import authenticate
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from casino.audit.events import AuditEvent
from casino.audit.events.reads import AttemptRefused
from casino.audit.events.staff import LockedOut, PasskeyCloneSeen, SignInRefused
from casino.audit.refusals import log_refusals
from casino.audit.services import Actor, record
from casino.core import locks, sql
from casino.core.errors import BadRequest, Forbidden, HouseError, LogRefused, TooManyAttempts
from casino.houses.control_points import in_force
from casino.houses.models import House
from casino.staff import limits, passkeys, second_factor
from casino.staff.duties import require_compatible
from casino.staff.independence import in_both_lines
from casino.staff.models import Role, Staff, full_name
from casino.staff.passkeys import Assertion, PasskeyCloned, PasskeyRefused

#: The same text for every wrong part.
SIGN_IN_REFUSED = "Login, password, code or terminal is not right."
REFUSED_CODE = "sign_in_refused"
#: The actor where a login is unknown in this house. The login is not recorded: people type passwords into this field.
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Credentials:
    """A login, a password in the clear, and a code or an answer of a passkey where the person has a second factor;
    `bound_to` is what the passkey's challenge must be for. Never stored, never printed."""

    login: str
    password: str
    code: str = ""
    passkey: Assertion | None = None
    bound_to: str = ""

    def __repr__(self) -> str:
        return f"Credentials({self.login!r})"

    def factor(self, terminal: str) -> second_factor.Given:
        """What was given besides the password, at the terminal of this code."""
        return second_factor.Given(self.code, self.passkey, terminal, self.bound_to)


class Checked(NamedTuple):
    """Who it is, and what the trail calls the passkey that was shown; empty without one."""

    staff: Staff
    passkey: str


def check(
    *, house: House, given: Credentials, request: HttpRequest, terminal: str, request_id: str, recorded: bool = True
) -> Checked:
    """The active person of this house with this login and password, and with a code or passkey of the second factor,
    which is used up by it, where the person has one; the caller reports it with `succeeded`.

    Failures are counted by house, login and address (`AXES_*` in the settings) and, if `recorded`, are events of the
    house's chain, which say what was wrong with a passkey. Call it outside a transaction: what it records must stay
    when the caller refuses. Raises TooManyAttempts while the login is locked from this address, Forbidden
    sign_in_refused with the same words whatever was wrong, and PasskeyCloned: its owner must know.
    """

    def write(*events: AuditEvent) -> None:
        if recorded:
            _record(house, given.login, terminal, request_id, *events)

    name = full_name(house, given.login)
    if wait := limits.seconds_locked(request, name):
        write(SignInRefused(code=TooManyAttempts.code))
        raise TooManyAttempts("Too many failed attempts; wait or ask an administrator.", retry_after=wait)
    # In a transaction, because it counts a failure: that may meet another one's, and is counted once then.
    staff = locks.in_transaction(lambda: authenticate(request=request, username=name, password=given.password))
    wrong: Forbidden | None = None
    if isinstance(staff, Staff) and staff.house_id == house.id:
        try:
            return Checked(staff, second_factor.accepted(staff, given.factor(terminal), request))
        except Forbidden as error:
            wrong = error
        limits.count_failure(request, name)
    locked = limits.seconds_locked(request, name)
    write(*_events_of(wrong), *([LockedOut()] if locked else []))
    if isinstance(wrong, PasskeyCloned):
        raise wrong
    raise Forbidden(SIGN_IN_REFUSED, code=REFUSED_CODE)


def _events_of(wrong: Forbidden | None) -> list[AuditEvent]:
    """What the trail says of a sign-in: nothing but that it was refused, and what was wrong with a passkey."""
    if not isinstance(wrong, PasskeyRefused):
        return [SignInRefused(code=REFUSED_CODE)]
    return [SignInRefused(code=wrong.code), *([cloned(wrong)] if isinstance(wrong, PasskeyCloned) else [])]


def cloned(error: PasskeyCloned) -> AuditEvent:
    """What the trail says of a passkey that counts backwards."""
    return PasskeyCloneSeen(passkey_sha256=error.passkey, stored_count=error.stored, given_count=error.given)


def is_right(staff: Staff, given: Credentials, request: HttpRequest) -> bool:
    """Whether a person has this password and is not locked from this address. Nothing is counted or recorded; for a
    wrong one the caller uses `check`, outside its transaction."""
    return not limits.seconds_locked(request, staff.get_username()) and staff.check_password(given.password)


def refuse(*, house: House, given: Credentials, terminal: str, request_id: str, code: str) -> NoReturn:
    """Refuse without looking at the password: `code` is for the trail only; the answer is the same for every reason.
    Raises Forbidden sign_in_refused."""
    _record(house, given.login, terminal, request_id, SignInRefused(code=code))
    raise Forbidden(SIGN_IN_REFUSED, code=REFUSED_CODE)


def _record(house: House, login: str, terminal: str, request_id: str, *found: AuditEvent) -> None:
    known = Staff.objects.filter(house=house, login=login).exists()
    actor = Actor(staff=login if known else UNKNOWN, role="", terminal=terminal, request=request_id)

    def write() -> None:
        for event in found:
            if isinstance(event, PasskeyCloneSeen):
                passkeys.note_clone(house, login, event.passkey_sha256)
            record(chain=f"house/{house.code}", house=house, actor=actor, event=event)

    locks.in_transaction(write)


def succeeded(staff: Staff, request: HttpRequest) -> None:
    """Forget the failures before this success, and remember when it was, as receivers of `user_logged_in` would."""
    staff.last_login = timezone.now()
    remembered = sql.updating(Staff.objects.filter(pk=staff.pk), last_login=staff.last_login)
    _, counted = sql.together(remembered, limits.forgettable(request, staff.get_username()))
    if counted:
        AxesProxyHandler.user_logged_in(sender=Staff, request=request, user=staff)


def two_people(
    *,
    house: House,
    first: Credentials,
    second: Credentials,
    roles: Iterable[Role],
    one_of_them: Iterable[Role] = (),
    address: str = "127.0.0.1",
    request_id: str = "",
    subject: str = "",
    recorded: bool = True,
) -> tuple[Staff, Staff]:
    """Two different active people of this house who sign together, in the order in which they were named.

    Each must have one of `roles`, and at least one of the two one of `one_of_them`, where that names any. Both must
    have chosen their passwords, and not by the leave of the same person (`require_two_minds`). Passwords are checked
    and counted as for signing in, from `address`, and wrong ones are recorded; `recorded=False` is for a house that may
    write no events until the two have signed. What is refused once both were right is recorded by `refusals_recorded`,
    of `subject`. Call it outside a transaction, and record the act itself, with the first as actor and the second as
    approver. Raises Forbidden `four_eyes`, also for one person twice, Forbidden `password_change_required`,
    `sign_in_refused`, TooManyAttempts, Forbidden `forbidden` with `allowed_roles`, `roles_exclude_each_other`,
    `second_factor_required`.
    """
    if first.login == second.login:
        raise Forbidden("This takes two different people.", code="four_eyes")
    allowed, special = tuple(roles), tuple(one_of_them)
    people = []
    for given in (first, second):
        request = HttpRequest()
        request.META["REMOTE_ADDR"] = address
        found = check(house=house, given=given, request=request, terminal="", request_id=request_id, recorded=recorded)
        people.append((found.staff, request))
    (one, _), (other, _) = people
    with refusals_recorded(house=house, signer=one, request_id=request_id, subject=subject):
        for staff, _ in people:
            second_factor.require(staff, bool(in_force(house).second_factor_required))
            require_compatible(staff.roles, staff.login, house)
            role_for(staff, allowed)
        if special and not any(role in staff.roles for staff, _ in people for role in special):
            raise Forbidden(f"One of the two must have a role of {', '.join(special)}.", allowed_roles=list(special))
        require_two_minds(one, other)
    for staff, request in people:
        succeeded(staff, request)
    return one, other


def require_two_minds(one: Staff, other: Staff) -> None:
    """Refuse two people of whom one can have both passwords. Raises Forbidden password_change_required, four_eyes.

    The giver of a password can sign in with it before its owner does, choose a new one, and give passwords as the
    owner; the house cannot distinguish the two. So no such person counts as independent of the giver: a password has
    the same givers, and theirs, for as long as nobody else gives a new one (`Staff.give_password`), and two people sign
    together only if no member of staff is in both lines, themselves included. What set the house up is no member of
    staff.
    """
    for staff in (one, other):
        require_own_password(staff)
    found = (
        Staff.objects.filter(house_id=one.house_id, login__in=in_both_lines(one, other))
        .order_by("login")
        .values_list("login", flat=True)
        .first()
    )
    if found is not None:
        raise Forbidden(
            f"{found} may know both passwords, because {found} set one of them or a password before it. Another "
            "administrator must set a new password for one of the two people.",
            code="four_eyes",
            giver=found,
        )


def require_own_password(staff: Staff) -> None:
    """Refuse a password that the office gave. Raises Forbidden password_change_required."""
    if staff.must_change_password:
        raise Forbidden(
            f"{staff.login} must first change the password that {staff.password_by} set (POST password).",
            code="password_change_required",
        )


@contextmanager
def refusals_recorded(*, house: House, signer: Staff, request_id: str, subject: str) -> Iterator[None]:
    """Inside, what is refused to a person whose password was right is recorded as `attempt.refused` and raised again. A
    house that may write no events records nothing. Use it outside a transaction."""
    try:
        yield
    except HouseError as error:
        actor = Actor(staff=signer.login, role="", terminal="", request=request_id)
        event = AttemptRefused(
            operation=request_id or None,
            method="manage.py",
            path=subject,
            code=error.code,
            status=error.status,
            expected=[str(role) for role in error.extra.get("allowed_roles", ())] or None,
        )
        with suppress(LogRefused), log_refusals(), transaction.atomic():
            record(chain=house.chain, house=house, actor=actor, event=event)
        raise


def role_for(staff: Staff, allowed: Iterable[Role]) -> Role:
    """The first of the allowed roles that this person has. Raises Forbidden when there is none."""
    allowed = tuple(allowed)
    for role in allowed:
        if role in staff.roles:
            return role
    raise Forbidden(f"This takes one of the roles {', '.join(allowed)}.", allowed_roles=list(allowed))


def ask_for_two(stdin: TextIO | None = None, stderr: TextIO | None = None) -> tuple[Credentials, Credentials]:
    """Ask for two people's credentials for a management command.

    At a keyboard each login is asked for, and password and code of the second factor without an echo; the code is empty
    where the person has none. Anything else gives four lines: login, password, login, password; or six: login,
    password, code, login, password, code. Raises BadRequest when a line is missing, or a login or password empty.
    """
    source, prompts = stdin or sys.stdin, stderr or sys.stderr
    lines = _typed(source, prompts) if source.isatty() else source.read().splitlines()
    if len(lines) == 4:
        lines = [*lines[:2], "", *lines[2:], ""]
    if len(lines) != 6 or not all(lines[place] for place in (0, 1, 3, 4)):
        raise BadRequest(
            "Four lines are needed: login, password, login, password; or six, with a code after each password."
        )
    first, second = Credentials(*lines[:3]), Credentials(*lines[3:])
    return first, second


def _typed(source: TextIO, prompts: TextIO) -> list[str]:
    lines = []
    for ordinal in ("First", "Second"):
        prompts.write(f"{ordinal} person's login: ")
        prompts.flush()
        lines.append(source.readline().rstrip("\r\n"))
        lines.append(getpass.getpass(f"{ordinal} person's password: "))
        lines.append(getpass.getpass(f"{ordinal} person's code (none: empty): "))
    return lines
