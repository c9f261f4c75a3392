"""App configuration."""

from django.apps import AppConfig


class ReferenceConfig(AppConfig):
    """The command that writes the reference pages; no models."""

    name = "casino.reference"
    label = "reference"
