"""App configuration."""

from django.apps import AppConfig

from casino.core import quick_columns


class HousesConfig(AppConfig):
    """The house."""

    name = "casino.houses"
    label = "houses"

    def ready(self) -> None:
        """Queries are built with columns that hash quickly."""
        quick_columns.install()
