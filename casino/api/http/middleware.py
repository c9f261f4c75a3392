"""Every request has an id: the caller's X-Request-Id where usable, else a new one; answers and events carry it."""

import re
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

_USABLE = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


class RequestIdMiddleware:
    """Sets `request.request_id` and the X-Request-Id header of the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve one request."""
        given = request.headers.get("X-Request-Id", "")
        request_id = given if _USABLE.match(given) else str(uuid.uuid4())
        request.request_id = request_id  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response
