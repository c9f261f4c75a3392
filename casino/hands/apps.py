"""App configuration."""

from django.apps import AppConfig


class HandsConfig(AppConfig):
    """Hands, their logs and their settlement."""

    name = "casino.hands"
    label = "hands"
