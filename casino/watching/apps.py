"""App configuration."""

from django.apps import AppConfig


class WatchingConfig(AppConfig):
    """What is written down about transactions for compliance."""

    name = "casino.watching"
    label = "watching"
