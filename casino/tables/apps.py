"""App configuration."""

from django.apps import AppConfig


class TablesConfig(AppConfig):
    """Tables and seats."""

    name = "casino.tables"
    label = "tables"
