"""What the operations share that take or ask for a passkey. The members have the content of those of WebAuthn's
objects, binary ones in base64url without padding."""

from typing import Any

from rest_framework import serializers

from casino.api.http.operations import StrictInput, StrictPattern
from casino.staff.passkeys import LASTS, Assertion

#: Base64url without padding.
_BASE64URL = r"^[A-Za-z0-9_-]*\Z"


class Base64Url(StrictPattern):
    """Bytes in base64url, without padding."""

    def __init__(self, what: str, *, most: int, **kwargs: Any) -> None:
        super().__init__(_BASE64URL, **{"max_length": most, "help_text": what, **kwargs})


class PasskeyAnswer(StrictInput):
    """What an authenticator has answered to a challenge (`navigator.credentials.get`)."""

    credential = Base64Url("Its name for the passkey: `id`.", most=1364)
    client_data = Base64Url("What the browser has had signed: `response.clientDataJSON`.", most=8192)
    authenticator_data = Base64Url("`response.authenticatorData`.", most=4096)
    signature = Base64Url("`response.signature`.", most=2048)
    user_handle = Base64Url("`response.userHandle`; empty: none.", most=88, required=False, allow_blank=True)


class PasskeyAsked(serializers.Serializer[Any]):
    """What to ask an authenticator for a signature with (`navigator.credentials.get`)."""

    challenge = serializers.CharField(help_text="32 random bytes, in base64url: `challenge`.")
    host = serializers.CharField(help_text="The host that the passkey is for: `rpId`.")
    timeout_seconds = serializers.IntegerField(help_text=f"For how long the challenge counts: {LASTS}.")
    user_verification = serializers.CharField(
        help_text="Always `required`: the authenticator makes sure who holds it. `userVerification`."
    )
    credentials = serializers.ListField(
        child=serializers.CharField(),
        help_text="Names of the passkeys that may answer, in base64url: `allowCredentials`; empty: any for this host.",
    )


def assertion_in(data: dict[str, Any]) -> Assertion | None:
    """The answer of a passkey in a body that was read; None without one."""
    found = data.get("passkey")
    return None if found is None else Assertion(**found)
