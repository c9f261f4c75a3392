"""Hiring, enrolling terminals, signing in and out."""

import hashlib
import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.db import IntegrityError
from django.http import HttpRequest

from casino.audit import guard
from casino.audit.events.staff import LoginUnlocked, StaffHired, StaffSignedIn, StaffSignedOut, TerminalEnrolled
from casino.audit.services import Actor, Receipt, record
from casino.core import locks, moments, sql
from casino.core.canonical import fingerprint
from casino.core.errors import Conflict, Forbidden
from casino.core.work import Work
from casino.houses.models import House
from casino.staff import limits, passkeys, second_factor
from casino.staff.credentials import REFUSED_CODE, SIGN_IN_REFUSED, Checked, Credentials, check, refuse, succeeded
from casino.staff.duties import require_compatible
from casino.staff.models import Role, Staff, Terminal, TerminalKind, TerminalToken, full_name
from casino.staff.passkeys import Assertion

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A fresh token in the clear (it is shown once and only its hash is kept), its row, and the event's place."""

    token: str
    row: TerminalToken
    receipt: Receipt


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def hire(*, house: House, login: str, name: str, roles: Iterable[Role], password: str, actor: Actor) -> Staff:
    """Hire a person when a house is set up, in a separate transaction."""
    with sql.joined():
        staff, event = add_person(
            house=house, login=login, name=name, roles=roles, password=password, giver=actor.staff
        )
        Work(house, actor).record(chain=house.chain, event=event)
    return staff


def copy_person(*, house: House, login: str, name: str, roles: Iterable[Role], actor: Actor) -> Staff:
    """Hire a person of another house for a sandbox copy of it, in a separate transaction: without a password, so that
    nobody can sign in. Raises Forbidden roles_exclude_each_other."""
    staff = Staff(house=house, login=login, name=name, roles=sorted(roles), password_givers=[actor.staff])
    require_compatible(staff.roles, login, house)
    staff.set_unusable_password()
    with sql.joined():
        staff.save(force_insert=True)
        event = StaffHired(login=login, roles=list(staff.roles), password_sha256=fingerprint(staff.password))
        Work(house, actor).record(chain=house.chain, event=event)
    return staff


def add_person(
    *,
    house: House,
    login: str,
    name: str,
    roles: Iterable[Role],
    password: str,
    giver: Staff | str,
    active: bool = True,
) -> tuple[Staff, StaffHired]:
    """Hire a person, in the caller's transaction, which records the event, and ends with a refusal; one who is not
    `active` cannot sign in yet. The password must pass Django's validators; only its argon2 hash is kept. Raises
    ValidationError, Conflict login_taken, Forbidden roles_exclude_each_other."""
    hired_by = giver.login if isinstance(giver, Staff) else ""
    staff = Staff(house=house, login=login, name=name, roles=sorted(roles), hired_by=hired_by, is_active=active)
    require_compatible(staff.roles, login, house)
    validate_password(password, staff)
    staff.give_password(password, giver)
    try:
        staff.save(force_insert=True)
    except IntegrityError:
        raise Conflict(
            f"The login {login} is taken, or one that differs only in upper and lower case.",
            code="login_taken",
            login=login,
        ) from None
    hired = StaffHired(
        login=login,
        roles=list(staff.roles),
        password_sha256=fingerprint(staff.password),
        active=None if active else False,
    )
    return staff, hired


def enrol_terminal(*, house: House, code: str, kind: TerminalKind, location: str, actor: Actor) -> tuple[Terminal, str]:
    """Enrol a terminal, in a separate transaction, and return it with its key."""
    with sql.joined():
        terminal, key, event = add_terminal(house=house, code=code, kind=kind, location=location)
        Work(house, actor).record(chain=house.chain, event=event)
    return terminal, key


def add_terminal(
    *, house: House, code: str, kind: TerminalKind, location: str
) -> tuple[Terminal, str, TerminalEnrolled]:
    """Enrol a device, in the caller's transaction, which records the event, and ends with a refusal; its key is shown
    once and kept by the device only. Raises Conflict terminal_exists."""
    key = secrets.token_urlsafe(32)
    terminal = Terminal(house=house, code=code, kind=kind, location=location, key_digest=_digest(key))
    try:
        terminal.save(force_insert=True)
    except IntegrityError:
        raise Conflict(f"Terminal {code} exists already.", code="terminal_exists", terminal=code) from None
    event = TerminalEnrolled(
        terminal=code, kind=str(kind), location=location, key_sha256=fingerprint(terminal.key_digest)
    )
    return terminal, key, event


