"""`manage.py open_epoch HOUSE --reason TEXT`: two people begin the house's audit log again, e.g. after a restore."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit.epochs import ALIAS, open_epoch
from casino.core.errors import HouseError
from casino.houses.cli_arguments import house_named, reason_of
from casino.staff.services import end_tokens
from casino.staff.two_signers import two_signers

COMMAND = "open_epoch"


class Command(BaseCommand):
    """Open a new epoch of a house's log."""

    help = (
        "Begin a house's audit log again: an auditor and another auditor or administrator sign with their passwords "
        "(asked for, or four lines on standard input). What was lost is kept in the new epoch's first leaf."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code and why."""
        parser.add_argument("house")
        parser.add_argument("--reason", required=True, help="why a new epoch is opened; the audit trail keeps it")
        parser.add_argument(
            "--healthy", action="store_true", help="although the house may write, for example under another signing key"
        )

    def handle(self, *args: Any, house: str, reason: str, healthy: bool, **options: Any) -> None:
        """Ask, check, open. Raises CommandError with the refusal's code."""
        found = house_named(house)
        reason = reason_of(reason)
        try:
            with two_signers(found, COMMAND) as (actor, approver):
                opened = open_epoch(
                    house=found,
                    actor=actor,
                    approver=approver,
                    reason=reason,
                    healthy=healthy,
                    # Versions are given again after a restore: what was decided on one that is lost must not fit.
                    restored=lambda: end_tokens(found, ALIAS),
                )
        except HouseError as error:
            raise CommandError(f"{error.detail} [{error.code}]") from error
        self.stdout.write(f"Epoch {opened.epoch} of the log of {found.code} is open; writes go on.")
