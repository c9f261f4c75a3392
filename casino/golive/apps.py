"""App configuration."""

from django.apps import AppConfig


class GoliveConfig(AppConfig):
    """Going live."""

    name = "casino.golive"
    label = "golive"
