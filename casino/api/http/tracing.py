"""A span for each request, where spans are made at all (`CASINO_OTLP_ENDPOINT`)."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse

from casino.api.http.measuring import NOTHING, PROBES
from casino.core import log_lines, tracing

#: What a span says of a request beside its operation, of what its lines in the log say.
_ABOUT = ("request", "house", "table")


def begin() -> None:
    """Trace, as the settings say. Raises ImproperlyConfigured where OpenTelemetry is not installed."""
    try:
        from casino.core.spans import Tracer
    except ImportError as error:
        raise ImproperlyConfigured(
            f"CASINO_OTLP_ENDPOINT is set, and {error.name} is not installed: install the extra `telemetry` "
            "(deploy/requirements-telemetry.lock)."
        ) from error
    tracing.begin(Tracer(settings.CASINO_OTLP_ENDPOINT, settings.CASINO_TRACED_SHARE))


class TracingMiddleware:
    """Traces requests but for probes, and goes on with the trace that a client names."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve one request."""
        if request.path.strip("/") in PROBES:
            return self.get_response(request)
        with tracing.request(str(request.method), request.headers.get(tracing.HEADER, "")) as span:
            response = self.get_response(request)
            about = log_lines.about()
            span.note(operation=about.get("operation", NOTHING), status=response.status_code)
            span.note(**{name: about[name] for name in _ABOUT if name in about})
            if response.status_code >= 500:
                span.failed()
        return response
