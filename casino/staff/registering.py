"""The passkeys of a person as the person changes them: one is begun, registered, and removed again. Another person
takes all of them away (`roster.reset_second_factor`)."""

from typing import Any

from django.http import HttpRequest

from casino.audit.events.staff import PasskeyRegistered, PasskeyRemoved
from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.staff import passkeys, roster, second_factor, sessions
from casino.staff.by_password import change_own, require_second_factor
from casino.staff.credentials import Credentials, check
from casino.staff.models import Passkey, Staff, TerminalToken
from casino.staff.passkeys import Assertion, Creation, PasskeyRefused

#: Passkeys that one person may have.
MOST = 10


def begin(
    *, token: TerminalToken, password: str, code: str, passkey: Assertion | None, request: HttpRequest, request_id: str
) -> dict[str, Any]:
    """What a browser asks an authenticator for a new passkey with, in exchange for the password, and a code or passkey
    where there is a second factor. Raises Forbidden sign_in_refused, which is counted, TooManyAttempts, PasskeyCloned,
    Conflict too_many_passkeys."""
    person, terminal = token.user, token.terminal
    _require_room(person)
    given = Credentials(person.login, password, code, passkey, passkeys.of(passkeys.OWN, person))
    check(house=person.house, given=given, request=request, terminal=terminal.code, request_id=request_id)
    challenge = passkeys.issue(terminal, passkeys.of(passkeys.REGISTER, person))
    return passkeys.making(challenge, request, person)


def register(*, command: Command, name: str, given: Creation, token: TerminalToken, request: HttpRequest) -> Answer:
    """Let a passkey that was begun count from now on; the person's tokens but this one end. Raises Forbidden
    passkey_refused, passkey_challenge_refused, Conflict passkey_exists, too_many_passkeys."""
    me, terminal = command.context.staff, command.context.terminal

    def change(house: House, work: Work) -> Outcome:
        staff = locks.lock(Staff, locks.Rank.STAFF, house=house, login=me.login)
        _require_room(staff)
        made = passkeys.made(staff, given, terminal.code, passkeys.of(passkeys.REGISTER, staff), request)
        if not staff.is_active:
            raise PasskeyRefused(f"{staff.login} is not active.")
        if Passkey.objects.filter(house=house, credential_id=given.credential).exists():
            raise Conflict("This passkey is registered already.", code="passkey_exists")
        key = Passkey.objects.create(
            house=house, staff=staff, credential_id=given.credential, name=name, public_key=made.public_key,
            sign_count=made.sign_count,
        )  # fmt: skip
        _count(staff, 1)
        event = PasskeyRegistered(
            passkey_sha256=passkeys.name_of(key), public_key_sha256=passkeys.key_fingerprint(made.public_key),
            kept_token_sha256=sessions.name_of(token), ended_session_count=sessions.end(keep=token, user=staff),
        )  # fmt: skip
        return Outcome(event, describe(staff), 201, version=staff.version)

    try:
        return write.write(command, OfHouse(lock=locks.lock_roster), change)
    except PasskeyRefused:
        passkeys.forget(me.house_id, given.client_data)
        raise


def remove(
    *, command: Command, passkey: str, given: Credentials, required: bool, token: TerminalToken, request: HttpRequest
) -> Answer:  # fmt: skip
    """Remove one's own passkey (`passkey`: what the trail calls it), in exchange for the password and a code or
    passkey; tokens but this one end. `required`: whether the house asks for a second factor. Raises NotFound, Forbidden
    sign_in_refused, which is counted, TooManyAttempts, PasskeyCloned, Conflict last_second_factor."""

    named: list[Passkey] = []

    def change(house: House, staff: Staff) -> Outcome:
        require_second_factor(staff, given, command.context.terminal.code, request)
        named[-1].delete()
        _count(staff, -1)
        if second_factor.is_missing(staff, required):
            raise Conflict(
                "This is your only second factor, and your roles need one: register another one first, or let an "
                "administrator reset it.",
                code="last_second_factor",
            )
        event = PasskeyRemoved(
            passkey_sha256=passkey, kept_token_sha256=sessions.name_of(token),
            ended_session_count=sessions.end(keep=token, user=staff),
        )  # fmt: skip
        return Outcome(event, describe(staff), version=staff.version)

    return change_own(command, given, request, change, lambda staff: named.append(_named(staff, passkey)))


def describe(staff: Staff) -> dict[str, Any]:
    """A person as these writes answer: by login, never by name."""
    return roster.describe(staff) | {"passkey_count": staff.passkey_count}


def _named(staff: Staff, passkey: str) -> Passkey:
    """The passkey of a person that the trail calls so. Raises NotFound."""
    for one in passkeys.of_person(staff):
        if passkeys.name_of(one) == passkey:
            return one
    raise NotFound("You have no such passkey.")


def _require_room(staff: Staff) -> None:
    if staff.passkey_count >= MOST:
        raise Conflict(f"{staff.login} has {MOST} passkeys; remove one first.", code="too_many_passkeys", max=MOST)


def _count(staff: Staff, change: int) -> None:
    staff.passkey_count += change
    staff.version += 1
    staff.save(update_fields=["passkey_count", "version"])
