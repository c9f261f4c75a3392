"""Management commands that change something of one house, and whose reason the audit trail keeps."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.core.errors import HouseError
from casino.houses.cli_arguments import house_named, reason_of
from casino.houses.models import House


class ReasonedCommand(BaseCommand):
    """Takes a house's code and a reason; a refusal ends it with what is wrong and the code of that."""

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code and why."""
        parser.add_argument("house")
        parser.add_argument("--reason", required=True, help="why; the audit trail keeps it, so it names nobody")

    def handle(self, *args: Any, house: str, reason: str, **options: Any) -> None:
        """Carry it out. Raises CommandError."""
        try:
            self.carry_out(house_named(house), reason_of(reason), **options)
        except HouseError as error:
            raise CommandError(f"{error.detail} [{error.code}]") from error

    def carry_out(self, house: House, reason: str, **options: Any) -> None:
        """What the command does. Raises HouseError, CommandError."""
        raise AssertionError(f"{type(self).__module__} does not say what it carries out")
