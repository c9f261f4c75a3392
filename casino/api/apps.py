"""App configuration."""

from django.apps import AppConfig
from django.conf import settings


class ApiConfig(AppConfig):
    """The API."""

    name = "casino.api"
    label = "api"

    def ready(self) -> None:
        """Begin to trace, where that is wanted."""
        if settings.CASINO_OTLP_ENDPOINT:
            # Not before it is wanted: it loads OpenTelemetry.
            from casino.api.http.tracing import begin

            begin()
