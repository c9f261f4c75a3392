"""App configuration."""

from django.apps import AppConfig


class StaffConfig(AppConfig):
    """Staff and terminals."""

    name = "casino.staff"
    label = "staff"
