"""`manage.py retention [HOUSE] [--dry-run]`: delete what need not be kept any more, or list it."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit.models import Event
from casino.core import sql
from casino.evidence.models import RetentionRun
from casino.houses.cli_arguments import houses_named
from casino.houses.models import House
from casino.reports import due, retention

#: Who acts, as events have it.
COMMAND = "manage.py retention"


class Command(BaseCommand):
    """Retention of one house or all of them."""

    help = (
        "Delete what need not be kept any more and is under no legal hold: report files, packages of days, stored "
        "answers, messages of the outbox that are done, keys to persons' data, entries of the sealed register, marks "
        "of exclusions that are over. Every run is recorded with what it deleted, and checked. --dry-run lists what "
        "is due, and which holds keep it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code; all houses without it."""
        parser.add_argument("house", nargs="?")
        parser.add_argument("--dry-run", action="store_true", help="delete nothing, list what is due")

    def handle(self, *args: Any, house: str | None = None, dry_run: bool = False, **options: Any) -> None:
        """Print one JSON object for each thing that is due, or each run. Raises CommandError where something that was
        deleted is there."""
        for found in houses_named(house):
            if dry_run:
                for one in due.due(found, sql.database_time()):
                    self._say(found, one.as_json() | {"held_by": list(one.holds)})
                continue
            while (made := retention.run(found, COMMAND)) is not None:
                self._say(found, {"run": made.number, "deleted": made.deleted, "held_count": made.held_count})
                self._check(found, made)

    def _say(self, house: House, what: dict[str, Any]) -> None:
        self.stdout.write(json.dumps({"house": house.code} | what))

    def _check(self, house: House, made: RetentionRun) -> None:
        """Look once more, after the commit, for what the event says was deleted."""
        event = Event.objects.get(house=house, doc__kind="retention.ran", doc__data__run=made.number)
        if left := retention.still_there(house, event.doc["data"]["items"]):
            raise CommandError(f"Run {made.number} of house {house.code} has left {', '.join(left)}.")
