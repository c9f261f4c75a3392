"""`manage.py verify_audit [CODE]`: verify the audit trail of a house in the database, as verify.pyz does an export."""

import json
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.audit import verifier
from casino.houses.cli_arguments import UNUSABLE, houses_named
from casino.houses.models import House
from casino.verification import auditing


class Command(BaseCommand):
    """Verify one house or all of them: exit 1 with findings, 2 for input that cannot be used."""

    help = "Verify chains, log, checkpoints, ledger and hands of a live house against the checkpoints outside it."

    def add_arguments(self, parser: CommandParser) -> None:
        """The house, and what its answer rests on."""
        parser.add_argument("house", nargs="?", help="its code; all houses without it")
        parser.add_argument("--checkpoints", type=Path, action="append", default=[], help="checkpoints held elsewhere")
        parser.add_argument("--key", help="the house's key held elsewhere: its text, or a file of it")
        parser.add_argument("--json", action="store_true", help="print one JSON object a house")

    def handle(self, *args: Any, house: str | None = None, **options: Any) -> None:
        """Print a report for each house."""
        failed = 0
        for found in houses_named(house):
            failed += not self._verified(found, options)
        if failed:
            raise CommandError(f"{failed} of the houses verified have findings.")

    def _verified(self, house: House, options: dict[str, Any]) -> bool:
        started = time.monotonic()
        try:
            keys = verifier.read_keys(options["key"]) if options["key"] else []
            held = [verifier.read_notes(path, str(path), held=True) for path in options["checkpoints"]]
            report = auditing.verify_house(house, held, keys)
        except verifier.Unusable as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error
        if options["json"]:
            self.stdout.write(json.dumps({"house": house.code, **report.as_json()}, ensure_ascii=False))
        else:
            self.stdout.write(f"{house.code}\n{verifier.summary(report, time.monotonic() - started)}")
        return not report.found
