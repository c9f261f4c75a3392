"""App configuration."""

from django.apps import AppConfig


class HandsConfig(AppConfig):
    """Hands, their logs and their settlement."""

    name = "casino.hands"
    label = "hands"

    def ready(self) -> None:
        """No password is made of the name of a game."""
        from casino.staff import passwords
        from engine.registry import game_names

        passwords.add_words(game_names())
