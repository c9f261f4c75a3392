"""App configuration."""

from django.apps import AppConfig


class ChipsConfig(AppConfig):
    """Chips."""

    name = "casino.chips"
    label = "chips"
