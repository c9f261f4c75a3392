"""`manage.py verify_hands [HOUSE] [--table T1]`: replay hands against the ledger; exit 1 when one differs."""

import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.houses.cli_arguments import UNUSABLE, houses_named
from casino.houses.models import House
from casino.tables.models import Table
from casino.verification import replaying


class Command(BaseCommand):
    """Verify the hands of one house, of one of its tables, or of all houses."""

    help = (
        "Replay every stored hand under the rules of its day and compare pots, stakes, tax, bonus, carry and payouts "
        "with the ledger, posting by posting; exit 1 when anything differs. One JSON object a difference, then one a "
        "house."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The house's code, all houses without it; a table's code."""
        parser.add_argument("house", nargs="?")
        parser.add_argument("--table", help="only the hands of this table")

    def handle(self, *args: Any, house: str | None = None, table: str | None = None, **options: Any) -> None:
        """Print differences as they are found, then each house's sum."""
        differing = sum(self._verify(found, table) for found in houses_named(house))
        if differing:
            raise CommandError(f"{differing} differences between hands and ledger.")

    def _verify(self, house: House, code: str | None) -> int:
        table = Table.objects.filter(house=house, code=code).first() if code else None
        if code and table is None:
            raise CommandError(f"House {house.code} has no table {code}.", returncode=UNUSABLE)
        tally, found, started = replaying.Tally(), 0, time.process_time()
        for found, difference in enumerate(replaying.verify(house, table=table, tally=tally), 1):  # noqa: B007
            self.stdout.write(json.dumps({"house": house.code, **difference.as_json()}, ensure_ascii=False))
        spent = time.process_time() - started
        summary = {"house": house.code, "hands": tally.hands, "states": dict(sorted(tally.states.items()))}
        summary |= {"differences": found, "cpu_seconds": round(spent, 3)}
        self.stdout.write(json.dumps(summary))
        return found
