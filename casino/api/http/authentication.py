"""Terminal tokens: one look-up by the token's first characters, then a constant-time comparison of its hash.

A view whose writes can be one statement may take a sign-in that this process remembers (`takes_remembered`). It is not
looked up then: the statement proves it. Whatever else such a view does, also to refuse, comes after `prove`.
"""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from time import monotonic
from typing import Any

from django.db.models import Model
from django.utils import timezone
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from knox.settings import CONSTANTS
from rest_framework.authentication import get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from casino.api.http import attempts
from casino.core import sql
from casino.core.commands import SignIn
from casino.houses.models import House
from casino.staff import idleness, second_factor
from casino.staff.models import Staff, Terminal, TerminalToken
from casino.tables import keys

log = logging.getLogger(__name__)

#: Most sign-ins that a process remembers.
MOST = 1_024
#: In the environment of a request that a screen makes by itself; no client can set it.
UNATTENDED = "cukassza.unattended"
#: The schemes of `Authorization`: a person's token, and the key of a seat.
BEARER, SEAT = "Bearer", "Seat"

#: What a row of candidates holds, model after model.
_PARTS: tuple[type[Model], ...] = (TerminalToken, Staff, House, Terminal)
_TABLES = [model._meta.db_table for model in _PARTS]
#: The last column changes with every write to one of the rows; `staff_still_signed_in` compares it.
_CANDIDATES = f"""
SELECT {", ".join(map(sql.columns, _PARTS))}, concat_ws(' ', {", ".join(f"{table}.xmin" for table in _TABLES)}),
    {idleness.IDLE}, {idleness.MOST}, {second_factor.REQUIRED}
FROM staff_terminaltoken
JOIN staff_staff ON staff_staff.id = staff_terminaltoken.user_id
JOIN houses_house ON houses_house.id = staff_staff.house_id
JOIN staff_terminal ON staff_terminal.id = staff_terminaltoken.terminal_id
WHERE staff_terminaltoken.token_key = %s::text
"""  # noqa: S608 - the names come from the models


@dataclass(frozen=True, slots=True)
class _Known:
    """A token that was looked up, with its person and terminal; nobody changes them. `idle`: the seconds since it had
    been used, when it was looked up at `read` of this process's clock; the `most` seconds that its house allows, and
    whether that asks for a second factor."""

    token: TerminalToken
    rows: str
    idle: float
    most: int
    second_factor: bool
    read: float = field(default_factory=monotonic)

    def is_fresh(self) -> bool:
        """Whether it need not be written down that it is used now."""
        return self.idle + monotonic() - self.read < idleness.SEEN_EVERY

    def is_good(self) -> bool:
        """Whether a sign-in that this process remembers may be taken: then the terminal was not left alone either."""
        return self.is_fresh() and self.in_use()

    def in_use(self) -> bool:
        """Whether the token has not expired, and both person and terminal are still in use."""
        person, terminal, expiry = self.token.user, self.token.terminal, self.token.expiry
        # In Knox a token without an expiry never ends; the house issues none.
        return person.is_active and terminal.revoked_at is None and expiry is not None and expiry > timezone.now()


_remembered: OrderedDict[str, _Known] = OrderedDict()
sql.forget_with_each_connection(_remembered.clear)


def _candidate(row: Sequence[Any]) -> _Known:
    """A token with its person, that person's house, and its terminal."""
    token: TerminalToken
    token, token.user, token.user.house, token.terminal, *rest = sql.parts(row, *_PARTS)
    return _Known(token, *rest)


def _looked_up(text: str, digest: str) -> _Known | None:
    """The token with this text and digest, None where no house knows it."""
    for row in sql.bound(_CANDIDATES, [text[: CONSTANTS.TOKEN_KEY_LENGTH]]):
        candidate = _candidate(row)
        if compare_digest(digest, candidate.token.digest):
            return candidate
    return None


def sent_by(request: Request, scheme: str) -> str | None:
    """What a request carries under this scheme; None where it carries nothing, or something else."""
    named, _, text = get_authorization_header(request).decode("ascii", "replace").partition(" ")
    return text if named.lower() == scheme.lower() else None


def recognise_holder(request: Request, holder: keys.Holder) -> None:
    """Remember the player whose key of a seat a request carries."""
    actor = holder.actor("")
    attempts.recognised(
        request, house=holder.table.house, login=actor.staff, role=actor.role, terminal=actor.terminal,
        chain=holder.table.chain,
    )  # fmt: skip


