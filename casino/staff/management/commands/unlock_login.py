"""`manage.py unlock_login HOUSE LOGIN --reason TEXT`: the operator opens a login that wrong passwords have locked."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.errors import HouseError
from casino.house.named import UNUSABLE, house_named
from casino.staff.services import unlock


class Command(BaseCommand):
    """Open a lock from the server, where no administrator can."""

    help = "Open the lock that wrong passwords have put on a login, and tell it in the audit trail."

    def add_arguments(self, parser: CommandParser) -> None:
        """House, login, reason."""
        parser.add_argument("house")
        parser.add_argument("login")
        parser.add_argument("--reason", required=True, help="kept in the audit trail; names nobody")

    def handle(self, *args: Any, house: str, login: str, reason: str, **options: Any) -> None:
        """Open it, say so. Raises CommandError with the code of what was refused."""
        found = house_named(house)
        if not 3 <= len(reason) <= 200:
            raise CommandError("A reason has 3 to 200 characters.", returncode=UNUSABLE)
        try:
            place = unlock(house=found, login=login, reason=reason)
        except HouseError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error
        self.stdout.write(f"{login} is unlocked. {place.chain} {place.seq}")
