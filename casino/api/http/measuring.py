"""What each request is counted as, and its line in the log: the operation, the table, the status, the time."""

import logging
import re
from collections.abc import Callable
from time import perf_counter
from typing import Any

from django.http import HttpRequest, HttpResponse

from casino.api.http import contract
from casino.core import log_lines, measured

log = logging.getLogger(log_lines.REQUESTS)

#: What a request is counted as that no address was found for.
NOTHING = "none"
#: What programs ask every few seconds: no line while all is well.
PROBES = frozenset({"livez", "healthz", "readyz", "metrics"})
_CODE = re.compile(r"[A-Za-z0-9_-]{1,16}\Z")


class MeasuringMiddleware:
    """Counts requests and durations, and logs a line for each request that was answered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve one request."""
        begun = perf_counter()
        log_lines.begin(request=request.request_id)  # type: ignore[attr-defined] # RequestIdMiddleware sets it
        measured.request_begins()
        response = self.get_response(request)
        seconds = perf_counter() - begun
        operation = log_lines.about().get("operation", NOTHING)
        measured.request_ended(operation, str(request.method), response.status_code, seconds)
        log.log(
            logging.DEBUG if operation in PROBES and response.status_code < 400 else logging.INFO,
            "answered",
            extra={"method": request.method, "status": response.status_code, "ms": round(seconds * 1e3, 1)},
        )
        return response

    def process_view(self, request: HttpRequest, view: Any, _args: Any, path: dict[str, Any]) -> None:
        """Note what is asked for; called when the address was found."""
        log_lines.note(operation=operation_of(request, view), **_table(path))


def operation_of(request: HttpRequest, view: Any) -> str:
    """The id of the API's operation that a request calls; the route for what is none, such as a screen."""
    found = contract.operation_of(getattr(view, "view_class", None), request)
    if found is not None:
        return found.id
    return request.resolver_match.route if request.resolver_match is not None else NOTHING


def _table(path: dict[str, Any]) -> dict[str, str]:
    """The code of the table in an address."""
    code = path.get("table")
    return {"table": code} if isinstance(code, str) and _CODE.match(code) else {}
