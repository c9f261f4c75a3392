"""`manage.py export_ledger` of the ledger, which knows no houses; here it is recorded as a sensitive read of a house's
book."""

import uuid
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from casino.houses.models import House
from casino.verification.command_audit import UNRECORDED, record_read
from ledger.management.commands.export_ledger import Command as Plain

COMMAND = "export_ledger"
#: Arguments that the event records.
RECORDED = ("format", "output", "accounts", "since", "until")
#: Formats that write the house's currency with its decimal places.
JOURNALS = ("beancount", "hledger")


class Command(Plain):
    """Write out one book; that of a house only after its audit trail says so."""

    def add_arguments(self, parser: CommandParser) -> None:
        """The ledger's own, past a pooler where there is one, and one more."""
        super().add_arguments(parser)
        parser.set_defaults(database=settings.CASINO_SNAPSHOTS)
        parser.add_argument("--unrecorded", action="store_true", help=UNRECORDED)

    def handle(self, *args: Any, **options: Any) -> None:
        """Record the export, then write it. Raises CommandError."""
        house = _house(options["book"])
        if house is not None:
            options["book"] = str(house.id)
            if options["format"] in JOURNALS and not options["decimals"]:
                options["decimals"] = [f"{house.currency}={house.currency_exponent}"]
            parameters = [(name, str(options[name])) for name in RECORDED if options[name]]
            record_read(house, COMMAND, parameters, unrecorded=options["unrecorded"], stderr=self.stderr)
        super().handle(*args, **options)


def _house(book: Any) -> House | None:
    """The house with this code, or whose book has this id; of other books, and of what is none, the ledger says what
    there is to say."""
    try:
        return House.objects.filter(id=uuid.UUID(str(book))).first()
    except ValueError:
        return House.objects.filter(code=book).first()
