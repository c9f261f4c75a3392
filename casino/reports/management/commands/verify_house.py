"""`manage.py verify_house [CODE]`: replay every hand, verify the audit trail, check the books; exit 1 with findings."""

import json
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit.verifier import Unusable
from casino.houses.cli_arguments import UNUSABLE, houses_named
from casino.reports.verifying import verification, verification_from_mark


class Command(BaseCommand):
    """Verify one house or all of them."""

    help = "Replay every hand, verify the audit trail and check the books; exit 1 when anything differs."

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code, all houses without it; and whether what was verified before is read again."""
        parser.add_argument("house", nargs="?")
        parser.add_argument(
            "--from-mark", action="store_true", help="read what came since the mark in CASINO_MARK_DIR, if it is of use"
        )
        parser.add_argument("--keep-mark", action="store_true", help="keep how far it came, if nothing is found")
        parser.add_argument(
            "--whole-after", type=float, metavar="DAYS", help="read everything again where that was so many days ago"
        )

    def handle(self, *args: Any, house: str | None = None, **options: Any) -> None:
        """Print one JSON object a house."""
        failed = 0
        for found in houses_named(house):
            try:
                if options["from_mark"]:
                    days = options["whole_after"]
                    after = None if days is None else timedelta(days=days)
                    result = verification_from_mark(found, keep=options["keep_mark"], whole_after=after)
                else:
                    result = verification(found, keep=options["keep_mark"])
            except Unusable as error:
                raise CommandError(str(error), returncode=UNUSABLE) from error
            failed += not result["ok"]
            self.stdout.write(json.dumps({"house": found.code, **result}))
        if failed:
            raise CommandError(f"{failed} of the houses verified have findings.")
