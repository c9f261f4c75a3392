"""`manage.py release`: the version of this code, and the one whose processes run on its schema."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

import casino
from casino.core import release


class Command(BaseCommand):
    """Print the version of the code, and the release before."""

    help = "Print the version of this code, and the release that runs on its schema."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The version alone, for programs."""
        parser.add_argument("--version-only", action="store_true", help="print the version and nothing else")

    def handle(self, *args: Any, version_only: bool, **options: Any) -> None:
        """Print it."""
        said = casino.__version__ if version_only else f"{casino.__version__}, after {release.own().before}"
        self.stdout.write(said)
