"""`manage.py export_ledger BOOK --format csv|jsonl|beancount|hledger`: one book as text, to a file or standard output.

A file appears under its name only when it is whole, readable by its owner alone. On standard output, trust the text
only if the command ended with 0. Exit codes: 1 anything unforeseen, 2 arguments, 3 no such book, 4 nowhere to write to.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections

from ledger import exports, names, plaintext
from ledger.errors import ExportError, UnknownBook

ARGUMENTS, NO_BOOK, UNWRITABLE = 2, 3, 4
FORMATS = ("csv", "jsonl", "beancount", "hledger")
SUITED = {
    "accounts": ("csv", "jsonl"),
    "since": ("csv", "jsonl"),
    "spreadsheet": ("csv",),
    "daily": ("beancount",),
    **dict.fromkeys(("title", "root", "decimals"), ("beancount", "hledger")),
}
"""Options that not every format has."""


class Command(BaseCommand):
    """Write out one book."""

    help = "Export one book, as it is at this moment, as CSV, JSON Lines, or a journal for beancount or hledger."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """What to write, how, and where to."""
        add = parser.add_argument
        add("book", help="the book's UUID")
        add("--format", choices=FORMATS, required=True)
        add("--output", metavar="FILE", help="written whole or not at all (default: standard output)")
        add("--accounts", action="store_true", help="csv, jsonl: the list of accounts instead of the transactions")
        add("--since", metavar="MOMENT", help="csv, jsonl: posted then or later; a date (UTC), or ISO 8601 with offset")
        add("--until", metavar="MOMENT", help="posted before then")
        add("--spreadsheet", action="store_true", help="csv: an apostrophe before what a spreadsheet would calculate")
        add("--title", help="beancount, hledger: the journal's title")
        add("--root", action="append", metavar="KIND=ROOT", help=f"root of accounts: {', '.join(names.ROOTS)}")
        add("--decimals", action="append", metavar="COMMODITY=PLACES", help="decimal places, e.g. EUR=2 (default 0)")
        add(
            "--daily", action="store_true", help="beancount: balances after each day of an account, not only at the end"
        )
        add("--database", default=DEFAULT_DB_ALIAS, choices=tuple(connections))

    def handle(self, *args: Any, **options: Any) -> None:
        """Write; raise CommandError with the exit code."""
        for option, formats in SUITED.items():
            if options[option] and options["format"] not in formats:
                raise CommandError(f"--{option} is for {' and '.join(formats)} only", returncode=ARGUMENTS)
        if options["accounts"] and (options["since"] or options["until"]):
            raise CommandError("--accounts lists all accounts as they are now", returncode=ARGUMENTS)
        try:
            text = _text(options)
        except UnknownBook as error:
            raise CommandError(error.message, returncode=NO_BOOK) from error
        except ExportError as error:
            raise CommandError(error.message, returncode=ARGUMENTS) from error
        try:
            if options["output"]:
                write_whole(Path(options["output"]), text)
            else:
                self._print(text)
        except BrokenPipeError as error:
            # Python would complain again when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise CommandError("the reader of the output has gone", returncode=UNWRITABLE) from error
        except OSError as error:
            place = options["output"] or "standard output"
            raise CommandError(f"cannot write to {place}: {error.strerror}", returncode=UNWRITABLE) from error

    def _print(self, text: Iterable[str]) -> None:
        reconfigure: Callable[..., None] | None = getattr(self.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", newline="")
        for piece in text:
            self.stdout.write(piece, ending="")
        self.stdout.flush()


def write_whole(path: Path, text: Iterable[str]) -> None:
    """Write beside the file and give it its name at the end; whatever fails leaves the old file. Raises OSError."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise OSError(0, "it is there and no regular file")
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.writelines(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _text(options: dict[str, Any]) -> Iterator[str]:
    """The export asked for; raises ExportError, and CommandError for arguments that cannot be read."""
    book, using = options["book"], options["database"]
    since, until = _moment(options["since"]), _moment(options["until"])
    match options["format"], options["accounts"]:
        case "csv", True:
            return exports.csv_accounts(book, spreadsheet=options["spreadsheet"], using=using)
        case "csv", _:
            sheet = options["spreadsheet"]
            return exports.csv_entries(book, since=since, until=until, spreadsheet=sheet, using=using)
        case "jsonl", True:
            return exports.jsonl_accounts(book, using=using)
        case "jsonl", _:
            return exports.jsonl_transactions(book, since=since, until=until, using=using)
    roots, places = dict(_pairs(options["root"])), dict(_pairs(options["decimals"]))
    look = plaintext.Look(options["title"], roots, {name: _number(value) for name, value in places.items()})
    if options["format"] == "hledger":
        return plaintext.hledger(book, look=look, until=until, using=using)
    return plaintext.beancount(book, look=look, until=until, daily=options["daily"], using=using)


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"{text} is no moment", returncode=ARGUMENTS) from error
    return moment.replace(tzinfo=UTC) if len(text) == len("2026-01-01") else moment


def _pairs(given: list[str] | None) -> Iterator[tuple[str, str]]:
    for pair in given or ():
        name, sign, value = pair.rpartition("=")
        if not sign:
            raise CommandError(f"{pair} lacks its '='", returncode=ARGUMENTS)
        yield name, value


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise CommandError(f"{text} is no number of places", returncode=ARGUMENTS) from error
