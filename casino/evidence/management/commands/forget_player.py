"""`manage.py forget_player HOUSE REF --reason TEXT`: two people destroy the key to a player's personal data."""

from typing import Any

from django.core.management.base import CommandParser

from casino.evidence.forgetting import forget
from casino.houses.models import House
from casino.houses.reasoned_command import ReasonedCommand
from casino.staff.credentials import ask_for_two


class Command(ReasonedCommand):
    """Forget who a player was."""

    help = (
        "Destroy the key to a player's personal data, once they need not be kept any more (CASINO_RETENTION_DAYS). Two "
        "people sign with login and password, one of them an auditor: at the keyboard, or as four lines on stdin. "
        "Backups hold the key for as long as they are kept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """House, player, reason."""
        super().add_arguments(parser)
        parser.add_argument("player")

    def carry_out(self, house: House, reason: str, *, player: str, **options: Any) -> None:  # type: ignore[override]
        """Ask, forget, say so. Raises HouseError."""
        first, second = ask_for_two(stderr=self.stderr)  # type: ignore[arg-type]
        done = forget(house=house, ref=player, reason=reason, first=first, second=second)
        place = done.receipt
        self.stdout.write(f"{player} is forgotten; last seen {done.last_activity:%Y-%m-%d}. {place.chain} {place.seq}")
