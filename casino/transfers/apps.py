"""App configuration."""

from django.apps import AppConfig


class TransfersConfig(AppConfig):
    """Transfers between cage and tables, counts of boxes."""

    name = "casino.transfers"
    label = "transfers"
