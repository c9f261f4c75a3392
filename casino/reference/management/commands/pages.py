"""`manage.py pages --check | --write`: the generated pages of `docs/reference/`, see `casino.reference.pages`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from casino.reference import pages, settings_page


class Command(BaseCommand):
    """Write the pages, or check that they are what the code declares."""

    help = "Write the generated pages of docs/reference, or check that they are what the code declares."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One of the two."""
        chosen = parser.add_mutually_exclusive_group(required=True)
        chosen.add_argument("--check", action="store_true", help="exit 1 when a page is not what the code declares")
        chosen.add_argument("--write", action="store_true", help="write the pages")

    def handle(self, *args: Any, check: bool, write: bool, **options: Any) -> None:
        """Write or check. Raises CommandError."""
        rendered, example = pages.render(), settings_page.render_example()
        if write:
            pages.write(rendered, pages.FOLDER)
            pages.EXAMPLE.write_text(example, encoding="utf-8")
            return
        differing = [f"docs/reference/{name}" for name in pages.differing(rendered, pages.FOLDER)]
        if pages.differs(example, pages.EXAMPLE):
            differing.append(f"deploy/{pages.EXAMPLE.name}")
        if differing:
            raise CommandError(f"These pages differ from the code: {', '.join(differing)}. Run `make pages`.")
