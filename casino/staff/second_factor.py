"""The second factor of a sign-in: a passkey (`casino/staff/passkeys.py`) or a code of an authenticator app, which
changes with the time (RFC 6238: SHA-1, six digits, 30 seconds), and who must have one.

The secret of an app is sealed under a data key of the house, bound to the person's row. A code is accepted once, in its
own 30 seconds and no later; the time is the database's. So an app whose clock is wrong is refused as it is set up,
where its person learns it, and not at some sign-in. Telephones take the time from their network.
"""

import hashlib
from dataclasses import dataclass, field
from hmac import compare_digest

import pyotp
from django.http import HttpRequest

from casino.core import locks, sql
from casino.core.errors import Forbidden
from casino.houses import sealing
from casino.houses.control_points import in_sql
from casino.houses.models import House
from casino.staff import passkeys
from casino.staff.models import Role, Staff

#: Seconds for which a code is shown.
PERIOD = 30
#: Who approves, judges or gives rights: they act with a second factor only, where their house requires it.
ROLES = frozenset({Role.CAGE_SUPERVISOR, Role.COMPLIANCE, Role.MANAGER, Role.AUDITOR, Role.ADMIN})

_NOW = "SELECT extract(epoch FROM clock_timestamp())::bigint / %s"


def new_secret() -> str:
    """A random secret of 160 bits, in base32 as apps take it."""
    return pyotp.random_base32(32)


def uri(staff: Staff, secret: str) -> str:
    """The secret with its name, as apps read it from a QR code."""
    app, issuer = pyotp.TOTP(secret, interval=PERIOD), f"Cukassza {staff.house.code}"
    return app.provisioning_uri(name=staff.login, issuer_name=issuer)


def sealed(house: House, staff: Staff, secret: str) -> bytes:
    """The secret as it is stored. Raises SealKeyWrong, SealedUnreadable."""
    return sealing.seal(house.id, secret.encode(), _context(staff))


def fingerprint(staff: Staff) -> str:
    """SHA-256 of the sealed secret, 64 hex digits: what the audit trail has of it."""
    return hashlib.sha256(bytes(staff.totp_sealed or b"")).hexdigest()


def matching_step(staff: Staff, code: str) -> int | None:
    """The time step of now, if this is its code and it was not used before; None otherwise, and without a secret.
    Raises SealKeyWrong, SealedUnreadable."""
    if staff.totp_sealed is None:
        return None
    secret = sealing.unseal(staff.house_id, staff.totp_sealed, _context(staff)).decode()
    app = pyotp.TOTP(secret, interval=PERIOD)
    step = current_step()
    right = compare_digest(app.generate_otp(step).encode(), code.encode())
    return step if right and step > staff.totp_step else None


def current_step() -> int:
    """The number of the 30 seconds that count now, by the database's clock."""
    [(now,)] = sql.rows(_NOW, [PERIOD])
    return int(now)


@dataclass(frozen=True, slots=True)
class Given:
    """What a person has sent to show more than the password: a code, empty for none, or an answer of a passkey; the
    code of the terminal, and what the passkey's challenge must be for. Never stored, never printed."""

    code: str = field(default="", repr=False)
    passkey: passkeys.Assertion | None = field(default=None, repr=False)
    terminal: str = ""
    bound_to: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing."""
        return not self.code and self.passkey is None


def accepted(staff: Staff, given: Given, request: HttpRequest) -> str:
    """Let a code or passkey count that a person has sent, where the person has a second factor, outside a transaction:
    it is used up, a passkey's challenge also in vain. Returns what the trail calls the passkey, empty for none. Raises
    Forbidden code_refused, PasskeyRefused."""
    if not staff.has_second_factor:
        return ""
    if given.passkey is not None:
        return passkeys.accepted(staff, given.passkey, given.terminal, given.bound_to, request)
    # Of two sign-ins with the same code at the same moment, one finds the row as it was.
    return locks.in_transaction(lambda: use(staff, given, request))


def use(staff: Staff, given: Given, request: HttpRequest) -> str:
    """As `accepted`, in the caller's transaction."""
    if not staff.has_second_factor:
        return ""
    if given.passkey is not None:
        return passkeys.use(staff, given.passkey, given.terminal, given.bound_to, request)
    step = None if staff.totp_since is None else matching_step(staff, given.code)
    if step is None or not used_now(staff, step):
        raise Forbidden("The code is wrong, too old, or was used before.", code="code_refused")
    return ""


def used_now(staff: Staff, step: int) -> bool:
    """Let the code of a step count as used, in the caller's transaction; whether it was not used before."""
    unused = Staff.objects.filter(id=staff.id, totp_since=staff.totp_since, totp_step__lt=step)
    return unused.update(totp_step=step) == 1


#: SQL for whether a house of `houses_house` asks for one.
REQUIRED = f"{in_sql('second_factor_required', 'houses_house.second_factor_required::int')} = 1"


def state_of(staff: Staff) -> tuple[object, ...]:
    """What a sign-in is checked against: where it has changed, the check counts no more."""
    return staff.password, staff.totp_since, staff.passkey_count


def is_missing(staff: Staff, required: bool) -> bool:
    """Whether a person needs a second factor, where the house asks for one (`required`), and has none."""
    return required and not staff.has_second_factor and bool(ROLES & set(staff.roles))


def require(staff: Staff, required: bool) -> None:
    """Refuse a person who needs a second factor, where the house asks for one, and has none. Raises Forbidden
    second_factor_required."""
    if is_missing(staff, required):
        raise Forbidden(
            f"{staff.login} must first set up a second factor (POST second-factor, or passkeys/begin).",
            code="second_factor_required",
        )


def _context(staff: Staff) -> bytes:
    return f"second factor/{staff.id}".encode()
