"""Terminal tokens: one look-up by the token's first characters, then a constant-time comparison of its hash."""

from hmac import compare_digest

from django.utils import timezone
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from knox.settings import CONSTANTS
from rest_framework.exceptions import AuthenticationFailed

from casino.staff.models import Staff, TerminalToken


class TerminalTokenAuthentication(TokenAuthentication):
    """Knox's token, without its clean-up of other tokens on every request; expired ones are refused, not deleted."""

    def authenticate_credentials(self, token: bytes) -> tuple[Staff, TerminalToken]:
        """Person and token, when the token is known, fresh, and both person and terminal are still in use."""
        text = token.decode("ascii", "replace")
        digest = hash_token(text)
        candidates = TerminalToken.objects.filter(token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH])
        for candidate in candidates.select_related("user__house", "terminal"):
            in_use = candidate.user.is_active and candidate.terminal.revoked_at is None
            if compare_digest(digest, candidate.digest) and in_use and candidate.expiry > timezone.now():
                return candidate.user, candidate
        raise AuthenticationFailed("The token is unknown, expired or revoked; sign in again.")
