"""App configuration."""

from django.apps import AppConfig


class DaysConfig(AppConfig):
    """Gaming days and their packages."""

    name = "casino.days"
    label = "days"
