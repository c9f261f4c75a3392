"""`manage.py ledger_catalogue`: write what the migrations made to the declaration that `verify` compares with."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from ledger import catalogue


class Command(BaseCommand):
    """For developers, on a freshly migrated database, after a change of the migrations."""

    help = "Write ledger/catalogue.json from a freshly migrated database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which database."""
        parser.add_argument("--database", default="default", help="alias of the database to read")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file."""
        objects = catalogue.found(using=options["database"])
        text = json.dumps(dict(sorted(objects.items())), indent=0, ensure_ascii=True)
        catalogue.FILE.write_text(text + "\n", encoding="utf-8")
        self.stdout.write(f"{len(objects)} objects written to {catalogue.FILE}")
