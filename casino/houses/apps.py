"""App configuration."""

from django.apps import AppConfig

from casino.core import direct, quick_columns


class HousesConfig(AppConfig):
    """The house."""

    name = "casino.houses"
    label = "houses"

    def ready(self) -> None:
        """Queries are built with columns that hash quickly; what must not go through a pooler does not."""
        quick_columns.install()
        direct.install()
