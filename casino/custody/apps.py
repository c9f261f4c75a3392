"""App configuration."""

from django.apps import AppConfig


class CustodyConfig(AppConfig):
    """Transfers between cage and tables, counts of boxes."""

    name = "casino.custody"
    label = "custody"
