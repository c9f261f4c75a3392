"""`manage.py forget_player HOUSE REF --reason TEXT`: two people destroy the key to a player's personal data."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.core.errors import HouseError
from casino.houses.cli_arguments import house_named, reason_of
from casino.staff.credentials import ask_for_two
from casino.tables.forgetting import forget


class Command(BaseCommand):
    """Forget who a player was."""

    help = (
        "Destroy the key to a player's personal data, once they need not be kept any more (CASINO_RETENTION_DAYS). Two "
        "people sign with login and password, one of them an auditor: at the keyboard, or as four lines on stdin. "
        "Backups hold the key for as long as they are kept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """House, player, reason."""
        parser.add_argument("house")
        parser.add_argument("player")
        parser.add_argument("--reason", required=True, help="kept in the audit trail; names nobody")

    def handle(self, *args: Any, house: str, player: str, reason: str, **options: Any) -> None:
        """Ask, forget, say so. Raises CommandError with the code of what was refused."""
        found = house_named(house)
        reason = reason_of(reason)
        try:
            first, second = ask_for_two(stderr=self.stderr)  # type: ignore[arg-type]
            done = forget(house=found, ref=player, reason=reason, first=first, second=second)
        except HouseError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error
        place = done.receipt
        self.stdout.write(f"{player} is forgotten; last seen {done.last_activity:%Y-%m-%d}. {place.chain} {place.seq}")
