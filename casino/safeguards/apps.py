"""App configuration."""

from django.apps import AppConfig


class SafeguardsConfig(AppConfig):
    """Exclusions, limits and admissions of players."""

    name = "casino.safeguards"
    label = "safeguards"
