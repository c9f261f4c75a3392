"""App configuration."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The API."""

    name = "casino.api"
    label = "api"
