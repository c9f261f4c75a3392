"""App configuration."""

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """Reports."""

    name = "casino.reports"
    label = "reports"
