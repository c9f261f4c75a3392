"""`manage.py rotate_seal_key [HOUSE] --reason TEXT`: what is sealed, sealed under another seal key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit.resealing import rotate_seal_key
from casino.audit.services import Actor
from casino.core import seal_key
from casino.core.errors import Conflict, HouseError
from casino.core.seal_key import SealKey
from casino.houses.cli_arguments import houses_named, reason_of
from casino.houses.models import House

COMMAND = "rotate_seal_key"


class Command(BaseCommand):
    """Rotate the seal key of one house, or of all."""

    help = (
        "Wrap the data keys of a house under CASINO_SEAL_KEY instead of CASINO_SEAL_KEY_OLD; of all houses if none is "
        "named. Each house is one transaction, and houses that are done are left as they are: run it again after a "
        "failure."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code and why."""
        parser.add_argument("house", nargs="?")
        parser.add_argument("--reason", required=True, help="why the key is rotated; the audit trail keeps it")

    def handle(self, *args: Any, house: str | None, reason: str, **options: Any) -> None:
        """Rotate. Raises CommandError with the refusal's code."""
        houses = houses_named(house)
        reason = reason_of(reason)
        try:
            new, old = seal_key.configured(), seal_key.old_configured()
            if old is None:
                raise CommandError("CASINO_SEAL_KEY_OLD names the key that is replaced; it unwraps the data keys.")
            for one in houses:
                self._rotate(one, old, new, reason)
        except HouseError as error:
            raise CommandError(f"{error.detail} [{error.code}]") from error

    def _rotate(self, house: House, old: SealKey, new: SealKey, reason: str) -> None:
        try:
            count = rotate_seal_key(house=house, actor=Actor.operator(COMMAND), old=old, new=new, reason=reason)
        except Conflict as error:
            if error.code != "no_change":
                raise
            self.stdout.write(error.detail)
        else:
            self.stdout.write(f"{house.code}: {count} data keys are wrapped under the seal key {new.id}.")
