"""`manage.py postings_page --check | --write`: the page of accounts and postings (`bookkeeping.reference_page`)."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from casino.bookkeeping import reference_page as page


class Command(BaseCommand):
    """Make the page anew, or say whether it is what the data say."""

    help = "Write docs/reference/postings.md from the chart of accounts and the table of postings, or check it."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One of the two."""
        chosen = parser.add_mutually_exclusive_group(required=True)
        chosen.add_argument("--check", action="store_true", help="exit 1 when the page is not what the data say")
        chosen.add_argument("--write", action="store_true", help="make the page anew")

    def handle(self, *args: Any, check: bool, write: bool, **options: Any) -> None:
        """Write or check. Raises CommandError."""
        if write:
            page.PATH.write_text(page.render(), encoding="utf-8")
        elif page.PATH.read_text(encoding="utf-8") != page.render():
            raise CommandError(f"{page.PATH.name} is not what the data say; run manage.py postings_page --write")
