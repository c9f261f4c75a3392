"""`manage.py open_epoch HOUSE --reason TEXT`: two people begin the house's audit log again, e.g. after a restore."""

from typing import Any

from django.core.management.base import CommandParser

from casino.audit.epochs import ALIAS, open_epoch
from casino.houses.models import House
from casino.houses.reasoned_command import ReasonedCommand
from casino.staff.services import end_tokens
from casino.staff.two_signers import two_signers

COMMAND = "open_epoch"


class Command(ReasonedCommand):
    """Open a new epoch of a house's log."""

    help = (
        "Begin a house's audit log again: an auditor and another auditor or administrator sign with their passwords "
        "(asked for, or four lines on standard input). What was lost is kept in the new epoch's first leaf."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code, why, and whether it may write."""
        super().add_arguments(parser)
        parser.add_argument(
            "--healthy", action="store_true", help="although the house may write, for example under another signing key"
        )

    def carry_out(self, house: House, reason: str, *, healthy: bool, **options: Any) -> None:  # type: ignore[override]
        """Ask, check, open. Raises HouseError."""
        with two_signers(house, COMMAND) as (actor, approver):
            opened = open_epoch(
                house=house,
                actor=actor,
                approver=approver,
                reason=reason,
                healthy=healthy,
                # Versions are given again after a restore: what was decided on one that is lost must not fit.
                restored=lambda: end_tokens(house, ALIAS),
            )
        self.stdout.write(f"Epoch {opened.epoch} of the log of {house.code} is open; writes go on.")
