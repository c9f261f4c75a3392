"""App configuration."""

from django.apps import AppConfig


class LiveConfig(AppConfig):
    """Hints of changes, and the process that sends them."""

    name = "casino.live"
    label = "live"
