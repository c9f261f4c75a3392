"""`manage.py put_away HOUSE NUMBER --reason TEXT`: two people take out of the database what an archive has."""

from typing import Any

from django.core.management.base import CommandParser

from casino.houses.models import House
from casino.houses.reasoned_command import ReasonedCommand
from casino.staff.two_signers import two_signers
from casino.verification.putting_away import put_away

COMMAND = "put_away"


class Command(ReasonedCommand):
    """Put the texts of an archive away."""

    help = (
        "Take the texts of events that only add lines to a hand's log out of the database; the archive has them, and "
        "whole events are read from it. An auditor and another auditor or administrator sign with their passwords."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code, the archive, and why."""
        super().add_arguments(parser)
        parser.add_argument("number", type=int, help="of the archive")

    def carry_out(self, house: House, reason: str, *, number: int, **options: Any) -> None:  # type: ignore[override]
        """Ask, check, put away. Raises HouseError."""
        with two_signers(house, COMMAND) as (actor, approver):
            count = put_away(house=house, number=number, actor=actor, approver=approver, reason=reason)
        self.stdout.write(f"{count} events of {house.code} are in archive {number} only. Keep all of its copies.")
