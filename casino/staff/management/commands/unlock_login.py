"""`manage.py unlock_login HOUSE LOGIN --reason TEXT`: the operator opens a login that wrong passwords have locked."""

from typing import Any

from django.core.management.base import CommandParser

from casino.houses.models import House
from casino.houses.reasoned_command import ReasonedCommand
from casino.staff.services import unlock


class Command(ReasonedCommand):
    """Open a lock from the server, where no administrator can."""

    help = "Open the lock that wrong passwords have put on a login, and record it in the audit trail."

    def add_arguments(self, parser: CommandParser) -> None:
        """House, login, reason."""
        super().add_arguments(parser)
        parser.add_argument("login")
        parser.add_argument(
            "--unrecorded",
            action="store_true",
            help="write no event where the house may not write any, so that its two people can open an epoch",
        )

    def carry_out(  # type: ignore[override]
        self, house: House, reason: str, *, login: str, unrecorded: bool, **options: Any
    ) -> None:
        """Open it, say so. Raises HouseError."""
        place = unlock(house=house, login=login, reason=reason, unrecorded=unrecorded)
        if place is None:
            self.stderr.write(f"NOT RECORDED in the audit trail of {house.code}: note who opened the lock, and why.")
        self.stdout.write(f"{login} is unlocked. {place.chain} {place.seq}" if place else f"{login} is unlocked.")
