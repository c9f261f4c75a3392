"""Staff, their roles and passwords, terminals, and signing in."""

from collections.abc import Sequence
from typing import Annotated

from casino.audit.events.fields import EndedSessions, Login, Reason, Roles
from casino.audit.events.registry import ApprovedEvent, AuditEvent, event

TerminalCode = Annotated[str, "code of the terminal"]
#: Of a salted argon2 hash: it says nothing about the password.
PasswordHash = Annotated[str, "SHA-256 of the stored hash of the new password, hexadecimal"]
KeptToken = Annotated[str, "SHA-256 of the digest of the token that does not end with it, hexadecimal"]
EndedElsewhere = Annotated[int, "number of the actor's tokens elsewhere that ended with it"]
TokenHash = Annotated[str, "SHA-256 of the stored digest of the token, hexadecimal"]
PasskeyHash = Annotated[str, "SHA-256 of the authenticator's name for the passkey (base64url), hexadecimal"]
ShownPasskey = Annotated[
    str | None, "which passkey was shown: SHA-256 of the authenticator's name for it, hexadecimal; absent: none"
]


@event("staff.hired", chain="house")
class StaffHired(AuditEvent):
    """A person was hired under a login."""

    login: Login
    roles: Roles
    password_sha256: PasswordHash
    active: Annotated[
        bool | None, "false where the login counts only when another person has approved it; absent: it counts at once"
    ] = None


@event("staff.roles_changed", chain="house")
class RolesChanged(ApprovedEvent):
    """The roles of a person were changed; the new ones count from the next request on."""

    login: Login
    before: Annotated[Sequence[str], "roles until now"]
    after: Annotated[Sequence[str], "roles from now on"]
    reason: Reason


@event("staff.deactivated", chain="house")
class StaffDeactivated(AuditEvent):
    """A person may not work here any more."""

    login: Login
    before: Annotated[bool, "active before"]
    after: Annotated[bool, "active now"]
    ended_session_count: EndedSessions
    reason: Reason


@event("staff.activated", chain="house")
class StaffActivated(ApprovedEvent):
    """A person may work here again, and has to sign in."""

    login: Login
    before: Annotated[bool, "active before"]
    after: Annotated[bool, "active now"]
    reason: Reason


@event("staff.password_set", chain="house")
class PasswordSet(AuditEvent):
    """The office gave a person a new password."""

    login: Login
    password_sha256: PasswordHash
    locked: Annotated[
        bool | None, "true where the login counts again only when another person has approved it; absent: it counts"
    ] = None
    ended_session_count: EndedSessions
    reason: Reason


@event("staff.password_changed", chain="house")
class PasswordChanged(AuditEvent):
    """The actor, knowing the old password, chose a new one."""

    password_sha256: PasswordHash
    kept_token_sha256: KeptToken
    ended_session_count: EndedElsewhere


@event("staff.pin_set", chain="house")
class PinSet(AuditEvent):
    """The actor, knowing the password, chose a PIN, or took it away."""

    pin_sha256: Annotated[str | None, "SHA-256 of the stored hash of the PIN, hexadecimal; absent: none now"] = None


@event("staff.second_factor_begun", chain="house")
class SecondFactorBegun(AuditEvent):
    """The actor was shown the secret of a second factor. It counts once a code of it was given."""

    sealed_sha256: Annotated[str, "SHA-256 of the sealed secret, hexadecimal"]


@event("staff.second_factor_confirmed", chain="house")
class SecondFactorConfirmed(AuditEvent):
    """The actor gave a first code: from now on a sign-in takes one."""

    sealed_sha256: Annotated[str, "SHA-256 of the sealed secret, hexadecimal"]
    kept_token_sha256: KeptToken
    ended_session_count: EndedElsewhere


@event("staff.passkey_registered", chain="house")
class PasskeyRegistered(AuditEvent):
    """The actor, knowing the password and showing a second factor where there was one, registered a passkey: from now
    on a sign-in takes a passkey, or a code where the actor has an app."""

    passkey_sha256: PasskeyHash
    public_key_sha256: Annotated[str, "SHA-256 of the passkey's public key, hexadecimal"]
    kept_token_sha256: KeptToken
    ended_session_count: EndedElsewhere


@event("staff.passkey_removed", chain="house")
class PasskeyRemoved(AuditEvent):
    """The actor, knowing the password and showing a second factor, removed a passkey of their own."""

    passkey_sha256: PasskeyHash
    kept_token_sha256: KeptToken
    ended_session_count: EndedElsewhere


@event("staff.passkey_clone_seen", chain="house")
class PasskeyCloneSeen(AuditEvent):
    """A passkey of the actor was refused: it has signed more often than it says, so there may be a copy of it."""

    passkey_sha256: PasskeyHash
    stored_count: Annotated[int, "how often it had signed, as it said before"]
    given_count: Annotated[int, "how often it says now"]


