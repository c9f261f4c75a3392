"""Terminal tokens: one look-up by the token's first characters, then a constant-time comparison of its hash."""

import logging
from collections.abc import Sequence
from hmac import compare_digest
from typing import Any

from django.db.models import Model
from django.utils import timezone
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from knox.settings import CONSTANTS
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from casino.api.http import attempts
from casino.core import sql
from casino.houses.models import House
from casino.staff.models import Staff, Terminal, TerminalToken

log = logging.getLogger(__name__)

#: What a row of candidates holds, model after model.
_PARTS: tuple[type[Model], ...] = (TerminalToken, Staff, House, Terminal)
_CANDIDATES = f"""
SELECT {", ".join(map(sql.columns, _PARTS))} FROM staff_terminaltoken
JOIN staff_staff ON staff_staff.id = staff_terminaltoken.user_id
JOIN houses_house ON houses_house.id = staff_staff.house_id
JOIN staff_terminal ON staff_terminal.id = staff_terminaltoken.terminal_id
WHERE staff_terminaltoken.token_key = %s::text
"""  # noqa: S608 - the names come from the models


def _candidate(row: Sequence[Any]) -> TerminalToken:
    """A token with its person, that person's house, and its terminal."""
    token: TerminalToken
    token, token.user, token.user.house, token.terminal = sql.parts(row, *_PARTS)
    return token


class TerminalTokenAuthentication(TokenAuthentication):
    """Knox's token, without its clean-up of other tokens on every request; expired ones are refused, not deleted."""

    def authenticate(self, request: Request) -> tuple[Staff, TerminalToken] | None:
        """Person and token of a request. Raises AuthenticationFailed; a sender that was recognised first is remembered,
        so that the refusal can be recorded."""
        self._request = request
        found: tuple[Staff, TerminalToken] | None = super().authenticate(request)  # type: ignore[no-untyped-call] # knox's
        return found

    def authenticate_credentials(self, token: bytes) -> tuple[Staff, TerminalToken]:
        """Person and token, if the token is known and not expired, and both person and terminal are still in use."""
        text = token.decode("ascii", "replace")
        digest = hash_token(text)
        for row in sql.bound(_CANDIDATES, [text[: CONSTANTS.TOKEN_KEY_LENGTH]]):
            candidate = _candidate(row)
            if not compare_digest(digest, candidate.digest):
                continue
            person, terminal = candidate.user, candidate.terminal
            attempts.recognised(self._request, house=person.house, login=person.login, role="", terminal=terminal.code)
            in_use = person.is_active and terminal.revoked_at is None
            # In Knox a token without an expiry never ends; the house issues none.
            if in_use and candidate.expiry is not None and candidate.expiry > timezone.now():
                return person, candidate
            break
        else:
            log.warning("a token that no house knows, request %s", getattr(self._request, "request_id", ""))
        raise AuthenticationFailed("The token is unknown, expired or revoked; sign in again.")
