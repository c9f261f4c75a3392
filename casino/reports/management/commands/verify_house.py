"""`manage.py verify_house [CODE]`: replay every hand, verify the audit trail, check the books; exit 1 with findings."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.houses.cli_arguments import houses_named
from casino.reports.selectors import verification


class Command(BaseCommand):
    """Verify one house or all of them."""

    help = "Replay every hand, verify the audit trail and check the books; exit 1 when anything differs."

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code; all houses without it."""
        parser.add_argument("house", nargs="?")

    def handle(self, *args: Any, house: str | None = None, **options: Any) -> None:
        """Print one JSON object a house."""
        failed = 0
        for found in houses_named(house):
            result = verification(found)
            failed += not result["ok"]
            self.stdout.write(json.dumps({"house": found.code, **result}))
        if failed:
            raise CommandError(f"{failed} of the houses verified have findings.")