@event("staff.second_factor_reset", chain="house")
class SecondFactorReset(ApprovedEvent):
    """The office took a person's second factor away: the app and all passkeys; who did it, and who gave that person
    passwords, counts from now on among the givers of the person's password."""

    login: Login
    ended_session_count: EndedSessions
    reason: Reason


@event("staff.player_linked", chain="house")
class PlayerLinked(ApprovedEvent):
    """The office said under which reference a person is known as a player, who does not play while working here."""

    login: Login
    before: Annotated[str | None, "reference until now; absent for none"] = None
    after: Annotated[str | None, "reference from now on; absent for none"] = None
    reason: Reason


@event("staff.unlocked", chain="house")
class LoginUnlocked(AuditEvent):
    """The office, or the server's `operator`, opened the lock of a login."""

    login: Login
    failure_count: Annotated[int, "number of failed attempts that were forgotten"]
    reason: Reason


@event("staff.signed_in", chain="house")
class StaffSignedIn(AuditEvent):
    """The actor signed in at the event's terminal."""

    token_sha256: TokenHash
    expires: Annotated[str, "time at which the token expires by itself, ISO 8601, UTC"]
    passkey_sha256: ShownPasskey = None


@event("staff.sign_in_refused", chain="house")
class SignInRefused(AuditEvent):
    """A sign-in was refused, or a password that was asked for again. The actor is the login that was tried, or
    `unknown` if no person of the house has it."""

    code: Annotated[
        str,
        "`sign_in_refused`: wrong password; `pin_wrong`: wrong PIN; `too_many_attempts`: the login is locked; "
        "`terminal_revoked`: the device is out of use; `passkey_challenge_refused`: the challenge that was signed was "
        "used, too old or for something else; `passkey_refused`: it is another person's or host's, did not verify "
        "its user, or signed wrongly; `passkey_cloned`: it has signed more often than it says",
    ]


@event("staff.locked_out", chain="house")
class LockedOut(AuditEvent):
    """There were too many wrong passwords: the actor's login is locked for a while, from that address."""


@event("staff.signed_out", chain="house")
class StaffSignedOut(AuditEvent):
    """The actor signed out at the event's terminal."""

    token_sha256: TokenHash


@event("staff.sessions_ended", chain="house")
class SessionsEnded(AuditEvent):
    """The actor ended one of their own sessions, or all but the one at the event's terminal."""

    token_sha256: Annotated[
        str | None, "SHA-256 of the stored digest of the token that ended, hexadecimal; absent: all but the kept one"
    ] = None
    kept_token_sha256: KeptToken
    ended_session_count: EndedElsewhere


@event("staff.reauthenticated", chain="house")
class StaffReauthenticated(AuditEvent):
    """The actor gave the password again, or the PIN, at a terminal that may have been left alone. The session goes on
    with a new token, and the old one counts no more."""

    token_sha256: Annotated[str, "SHA-256 of the stored digest of the token until now, hexadecimal"]
    new_token_sha256: Annotated[str, "SHA-256 of the stored digest of the token from now on, hexadecimal"]
    by_pin: Annotated[bool | None, "true for the PIN; absent: the password"] = None
    passkey_sha256: ShownPasskey = None


RotaNumber = Annotated[int, "number of the entry, from 1 by house"]


@event("rota.entered", chain="house")
class RotaEntered(AuditEvent):
    """Somebody was put on the rota."""

    entry: RotaNumber
    login: Login
    role: Annotated[str, "role in which the person works"]
    kind: Annotated[str, "where: `table`, `cage` or `office`"]
    location: Annotated[str, "code of that table or drawer, empty for the office"]
    starts: Annotated[str, "from when, ISO 8601, UTC"]
    ends: Annotated[str, "until when, ISO 8601, UTC"]


@event("rota.withdrawn", chain="house")
class RotaWithdrawn(AuditEvent):
    """An entry of the rota was withdrawn."""

    entry: RotaNumber
    reason: Reason


@event("terminal.enrolled", chain="house")
class TerminalEnrolled(ApprovedEvent):
    """A device was enrolled."""

    terminal: TerminalCode
    kind: Annotated[str, "where it is: `table`, `cage` or `office`"]
    location: Annotated[str, "code of that table or drawer, empty for the office"]
    key_sha256: Annotated[str, "SHA-256 of the stored digest of the terminal's key, hexadecimal"]


@event("terminal.revoked", chain="house")
class TerminalRevoked(AuditEvent):
    """A terminal was revoked; it cannot be used again."""

    terminal: TerminalCode
    ended_session_count: EndedSessions
    reason: Reason
