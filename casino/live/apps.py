"""App configuration."""

from django.apps import AppConfig


class LiveConfig(AppConfig):
    """Hints of changes, the process that sends them, and webhooks."""

    name = "casino.live"
    label = "live"
