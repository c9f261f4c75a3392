"""What stands in the place of axes' commands that open locks without an event."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser


class Refused(BaseCommand):
    """Refuses, whatever it is given, and names the command that is told in the audit trail."""

    help = "Not here: it would write no event. See manage.py unlock_login."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whatever axes' own command takes."""
        parser.add_argument("arguments", nargs="*")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError."""
        raise CommandError("This would write no event; use `manage.py unlock_login HOUSE LOGIN --reason TEXT`.")
