"""App configuration."""

from django.apps import AppConfig


class HouseConfig(AppConfig):
    """The house."""

    name = "casino.house"
    label = "house"
