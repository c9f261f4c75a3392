"""`manage.py unlock_login HOUSE LOGIN --reason TEXT`: the operator opens a login that wrong passwords have locked."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.core.errors import HouseError
from casino.houses.cli_arguments import house_named, reason_of
from casino.staff.services import unlock


class Command(BaseCommand):
    """Open a lock from the server, where no administrator can."""

    help = "Open the lock that wrong passwords have put on a login, and record it in the audit trail."

    def add_arguments(self, parser: CommandParser) -> None:
        """House, login, reason."""
        parser.add_argument("house")
        parser.add_argument("login")
        parser.add_argument("--reason", required=True, help="kept in the audit trail; names nobody")
        parser.add_argument(
            "--unrecorded",
            action="store_true",
            help="write no event where the house may not write any, so that its two people can open an epoch",
        )

    def handle(self, *args: Any, house: str, login: str, reason: str, unrecorded: bool = False, **options: Any) -> None:
        """Open it, say so. Raises CommandError with the code of what was refused."""
        found = house_named(house)
        reason = reason_of(reason)
        try:
            place = unlock(house=found, login=login, reason=reason, unrecorded=unrecorded)
        except HouseError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error
        if place is None:
            self.stderr.write(f"NOT RECORDED in the audit trail of {found.code}: note who opened the lock, and why.")
        self.stdout.write(f"{login} is unlocked. {place.chain} {place.seq}" if place else f"{login} is unlocked.")
