"""Requests that the house sends to others: to the addresses of its settings, and to none that an answer names."""

from __future__ import annotations

import urllib.request
from email.message import Message
from typing import IO, Any


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: it would lead to an address that nobody has set."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message[str, str], newurl: str
    ) -> None:
        """No other request; the answer is an HTTPError then."""
        return


_opener = urllib.request.build_opener(_Stay)


def sent(request: urllib.request.Request | str, seconds: float) -> Any:
    """The answer to a request over HTTP or HTTPS, to be closed; certificates are checked. Raises OSError, also
    HTTPError for a redirection, http.client.HTTPException."""
    return _opener.open(request, timeout=seconds)
