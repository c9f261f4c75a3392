"""`manage.py archive [HOUSE]`: write the closed months of a house, or of each, into archives outside the database."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit import archives
from casino.audit.services import Actor
from casino.core.errors import HouseError
from casino.houses.cli_arguments import UNUSABLE, houses_named
from casino.houses.models import House
from casino.verification import archiving

COMMAND = "archive"


class Command(BaseCommand):
    """Make the archives that are due."""

    help = (
        "Write every month of closed gaming days that is not archived yet into the folders of CASINO_ARCHIVE_DIR: "
        "events and transactions between two signed checkpoints, proved before they are recorded."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which house, and up to which day."""
        parser.add_argument("house", nargs="?", help="its code; all houses without it")
        parser.add_argument("--until", metavar="DAY", help="one archive of everything up to the closing of this day")

    def handle(self, *args: Any, house: str | None, until: str | None, **options: Any) -> None:
        """Make them, and say which there are. A house that cannot be archived stops no other."""
        if not archives.folders():
            raise CommandError("CASINO_ARCHIVE_DIR names no folder for archives.", returncode=UNUSABLE)
        failed = 0
        for found in houses_named(house):
            try:
                self._archive(found, until)
            except (HouseError, OSError) as error:
                failed += 1
                said = f"{error.detail} [{error.code}]" if isinstance(error, HouseError) else str(error)
                self.stderr.write(f"{found.code}: {said}")
        if failed:
            raise CommandError(f"{failed} houses were not archived.")

    def _archive(self, house: House, until: str | None) -> None:
        sections = archiving.due(house, until)
        for section in sections:
            made = archiving.make(house, section, Actor.operator(COMMAND))
            self.stdout.write(
                f"{house.code}: archive {made.number} of {made.first_day} to {made.last_day}, leaves {made.first} to "
                f"{made.size - 1} of epoch {made.epoch}, SHA-256 {made.sha256}"
            )
        if not sections:
            self.stdout.write(f"{house.code}: nothing to archive")
