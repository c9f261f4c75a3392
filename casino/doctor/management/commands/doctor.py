"""`manage.py doctor`: examine this installation, as this process finds it."""

import json
import sys
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from casino.doctor import backups, database, given, keys, outside, surroundings, transport
from casino.doctor.findings import Finding, Level

MIGRATIONS_MISSING = "migrations_missing"
_EXIT = {Level.OK: 0, Level.NOTE: 0, Level.WARNING: 1, Level.FAILURE: 2}


class Command(BaseCommand):
    """Examine settings, database, rights, keys, clocks, folders, broker, witnesses, as any process finds them.

    One line for each finding, with what to do about it. Exits with 0, with 1 where something is not as it should be,
    with 2 where no house may play like this. It changes nothing.
    """

    help = "Examine this installation: settings, database, rights, keys, clocks, folders, broker, witnesses, time-outs."
    # What Django checks at the start of a command would stop it where it is needed.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument("house", nargs="?", help="the code of the one house to look at (default: all)")
        parser.add_argument("--json", action="store_true", help="a JSON array of the findings")

    def handle(self, *args: Any, **options: Any) -> None:
        """Examine everything, whatever is found on the way."""
        house = options["house"]
        found = [
            *given.file(), *surroundings.web(), *surroundings.user(), *database.server(), *database.logins(),
            *database.pooling(),
            *database.health_checks(), *keys.secret_key(), *keys.log(), *surroundings.clocks(),
            *surroundings.broker(), *transport.ways(), *outside.folders(), *outside.witnesses(),
            *outside.authority(), *backups.backups(),
        ]  # fmt: skip
        # Rows of houses are read as this version has them: before an upgrade they are not yet so.
        if not any(one.code == MIGRATIONS_MISSING for one in found):
            found += [*keys.seal(house), *outside.logs(house), *outside.archived(house), *outside.files(house)]
        if options["json"]:
            self.stdout.write(json.dumps([one.as_json() for one in found], indent=2))
        else:
            self._print(found)
        sys.exit(max(_EXIT[one.level] for one in found))

    def _print(self, found: list[Finding]) -> None:
        for one in found:
            code = "" if one.level == Level.OK else f" [{one.code}]"
            self.stdout.write(f"{one.level:8} {one.part:10} {one.words}{code}")
            if one.remedy and one.level != Level.OK:
                self.stdout.write(f"{'':20}-> {one.remedy}")
        counted = Counter(one.level for one in found)
        self.stdout.write(", ".join(f"{counted[level]} {level}" for level in Level))
