"""``python -m tests.soak.exports``: a book of a million entries through `manage.py export_ledger` in every format.

Each export runs in a process of its own, once with a tenth of the entries and once with all; the memory that the
process took at most must be the same. ``--check`` then has hledger and bean-check add the whole book up, which takes
them minutes and gigabytes. Exit 0 when all is well, 1 after a finding.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.ledger.hledger import UTF8, find
from tests.services import TestServices

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
"""manage.py, saying in the end how much memory it had at most (kB); getrusage would count its parent's too."""
FORMATS = ("csv", "jsonl", "beancount", "hledger")
STEP = 12_500
"""Transactions written by one statement."""
SLACK = 1.1
"""How much more memory than for a tenth of the entries is still the same."""


def export(book: object, form: str, path: Path) -> tuple[float, int]:
    """Seconds that one export took, and the most memory that its process had, in bytes."""
    began = time.monotonic()
    command = [sys.executable, "-c", PROGRAM, "export_ledger", str(book), "--format", form, "--output", str(path)]
    done = subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True)
    return time.monotonic() - began, int(done.stdout) * 1024


def measure(entries: int, folder: Path) -> int:
    """Fill a book and export it twice in each format; the number of findings."""
    from tests.ledger.bulk import LEGS, fill, open_bulk

    book, accounts = open_bulk()
    written, findings = 0, 0
    small: dict[str, int] = {}
    for target in (entries // LEGS // 10, entries // LEGS):
        began = time.monotonic()
        for first in range(written, target, STEP):
            fill(book, accounts, first + 1, min(first + STEP, target))
        written = target
        count = target * LEGS
        print(f"{count:,} entries of 4 accounts ({time.monotonic() - began:.0f} s to write the rest)", flush=True)
        for form in FORMATS:
            path = folder / f"book.{form}"
            seconds, memory = export(book, form, path)
            grown = memory > small.setdefault(form, memory) * SLACK
            findings += grown
            print(
                f"  {form:<9} {seconds:6.1f} s, {seconds / count * 1e6:5.1f} us an entry, "
                f"{path.stat().st_size / 1e6:7.1f} MB, at most {memory / 1e6:5.1f} MB of memory"
                f"{' IS MORE THAN FOR A TENTH' if grown else ''}",
                flush=True,
            )
    return findings


def check(folder: Path) -> int:
    """Have both programs read the journals; how many of them refused."""
    refused = 0
    for command in (
        [find(), "-f", folder / "book.hledger", "check", "--strict"],
        [Path(sys.executable).with_name("bean-check"), "--no-cache", folder / "book.beancount"],
    ):
        began = time.monotonic()
        wrong = subprocess.run(command, env=UTF8, check=False).returncode != 0
        refused += wrong
        verdict = "REFUSED" if wrong else "agrees with"
        print(f"{Path(command[0]).name} {verdict} the balances, {time.monotonic() - began:.0f} s", flush=True)
    return refused


def main() -> int:
    """A database of our own, the book, the exports."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.exports", description="Exports of a large book.")
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--check", action="store_true", help="have hledger and bean-check read the whole journals")
    arguments = parser.parse_args()
    services = TestServices(os.environ)
    os.environ.update(services.environ())
    os.environ["DJANGO_SETTINGS_MODULE"] = "casino.settings"
    import django
    from django.core.management import call_command
    from django.db import connections

    django.setup()
    services.start()

    def migrate() -> None:
        call_command("migrate", database="owner", verbosity=0, interactive=False)
        connections.close_all()

    services.create_database(migrate=migrate)
    try:
        with tempfile.TemporaryDirectory() as folder:
            findings = measure(arguments.entries, Path(folder))
            findings += check(Path(folder)) if arguments.check else 0
    finally:
        connections.close_all()
        services.drop_database()
        services.remove()
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
