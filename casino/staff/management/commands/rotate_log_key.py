"""`manage.py rotate_log_key HOUSE --reason TEXT`: another key signs the checkpoints, without a new epoch."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit.rotation import rotate_key
from casino.audit.signing import Signer
from casino.core.errors import Conflict, HouseError
from casino.houses.cli_arguments import house_named, reason_of
from casino.houses.models import House
from casino.staff.two_signers import two_signers

COMMAND = "rotate_log_key"


class Command(BaseCommand):
    """Rotate the key of a house's log."""

    help = (
        "Name CASINO_LOG_KEY as the key that signs the checkpoints of a house's log from now on, in the place of "
        "CASINO_LOG_KEY_OLD. An auditor and another auditor or administrator of the house sign with their passwords "
        "(asked for, or four lines on standard input). A house that has the key already is left as it is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code and why."""
        parser.add_argument("house")
        parser.add_argument("--reason", required=True, help="why the key is rotated; the audit trail keeps it")

    def handle(self, *args: Any, house: str, reason: str, **options: Any) -> None:
        """Ask, rotate. Raises CommandError with the refusal's code."""
        found = house_named(house)
        reason = reason_of(reason)
        try:
            new, old = Signer.from_settings(), Signer.old_from_settings()
            if old is None:
                raise CommandError("CASINO_LOG_KEY_OLD names the key that is replaced; it signs the rotation.")
            self._rotate(found, old, new, reason)
        except (HouseError, ImproperlyConfigured) as error:
            raise CommandError(f"{error} [{getattr(error, 'code', None) or 'not_configured'}]") from error

    def _rotate(self, house: House, old: Signer, new: Signer, reason: str) -> None:
        with two_signers(house, COMMAND) as (actor, approver):
            try:
                rotated = rotate_key(house=house, actor=actor, approver=approver, old=old, new=new, reason=reason)
            except Conflict as error:
                if error.code not in ("no_change", "log_not_begun"):
                    raise
                self.stdout.write(error.detail)
                return
        key = new.key(house).text
        self.stdout.write(f"{house.code}: checkpoints of more than {rotated.size} leaves are under {key}.")
