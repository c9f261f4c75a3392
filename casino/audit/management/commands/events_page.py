"""`manage.py events_page --check | --write`: the page of events, see `casino.audit.reference_page`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from casino.audit import reference_page as page


class Command(BaseCommand):
    """Write the page, or check that it is what the classes declare."""

    help = "Write docs/reference/events.md from the classes of casino/audit/events, or check it."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One of the two."""
        chosen = parser.add_mutually_exclusive_group(required=True)
        chosen.add_argument("--check", action="store_true", help="exit 1 when the page is not what the classes declare")
        chosen.add_argument("--write", action="store_true", help="write the page")

    def handle(self, *args: Any, check: bool, write: bool, **options: Any) -> None:
        """Write or check. Raises CommandError."""
        if write:
            page.PATH.write_text(page.render(), encoding="utf-8")
        elif not page.PATH.exists() or page.PATH.read_text(encoding="utf-8") != page.render():
            raise CommandError(f"{page.PATH.name} is not what the classes declare; run manage.py events_page --write")
