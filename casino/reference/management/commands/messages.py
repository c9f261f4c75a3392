"""`manage.py messages --check | --write`: the catalogues of messages, see `casino.reference.messages`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from casino.reference import messages


class Command(BaseCommand):
    """Write the catalogues, or check that every language says all that the sources say."""

    help = "Write the catalogues of messages, or check that every language says all that the sources say."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One of the two."""
        chosen = parser.add_mutually_exclusive_group(required=True)
        chosen.add_argument("--check", action="store_true", help="exit 1 when a catalogue lacks something")
        chosen.add_argument("--write", action="store_true", help="write and compile the catalogues")

    def handle(self, *args: Any, check: bool, write: bool, **options: Any) -> None:
        """Write or check. Raises CommandError."""
        if write:
            for line in messages.write():
                self.stdout.write(line)
        elif wrong := list(messages.problems()):
            lines = "\n".join(wrong[:40])
            raise CommandError(f"{len(wrong)} things are wrong with the catalogues. Run `make messages`.\n{lines}")
