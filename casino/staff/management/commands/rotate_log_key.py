"""`manage.py rotate_log_key HOUSE --reason TEXT`: another key signs the checkpoints, without a new epoch."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from casino.audit.rotation import rotate_key
from casino.audit.signing import Signer
from casino.core.errors import Conflict
from casino.houses.models import House
from casino.houses.reasoned_command import ReasonedCommand
from casino.staff.two_signers import two_signers

COMMAND = "rotate_log_key"


class Command(ReasonedCommand):
    """Rotate the key of a house's log."""

    help = (
        "Name CASINO_LOG_KEY as the key that signs the checkpoints of a house's log from now on, in the place of "
        "CASINO_LOG_KEY_OLD. An auditor and another auditor or administrator of the house sign with their passwords "
        "(asked for, or four lines on standard input). A house that has the key already is left as it is."
    )

    def carry_out(self, house: House, reason: str, **options: Any) -> None:
        """Ask, rotate. Raises HouseError, CommandError."""
        try:
            new, old = Signer.from_settings(), Signer.old_from_settings()
        except ImproperlyConfigured as error:
            raise CommandError(f"{error} [not_configured]") from error
        if old is None:
            raise CommandError("CASINO_LOG_KEY_OLD names the key that is replaced; it signs the rotation.")
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
