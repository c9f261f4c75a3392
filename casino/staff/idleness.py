"""Tokens whose terminal was left alone: after some minutes without a request the person has to give the password again.

The session goes on with a new token. When a token was last used is written at most every `SEEN_EVERY` seconds, so the
time without a request may be counted as that much longer than it was, never as shorter. The time is the database's.
"""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from casino.audit.events.staff import StaffReauthenticated
from casino.audit.services import Actor, record
from casino.core import locks, sql
from casino.core.errors import Forbidden
from casino.houses.control_points import default_of, in_sql
from casino.staff import passkeys, second_factor, sessions
from casino.staff.credentials import REFUSED_CODE, SIGN_IN_REFUSED, Credentials, check, succeeded
from casino.staff.models import Staff, TerminalKind, TerminalToken
from casino.staff.passkeys import Assertion

#: The control point that says after how many minutes a terminal of this kind asks for the password.
_LIMITS: Mapping[str, str] = {
    TerminalKind.CAGE: "idle_minutes_at_drawers",
    TerminalKind.TABLE: "idle_minutes_at_tables",
    TerminalKind.OFFICE: "idle_minutes_in_office",
}
_MINUTES = " ".join(f"WHEN '{kind}' THEN {in_sql(name, str(default_of(name)))}" for kind, name in _LIMITS.items())
#: SQL for the seconds without a request after which a terminal of `staff_terminal`, of a house of `houses_house`, asks
#: for the password.
MOST = f"60 * (CASE staff_terminal.kind {_MINUTES} END)::int"
SEEN_EVERY = 30

#: SQL for the seconds since a token of `staff_terminaltoken` was used.
IDLE = "extract(epoch FROM clock_timestamp() - staff_terminaltoken.last_seen_at)::float8"
#: A row that is locked at the moment, to end the token or because it is used elsewhere too, is not waited for.
_SEEN = """
UPDATE staff_terminaltoken SET last_seen_at = clock_timestamp() WHERE digest = (
    SELECT digest FROM staff_terminaltoken WHERE digest = %s FOR NO KEY UPDATE SKIP LOCKED
)
"""


def is_idle(seconds: float, most: int) -> bool:
    """Whether a terminal was left alone for too long, after so many seconds without a request."""
    return seconds > most


def seen(token: TerminalToken) -> None:
    """Write down that a token is used now, unless another request does so at the same moment."""
    sql.change(_SEEN, [token.digest])


def require_attended(token: TerminalToken, left_alone: int | None) -> None:
    """Refuse a token whose terminal was left alone for longer than so many seconds; None: it was not. Raises Forbidden
    reauthentication_required."""
    if left_alone is not None:
        minutes = left_alone // 60
        raise Forbidden(
            f"Terminal {token.terminal.code} was left alone for more than {minutes} minutes: give the password again "
            "(POST reauthenticate).",
            code="reauthentication_required",
        )


def reauthenticate(
    *, token: TerminalToken, password: str, code: str, passkey: Assertion | None, request: HttpRequest, request_id: str
) -> sessions.Renewed:
    """Renew the token of a session, in exchange for the person's password, and a code or passkey where there is a
    second factor.

    Failures are counted and recorded as at signing in. Raises Forbidden sign_in_refused, TooManyAttempts,
    PasskeyCloned.
    """
    person, terminal = token.user, token.terminal
    house = person.house
    given = Credentials(person.login, password, code, passkey, passkeys.of(passkeys.REAUTHENTICATE, person))
    staff, used = check(house=house, given=given, request=request, terminal=terminal.code, request_id=request_id)

    def operation() -> sessions.Renewed | None:
        now = locks.lock(Staff, locks.Rank.STAFF, id=staff.id)
        if not now.is_active or second_factor.state_of(now) != second_factor.state_of(staff):
            return None
        renewed = sessions.renew(token)
        if renewed is None:
            return None
        succeeded(staff, request)
        actor = Actor(staff=staff.login, role="", terminal=terminal.code, request=request_id)
        event = reauthenticated(token, renewed, passkey_sha256=used or None)
        record(chain=house.chain, house=house, actor=actor, event=event)
        return renewed

    renewed = locks.in_transaction(operation)
    if renewed is None:
        raise Forbidden(SIGN_IN_REFUSED, code=REFUSED_CODE)
    return renewed


def reauthenticated(token: TerminalToken, renewed: sessions.Renewed, **how: Any) -> StaffReauthenticated:
    """What is recorded of a session that goes on with a new token."""
    return StaffReauthenticated(token_sha256=sessions.name_of(token), new_token_sha256=renewed.name, **how)