def recognise_person(request: Request, text: str) -> None:
    """Remember the person whose token a request carries that takes none: its refusal is recorded."""
    if (known := _looked_up(text, hash_token(text))) is not None:
        _recognise(request, known)


def _recognise(request: Request, known: _Known) -> None:
    person: Staff = known.token.user
    terminal = known.token.terminal.code
    attempts.recognised(request, house=person.house, login=person.login, role="", terminal=terminal)


class TerminalTokenAuthentication(TokenAuthentication):
    """Knox's token, without its clean-up of other tokens on every request; expired ones are refused, not deleted."""

    def authenticate(self, request: Request) -> tuple[Staff, TerminalToken] | None:
        """Person and token of a request. Raises AuthenticationFailed; a sender that was recognised first is remembered,
        so that the refusal can be recorded."""
        self._request = request
        if (key := sent_by(request, SEAT)) is not None and (holder := keys.holder(key)) is not None:
            recognise_holder(request, holder)  # a device has no rights of staff: the refusal names its player
        found: tuple[Staff, TerminalToken] | None = super().authenticate(request)  # type: ignore[no-untyped-call] # knox's
        del self._request  # which holds this class, and would go only with a collection of garbage
        return found

    def authenticate_credentials(self, token: bytes) -> tuple[Staff, TerminalToken]:
        """Person and token, if the token is known and not expired, and both person and terminal are still in use."""
        text = token.decode("ascii", "replace")
        digest = hash_token(text)
        if _takes_remembered(self._request) and (known := _remembered.get(digest)) is not None and known.is_good():
            self._request.sign_in = SignIn(digest, known.rows)  # type: ignore[attr-defined]
            return self._recognised(known)
        candidate = _looked_up(text, digest)
        if candidate is None:
            log.warning("a token that no house knows, request %s", getattr(self._request, "request_id", ""))
        else:
            found = self._recognised(candidate)
            if candidate.in_use():
                self._attended(text, candidate)
                return found
        raise AuthenticationFailed("The token is unknown, expired or revoked; sign in again.")

    def _attended(self, text: str, known: _Known) -> None:
        """Write down, now and then, that the token is used, and remember it; of a terminal that was left alone only
        note that it was: a permission refuses. What a page asks for by itself (`runs_unattended`) is no use of it."""
        if idleness.is_idle(known.idle, known.most):
            self._request.left_alone = known.most  # type: ignore[attr-defined]
            return
        digest, again = known.token.digest, None
        if not known.is_fresh() and not _runs_unattended(self._request):
            idleness.seen(known.token)
            # Read again, since writing has changed the row that is proved.
            again = _looked_up(text, digest)
        _remember(digest, again or known)

    def _recognised(self, known: _Known) -> tuple[Staff, TerminalToken]:
        self._request.second_factor = known.second_factor  # type: ignore[attr-defined]
        _recognise(self._request, known)
        return known.token.user, known.token


def sign_in(request: Request) -> SignIn | None:
    """The sign-in of a request that was remembered and is not proved yet."""
    found: SignIn | None = getattr(request, "sign_in", None)
    return found


def prove(request: Request) -> bool:
    """Look up the token of a request if its sign-in was remembered, and remember none for it from here on; says whether
    it was. Raises AuthenticationFailed; the sender is then known or unknown as if nothing had been remembered."""
    remembered = sign_in(request)
    request.sign_in, request.reads_token = None, True  # type: ignore[attr-defined]
    if remembered is None:
        return False
    _remembered.pop(remembered.digest, None)
    attempts.not_recognised(request)
    request._authenticate()  # type: ignore[attr-defined] # DRF has no public way to authenticate again
    return True


def _runs_unattended(request: Request) -> bool:
    """Whether a page asks by itself, without anybody who has done anything."""
    view = request.parser_context["view"]
    return getattr(view, "runs_unattended", False) or UNATTENDED in request.META


def _takes_remembered(request: Request) -> bool:
    view = request.parser_context["view"]
    return getattr(view, "takes_remembered", False) and not getattr(request, "reads_token", False)


def _remember(digest: str, known: _Known) -> None:
    _remembered[digest] = known
    _remembered.move_to_end(digest)
    while len(_remembered) > MOST:
        _remembered.popitem(last=False)
