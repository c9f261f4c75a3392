"""The roster as an administrator changes it in the office: people, their roles and passwords, terminals.

Nobody may change their own entry, except for the password: every other change of a person takes another administrator;
and changes of a house's people wait for each other. So an administrator always remains; and since nobody revokes the
terminal where the person is signed in, so does one in the office.
What a change takes away ends at once: a deactivated person's tokens, a revoked terminal's, those from before a new
password; roles are read again for every request.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.http import HttpRequest

from casino.audit.events import AuditEvent
from casino.audit.events.staff import (
    LoginUnlocked,
    PasswordChanged,
    PasswordSet,
    RolesChanged,
    SecondFactorBegun,
    SecondFactorConfirmed,
    SecondFactorReset,
    StaffActivated,
    StaffDeactivated,
    TerminalRevoked,
)
from casino.core import commands, locks, once_live, write
from casino.core.canonical import fingerprint
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Forbidden
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff import limits, passkeys, pins, second_factor, services, sessions
from casino.staff.by_password import change_own, require_second_factor
from casino.staff.credentials import Credentials, role_for
from casino.staff.duties import excluded, require_compatible
from casino.staff.models import Role, Staff, Terminal, TerminalKind, TerminalToken
from casino.staff.passkeys import Assertion
from casino.staff.selectors import duties_today


def hire(*, command: Command, login: str, name: str, roles: Iterable[Role], password: str) -> Answer:
    """Hire a person with a first password. In a house that is live the login counts when it was activated, which takes
    an approval: the password is part of no approval. Raises Conflict login_taken, ValidationError for a weak password,
    Forbidden roles_exclude_each_other."""

    def change(house: House, work: Work) -> Outcome:
        staff, event = services.add_person(
            house=house, login=login, name=name, roles=roles, password=password, giver=command.context.staff,
            active=not once_live.is_live(house),
        )  # fmt: skip
        return Outcome(event, describe(staff), 201, version=staff.version)

    return write.write(command, OfHouse(office=True), change)


def change_roles(*, command: Command, login: str, roles: Iterable[Role], reason: str) -> Answer:
    """Replace a person's roles. Raises Conflict no_change, Forbidden roles_exclude_each_other, and Conflict
    duty_done_today where the person has acted on this gaming day in a role that a new one excludes, approval_required
    once the house is live."""
    wanted = sorted(roles)

    def change(staff: Staff, work: Work) -> AuditEvent:
        before = list(staff.roles)
        _require_change(wanted != before, staff, f"has the roles {', '.join(before)} already")
        require_compatible(wanted, login, staff.house)
        _require_no_exclusive_duty(staff, wanted)
        once_live.require_approval(staff.house, work, once_live.of_roles({*wanted, *before}))
        staff.roles = wanted
        return RolesChanged(login=login, before=before, after=wanted, reason=reason)

    return _of_person(command, login, change)


def deactivate(*, command: Command, login: str, reason: str) -> Answer:
    """Deactivate a person, whose tokens end; one whom a new password has locked too, who stays out then. Raises
    Conflict no_change."""

    def change(staff: Staff, work: Work) -> AuditEvent:
        _require_change(staff.is_active or staff.locked_by_password, staff, "is not active")
        before = staff.is_active
        staff.is_active = staff.locked_by_password = False
        ended = sessions.end(user=staff)
        return StaffDeactivated(login=login, before=before, after=False, ended_session_count=ended, reason=reason)

    return _of_person(command, login, change)


def activate(*, command: Command, login: str, reason: str) -> Answer:
    """Activate a person, with roles and password as they are: one who was deactivated, was hired in a live house, or
    got a password there. Raises Conflict no_change, Forbidden
    roles_exclude_each_other, Conflict approval_required once the house is live."""

    def change(staff: Staff, work: Work) -> AuditEvent:
        _require_change(not staff.is_active, staff, "is active")
        require_compatible(staff.roles, login, staff.house)
        need = once_live.SIGN_IN if staff.locked_by_password else once_live.of_roles(staff.roles)
        once_live.require_approval(staff.house, work, need)
        staff.is_active, staff.locked_by_password = True, False
        return StaffActivated(login=login, before=False, after=True, reason=reason)

    return _of_person(command, login, change)


def set_password(*, command: Command, login: str, password: str, reason: str) -> Answer:
    """Give a person a new password; the person's tokens end. In a house that is live this locks the login until its
    activation is approved, or its giver could act as the person: the password is part of no approval. Raises
    ValidationError for a weak one."""

    def change(staff: Staff, work: Work) -> AuditEvent:
        validate_password(password, staff)
        staff.give_password(password, command.context.staff)
        locked = once_live.is_live(staff.house) and (staff.is_active or staff.locked_by_password)
        if locked:
            staff.is_active, staff.locked_by_password = False, True
        return PasswordSet(
            login=login,
            password_sha256=fingerprint(staff.password),
            locked=locked or None,
            ended_session_count=sessions.end(user=staff),
            reason=reason,
        )

    return _of_person(command, login, change)


def change_password(*, command: Command, old: str, new: str, token: TerminalToken, request: HttpRequest) -> Answer:
    """Choose a new password of one's own, at any terminal; tokens but this one end. Who gave the one before stays on
    record: the giver can have been the one who chose.

    A wrong old password is refused, counted and recorded as at signing in. Raises Forbidden sign_in_refused,
    TooManyAttempts, Conflict no_change where the new one is the old one, ValidationError for a weak one.
    """

    def change(house: House, staff: Staff) -> Outcome:
        _require_change(new != old, staff, "has this password already")
        validate_password(new, staff)
        staff.set_password(new)
        staff.must_change_password = False
        staff.version += 1
        staff.save(update_fields=["password", "must_change_password", "version"])
        event = PasswordChanged(
            password_sha256=fingerprint(staff.password),
            kept_token_sha256=sessions.name_of(token),
            ended_session_count=sessions.end(keep=token, user=staff),
        )
        return Outcome(event, describe(staff), version=staff.version)

    return change_own(command, Credentials(command.context.staff.login, old), request, change)


def set_pin(*, command: Command, password: str, pin: str | None, request: HttpRequest) -> Answer:
    """Choose a PIN of one's own, or take it away with None, in exchange for the password. Raises Forbidden
    sign_in_refused for a wrong one, which is counted, TooManyAttempts, Forbidden pin_not_taken, BadRequest
    pin_too_simple, Conflict no_change."""

    def change(house: House, staff: Staff) -> Outcome:
        _require_change(pin is not None or staff.pin is not None, staff, "has no PIN")
        event = pins.choose(staff, pin)
        staff.version += 1
        staff.save(update_fields=["pin", "version"])
        return Outcome(event, describe(staff), version=staff.version)

    return change_own(command, Credentials(command.context.staff.login, password), request, change)


def begin_second_factor(*, command: Command, password: str, passkey: Assertion | None, request: HttpRequest) -> Answer:
    """Make a secret for an app of one's own that shows codes; it is shown in the first answer only, and takes the place
    of one that was never confirmed. Who has a passkey shows it with the password. Raises Forbidden sign_in_refused for
    a wrong one, which is counted, TooManyAttempts, PasskeyCloned, Conflict second_factor_set."""
    me, terminal = command.context.staff, command.context.terminal.code
    given = Credentials(me.login, password, "", passkey, passkeys.of(passkeys.OWN, me))

    def change(house: House, staff: Staff) -> Outcome:
        if staff.totp_since is not None:
            raise Conflict(f"{staff.login} has an app already; an administrator resets it.", code="second_factor_set")
        require_second_factor(staff, given, terminal, request)
        secret = second_factor.new_secret()
        staff.totp_sealed = second_factor.sealed(house, staff, secret)
        _save_factor(staff)
        once = {"secret": secret, "uri": second_factor.uri(staff, secret)}
        event = SecondFactorBegun(sealed_sha256=second_factor.fingerprint(staff))
        return Outcome(event, describe(staff), 201, version=staff.version, once=once)

    return change_own(command, given, request, change)


def confirm_second_factor(*, command: Command, code: str, token: TerminalToken, request: HttpRequest) -> Answer:
    """Let one's new second factor count from now on, by a first code of it; tokens but this one end. Raises Forbidden
    code_refused for a wrong one, which is counted, TooManyAttempts, Conflict second_factor_set,
    second_factor_missing."""
    me = command.context.staff

    def change(house: House, work: Work) -> Outcome:
        staff = locks.lock(Staff, locks.Rank.STAFF, house=house, login=me.login)
        if staff.totp_since is not None:
            raise Conflict(f"{staff.login} has a second factor.", code="second_factor_set")
        if staff.totp_sealed is None:
            raise Conflict(f"{staff.login} has begun no second factor.", code="second_factor_missing")
        step = second_factor.matching_step(staff, code)
        if step is None or not staff.is_active:
            raise Forbidden(
                "The code is wrong or too old. Set the clock of the app's device by the network, and try again.",
                code="code_refused",
            )
        staff.totp_step = step
        Staff.objects.filter(id=staff.id).update(totp_since=ClockTimestamp())
        staff.refresh_from_db(fields=["totp_since"])
        _save_factor(staff)
        event = SecondFactorConfirmed(
            sealed_sha256=second_factor.fingerprint(staff), kept_token_sha256=sessions.name_of(token),
            ended_session_count=sessions.end(keep=token, user=staff),
        )  # fmt: skip
        return Outcome(event, describe(staff), version=staff.version)

    limits.require_open(request, me.get_username())
    try:
        return write.write(command, OfHouse(lock=locks.lock_roster), change)
    except Forbidden as error:
        if error.code == "code_refused":
            # Outside the transaction, so that the failure counts.
            limits.count_failure(request, me.get_username())
        raise


def _save_factor(staff: Staff) -> None:
    staff.version += 1
    staff.save(update_fields=["totp_sealed", "totp_since", "totp_step", "version"])


def reset_second_factor(*, command: Command, login: str, reason: str) -> Answer:
    """Take a person's second factor away, app and passkeys, when the device is lost; the person's tokens end. Who does
    so could now sign in with the person's password alone, and counts among its givers. Raises Conflict no_change,
    approval_required once the house is live."""

    def change(staff: Staff, work: Work) -> AuditEvent:
        _require_change(staff.totp_sealed is not None or staff.passkey_count > 0, staff, "has no second factor")
        once_live.require_approval(staff.house, work, once_live.SIGN_IN)
        staff.totp_sealed = staff.totp_since = None
        staff.passkeys.all().delete()
        staff.passkey_count = 0
        by = command.context.staff
        staff.password_givers = list(dict.fromkeys([*staff.password_givers, by.login, *by.password_givers]))
        return SecondFactorReset(login=login, ended_session_count=sessions.end(user=staff), reason=reason)

    return _of_person(command, login, change)


def unlock(*, command: Command, login: str, reason: str) -> Answer:
    """Unlock a login that wrong passwords have locked, from all addresses. Raises Conflict no_change."""

    def change(staff: Staff, work: Work) -> AuditEvent:
        failures = limits.open_lock(staff.get_username())
        _require_change(failures > 0, staff, "has no failed attempts")
        return LoginUnlocked(login=login, failure_count=failures, reason=reason)

    return _of_person(command, login, change)


def enrol(*, command: Command, code: str, kind: TerminalKind, location: str) -> Answer:
    """Enrol a device; its key is in the first answer only and kept by the device only. Raises Conflict
    terminal_exists, approval_required once the house is live."""

    def change(house: House, work: Work) -> Outcome:
        terminal, key, event = services.add_terminal(house=house, code=code, kind=kind, location=location)
        once_live.require_approval(house, work, once_live.STAFF)
        return Outcome(event, describe_terminal(terminal), 201, version=terminal.version, once={"key": key})

    return write.write(command, OfHouse(office=True), change)


def revoke(*, command: Command, code: str, reason: str) -> Answer:
    """Revoke a terminal; it cannot be used again. Raises Conflict no_change, and own_terminal for the terminal of the
    request."""

    def change(house: House, work: Work) -> Outcome:
        if Terminal.objects.get(id=command.context.terminal.id).revoked_at is not None:
            raise Forbidden(f"Terminal {command.context.terminal.code} has been revoked.")
        if code == command.context.terminal.code:
            raise Conflict("A terminal cannot revoke itself; use another one in the office.", code="own_terminal")
        terminal = locks.lock(Terminal, locks.Rank.STAFF, house=house, code=code)
        command.require_version(terminal.version)
        if terminal.revoked_at is not None:
            raise Conflict(f"Terminal {code} has been revoked.", code="no_change")
        Terminal.objects.filter(id=terminal.id).update(revoked_at=ClockTimestamp(), version=terminal.version + 1)
        terminal.refresh_from_db()
        event = TerminalRevoked(terminal=code, ended_session_count=sessions.end(terminal=terminal), reason=reason)
        return Outcome(event, describe_terminal(terminal), version=terminal.version)

    return write.write(command, OfHouse(lock=locks.lock_roster, office=True), change)


def revoke_at(house: House, kind: TerminalKind, location: str) -> list[str] | None:
    """Revoke the terminals of a place that is retired, in the caller's transaction, which records it; returns their
    codes, None where there are none."""
    locks.lock_roster(house.id)
    found = Terminal.objects.filter(house=house, kind=kind, location=location, revoked_at=None).order_by("code")
    revoked = []
    for terminal in found:
        Terminal.objects.filter(id=terminal.id).update(revoked_at=ClockTimestamp(), version=terminal.version + 1)
        sessions.end(terminal=terminal)
        revoked.append(terminal.code)
    return revoked or None


def describe(staff: Staff) -> dict[str, Any]:
    """A person as writes answer: by login, never by name."""
    return {"login": staff.login, "roles": list(staff.roles), "active": staff.is_active, "version": staff.version}


def describe_terminal(terminal: Terminal) -> dict[str, Any]:
    """A terminal, without anything of its key."""
    return {
        "terminal": terminal.code,
        "kind": str(terminal.kind),
        "location": terminal.location,
        "revoked": terminal.revoked_at is not None,
        "version": terminal.version,
    }


def _of_person(command: Command, login: str, change: Callable[[Staff, Work], AuditEvent]) -> Answer:
    """Change another person's row. Raises Forbidden four_eyes, NotFound, VersionConflict and what `change` refuses."""

    return write.write(command, Colleague(login), lambda staff, work: Outcome(change(staff, work)))


