"""`manage.py rehearse CODE`: an evening in a sandbox copy of a house; exit 1 where something of it failed."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit.services import Actor
from casino.core.errors import HouseError
from casino.core.leases import Ended
from casino.golive.rehearsing import Changed, rehearse
from casino.houses.cli_arguments import house_named

COMMAND = "rehearse"


class Command(BaseCommand):
    """Rehearse an evening."""

    help = (
        "Found a sandbox copy of a house, CODE-R1, CODE-R2 ..., play an evening there through all services, verify the "
        "copy, and record the result in the house's audit trail. A house goes live with a rehearsal that it has passed "
        "as it is then."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which house."""
        parser.add_argument("house", help="its code")

    def handle(self, *args: Any, house: str, **options: Any) -> None:
        """Rehearse, say what passed. Raises CommandError with what failed."""
        try:
            made = rehearse(house_named(house), Actor.operator(COMMAND))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except (Changed, Ended) as error:
            raise CommandError(str(error) or "It was cancelled, or a worker has taken it up.") from error
        except HouseError as error:
            raise CommandError(f"{error.detail} [{error.code}]") from error
        for item in made.items:
            self.stdout.write(f"{item['item']}: {item.get('failed', 'passed')}")
        if not made.passed:
            raise CommandError(f"Rehearsal {made.number} in {made.sandbox} did not pass.")
        self.stdout.write(f"Rehearsal {made.number} in {made.sandbox} has passed.")
