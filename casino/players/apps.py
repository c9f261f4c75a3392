"""App configuration."""

from django.apps import AppConfig


class PlayersConfig(AppConfig):
    """Players."""

    name = "casino.players"
    label = "players"
