"""App configuration."""

from django.apps import AppConfig


class HousesConfig(AppConfig):
    """The house."""

    name = "casino.houses"
    label = "houses"
