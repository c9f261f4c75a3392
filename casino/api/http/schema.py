"""How drf-spectacular describes the terminal token and the key of a seat."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class TerminalTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A bearer token from POST /api/v1/sign-in."""

    target_class = "casino.api.http.authentication.TerminalTokenAuthentication"
    name = "terminalToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """HTTP bearer."""
        return {"type": "http", "scheme": "bearer"}


class SeatKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A key from POST /api/v1/tables/{table}/seats/{seat}/key."""

    target_class = "casino.api.seat.SeatKeyAuthentication"
    name = "seatKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """A header of its own scheme."""
        return {"type": "apiKey", "in": "header", "name": "Authorization", "description": "Seat KEY"}
