"""`manage.py rotate_seal_key HOUSE --reason TEXT`: the data keys of a house, wrapped under another seal key."""

from typing import Any

from django.core.management.base import CommandError

from casino.audit.resealing import rotate_seal_key
from casino.core import seal_key
from casino.core.errors import Conflict
from casino.houses.models import House
from casino.houses.reasoned_command import ReasonedCommand
from casino.staff.two_signers import two_signers

COMMAND = "rotate_seal_key"


class Command(ReasonedCommand):
    """Rotate the seal key of a house."""

    help = (
        "Wrap the data keys of a house under CASINO_SEAL_KEY instead of CASINO_SEAL_KEY_OLD. An auditor and another "
        "auditor or administrator of the house sign with their passwords (asked for, or four lines on standard input). "
        "It is one transaction, and a house that is done is left as it is: run it again after a failure."
    )

    def carry_out(self, house: House, reason: str, **options: Any) -> None:
        """Ask, rotate. Raises HouseError, CommandError."""
        new, old = seal_key.configured(), seal_key.old_configured()
        if old is None:
            raise CommandError("CASINO_SEAL_KEY_OLD names the key that is replaced; it unwraps the data keys.")
        with two_signers(house, COMMAND) as (actor, approver):
            try:
                count = rotate_seal_key(house=house, actor=actor, approver=approver, old=old, new=new, reason=reason)
            except Conflict as error:
                if error.code != "no_change":
                    raise
                self.stdout.write(error.detail)
                return
        self.stdout.write(f"{house.code}: {count} data keys are wrapped under the seal key {new.id}.")
