"""App configuration."""

from django.apps import AppConfig


class CageConfig(AppConfig):
    """The cage."""

    name = "casino.cage"
    label = "cage"
