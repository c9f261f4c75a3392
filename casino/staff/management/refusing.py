"""Replacements of axes' commands that open locks without an event."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser


class Refused(BaseCommand):
    """Refuses always, and names the command that writes an event."""

    help = "Not here: it would write no event. See manage.py unlock_login."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whatever axes' own command takes."""
        parser.add_argument("arguments", nargs="*")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError."""
        raise CommandError("This would write no event; use `manage.py unlock_login HOUSE LOGIN --reason TEXT`.")
