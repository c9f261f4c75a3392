"""`manage.py bring_back HOUSE NUMBER --reason TEXT`: put into the database again what was put away."""

from typing import Any

from django.core.management.base import CommandParser

from casino.audit.services import Actor
from casino.houses.models import House
from casino.houses.reasoned_command import ReasonedCommand
from casino.verification.putting_away import bring_back

COMMAND = "bring_back"


class Command(ReasonedCommand):
    """Bring the texts of an archive back."""

    help = "Put the texts of events that were put away into the database again; each must have the hash of its row."

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code, the archive, and why."""
        super().add_arguments(parser)
        parser.add_argument("number", type=int, help="of the archive")

    def carry_out(self, house: House, reason: str, *, number: int, **options: Any) -> None:  # type: ignore[override]
        """Bring back. Raises HouseError."""
        count = bring_back(house=house, number=number, actor=Actor.operator(COMMAND), reason=reason)
        self.stdout.write(f"{count} events of archive {number} of {house.code} are in the database again.")