def sign_in(
    *, request: HttpRequest, login: str, password: str, terminal_code: str, terminal_key: str, request_id: str,
    code: str = "", passkey: Assertion | None = None,
) -> SignedIn:  # fmt: skip
    """Check terminal and person, then issue a token for both together. A person with a second factor gives a code, or
    the answer of a passkey to a challenge of this terminal (`passkey_challenge`).

    The terminal comes first: without its key no password is checked. So an outsider can neither lock a person out nor
    learn whether a password was right. The person's row is locked for the token: a password that is replaced while it
    is being checked gets none. Raises TooManyAttempts while the login is locked from this address, and Forbidden with
    the same words whatever part was wrong, but PasskeyCloned.
    """
    terminal = _known(terminal_code, terminal_key, request_id)
    house, given = terminal.house, Credentials(login, password, code, passkey, passkeys.SIGN_IN)
    if terminal.revoked_at is not None:
        refuse(house=house, given=given, terminal=terminal.code, request_id=request_id, code="terminal_revoked")
    checked = check(house=house, given=given, request=request, terminal=terminal.code, request_id=request_id)
    actor = Actor(staff=login, role="", terminal=terminal.code, request=request_id)
    signed_in = _issue(checked=checked, terminal=terminal, request=request, actor=actor)
    if signed_in is None:
        refuse(house=house, given=given, terminal=terminal.code, request_id=request_id, code=REFUSED_CODE)
    return signed_in


def passkey_challenge(
    *, request: HttpRequest, terminal_code: str, terminal_key: str, request_id: str
) -> dict[str, Any]:
    """What a browser asks an authenticator for a signature with, to sign in at this terminal; it says nothing of
    anybody. Raises Forbidden sign_in_refused for a terminal that no house knows, or that was revoked."""
    terminal = _known(terminal_code, terminal_key, request_id)
    if terminal.revoked_at is not None:
        raise Forbidden(SIGN_IN_REFUSED, code=REFUSED_CODE)
    return passkeys.asking(passkeys.issue(terminal, passkeys.SIGN_IN), request, None)


def _known(code: str, key: str, request_id: str) -> Terminal:
    """The terminal with this code and key. Raises Forbidden sign_in_refused."""
    here = Terminal.objects.filter(key_digest=_digest(key), code=code)
    terminal = here.select_related("house").first()
    if terminal is None:
        # It belongs to no house, so no house's trail can record it.
        log.warning("a sign-in at a terminal that no house knows, request %s", request_id)
        raise Forbidden(SIGN_IN_REFUSED, code=REFUSED_CODE)
    return terminal


def _issue(*, checked: Checked, terminal: Terminal, request: HttpRequest, actor: Actor) -> SignedIn | None:
    """A token for a person whose password was right, and code or passkey, if one was due; None if the person was
    deactivated, or got another password or second factor since."""
    house, staff = terminal.house, checked.staff

    def operation() -> SignedIn | None:
        now = locks.lock(Staff, locks.Rank.STAFF, id=staff.id)
        if not now.is_active or second_factor.state_of(now) != second_factor.state_of(staff):
            return None
        row, token = TerminalToken.objects.create(staff, terminal=terminal, house=house)
        succeeded(staff, request)
        event = signed_in_event(row, checked.passkey)
        receipt = record(chain=house.chain, house=house, actor=actor, event=event)
        return SignedIn(token, row, receipt)

    return locks.in_transaction(operation)


def signed_in_event(token: TerminalToken, passkey: str = "") -> StaffSignedIn:
    """What is recorded of a new token: a hash of its digest, when it expires, and the passkey that was shown."""
    if token.expiry is None:
        raise AssertionError("REST_KNOX has a TOKEN_TTL: every token expires")
    expires = moments.utc(token.expiry)
    return StaffSignedIn(token_sha256=fingerprint(token.digest), expires=expires, passkey_sha256=passkey or None)


def unlock(*, house: House, login: str, reason: str, unrecorded: bool = False) -> Receipt | None:
    """Open a login's lock as the operator of the server, for a house whose administrators cannot (`manage.py
    unlock_login`); `roster.unlock` is theirs. Where the house may write no event it is refused, or done `unrecorded`
    and None returned: else a few typing errors would keep two people from opening an epoch. Raises NotFound, Conflict
    no_change, LogRefused."""
    actor = Actor.operator("unlock_login")

    def operation() -> Receipt | None:
        locks.lock(Staff, locks.Rank.STAFF, house=house, login=login)
        failures = limits.open_lock(full_name(house, login))
        if not failures:
            raise Conflict(f"{login} has no failed attempts.", code="no_change")
        if unrecorded and guard.refusal(house) is not None:
            return None
        event = LoginUnlocked(login=login, failure_count=failures, reason=reason)
        return record(chain=house.chain, house=house, actor=actor, event=event)

    return locks.in_transaction(operation)


def end_tokens(house: House, using: str) -> None:
    """Sign everybody of a house out, in the caller's transaction of `using`, which records why."""
    TerminalToken.objects.using(using).filter(house=house).delete()


def sign_out(*, token: TerminalToken, actor: Actor) -> None:
    """Revoke one token."""
    house, event = token.terminal.house, StaffSignedOut(token_sha256=fingerprint(token.digest))

    def operation() -> None:
        TerminalToken.objects.filter(pk=token.pk).delete()
        record(chain=house.chain, house=house, actor=actor, event=event)

    locks.in_transaction(operation)
