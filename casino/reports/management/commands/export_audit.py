"""`manage.py export_audit CODE FOLDER`: write what verify.pyz verifies a house with, and verify.pyz beside it."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit import zipapp
from casino.houses.cli_arguments import house_named
from casino.verification.command_audit import UNRECORDED, record_read, wait_until_signed
from casino.verification.exporting import export_house, require_room

COMMAND = "export_audit"


class Command(BaseCommand):
    """Export one house's audit trail, ledger and hands as they are at one moment."""

    help = "Write a house's audit trail, ledger and hands into a folder, and the verifier that checks them beside it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which house, and where to."""
        parser.add_argument("house", help="its code")
        parser.add_argument("folder", type=Path, help="a new or empty folder")
        parser.add_argument("--unrecorded", action="store_true", help=UNRECORDED)

    def handle(self, *args: Any, house: str, folder: Path, unrecorded: bool = False, **options: Any) -> None:
        """Record the export, write the files and print how to verify them."""
        found = house_named(house)
        try:
            require_room(folder)  # before it is recorded: what cannot be written is not read
            program, own = zipapp.write_beside(folder)
            event = record_read(found, COMMAND, [("folder", str(folder))], unrecorded=unrecorded, stderr=self.stderr)
            if event is not None:
                # Else the checkpoint that lies outside a second later would already be newer than the export.
                wait_until_signed(found, event, self.stderr)
            manifest = export_house(found, folder)
        except OSError as error:
            raise CommandError(str(error)) from error
        events = sum(epoch["size"] for epoch in manifest["epochs"].values()) + manifest["tail"]
        self.stdout.write(f"{events} events in {folder}.")
        if not own:
            self.stderr.write(f"{program} is of another version: it was left as it is.")
        self.stdout.write(f"Verify: python3 -I {program} {folder} --checkpoints FILE --key FILE")
