"""`manage.py rotate_seal_key HOUSE --reason TEXT`: the data keys of a house, wrapped under another seal key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit.resealing import rotate_seal_key
from casino.core import seal_key
from casino.core.errors import Conflict, HouseError
from casino.core.seal_key import SealKey
from casino.houses.cli_arguments import house_named, reason_of
from casino.houses.models import House
from casino.staff.two_signers import two_signers

COMMAND = "rotate_seal_key"


class Command(BaseCommand):
    """Rotate the seal key of a house."""

    help = (
        "Wrap the data keys of a house under CASINO_SEAL_KEY instead of CASINO_SEAL_KEY_OLD. An auditor and another "
        "auditor or administrator of the house sign with their passwords (asked for, or four lines on standard input). "
        "It is one transaction, and a house that is done is left as it is: run it again after a failure."
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
            new, old = seal_key.configured(), seal_key.old_configured()
            if old is None:
                raise CommandError("CASINO_SEAL_KEY_OLD names the key that is replaced; it unwraps the data keys.")
            self._rotate(found, old, new, reason)
        except HouseError as error:
            raise CommandError(f"{error.detail} [{error.code}]") from error

    def _rotate(self, house: House, old: SealKey, new: SealKey, reason: str) -> None:
        with two_signers(house, COMMAND) as (actor, approver):
            try:
                count = rotate_seal_key(house=house, actor=actor, approver=approver, old=old, new=new, reason=reason)
            except Conflict as error:
                if error.code != "no_change":
                    raise
                self.stdout.write(error.detail)
                return
        self.stdout.write(f"{house.code}: {count} data keys are wrapped under the seal key {new.id}.")