@dataclass(frozen=True, slots=True)
class Colleague:
    """Another person of the house as the subject of a write of the office."""

    login: str

    def open(self, command: Command) -> Staff:
        """Lock the roster and the person. Raises WrongTerminal, Forbidden four_eyes, NotFound, VersionConflict."""
        house = command.context.at_the_office()
        if self.login == command.context.staff.login:
            raise Forbidden(
                "Administrators cannot change their own entry; another administrator must do it.", code="four_eyes"
            )
        with locks.gathered() as locking:
            locks.lock_roster(house.id)
        commands.require_unanswered(command, *locking)
        _require_still_admin(command)
        staff = locks.lock(Staff, locks.Rank.STAFF, house=house, login=self.login)
        command.require_version(staff.version)
        staff.house = house
        return staff

    def chain(self, staff: Staff) -> str:
        """The house's."""
        return staff.house.chain

    def advance(self, staff: Staff, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """Save the changes with the next version."""
        staff.version += 1
        staff.save(
            update_fields=[
                "roles",
                "is_active",
                "locked_by_password",
                "password",
                "pin",
                "password_givers",
                "must_change_password",
                "totp_sealed",
                "totp_since",
                "passkey_count",
                "player_ref",
                "version",
            ]
        )
        return staff.version, outcome.event

    def answer(self, staff: Staff, outcome: Outcome) -> Mapping[str, Any]:
        """The person as they are now."""
        return describe(staff)


def _require_still_admin(command: Command) -> None:
    """Refuse a person who was deactivated, or stopped being an administrator, since the request came in."""
    me = Staff.objects.get(id=command.context.staff.id)
    role = role_for(me, [command.context.role])
    if not me.is_active:
        raise Forbidden(f"{me.login} no longer has the role {role}.")


def _require_no_exclusive_duty(staff: Staff, wanted: Iterable[str]) -> None:
    pair = excluded(duties_today(staff.house, staff.login), set(wanted), staff.house)
    if pair is not None:
        raise Conflict(
            f"{staff.login} has worked today as {pair.one} or {pair.other}, and cannot be the other before the next "
            f"gaming day: {pair.why}.",
            code="duty_done_today",
            roles=pair.roles,
        )


def _require_change(changes: bool, staff: Staff, otherwise: str) -> None:
    if not changes:
        raise Conflict(f"{staff.login} {otherwise}.", code="no_change")
