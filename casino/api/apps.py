"""App configuration."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The API."""

    name = "casino.api"
    label = "api"

    def ready(self) -> None:
        """Register the OpenAPI description of the terminal token."""
        from casino.api.http import schema  # noqa: F401
