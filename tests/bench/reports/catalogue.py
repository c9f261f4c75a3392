"""Every report of the catalogue on an evening of eight tables and on a year of it: seconds, also of CPU, rows, memory,
equalities.

Each report is made in all its formats in a process of its own. What a run of it must name (a player, a hand) is
named; all else is left open, so that it reads everything.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.bench.reports.generated import Size, founded, multiply

#: An evening: eight hours of 25 hands at each table. A year: about 400,000 hands.
EVENING, YEAR = Size(days=1, hands=200), Size(days=365, hands=137)
EVENING_GOAL, YEAR_GOAL, MEMORY_GOAL = 1.0, 30.0, 200
#: The report that needs the log of the house.
_VERIFIES = "certificate"
#: What stands for a filter that a run must name.
_NAMED = {"player": "T1-u1", "hand": "T1-000002", "table": "T1"}


def run(size: Size, goal: float, only: Collection[str]) -> None:
    """Generate the house and print a line a report; Django is set up."""
    from casino.reports.frame import registry

    began = time.monotonic()
    kit = founded(size)
    rows = multiply(kit.house, size)
    rows_written = ", ".join(f"{count:,} of {table}" for table, count in rows.items())
    print(f"generated in {time.monotonic() - began:.0f} s: {rows_written}", flush=True)
    print(f"goal: {goal:g} s and {MEMORY_GOAL} MB a report", flush=True)
    names = [name for name in sorted(registry.reports()) if not only or name in only]
    if _VERIFIES in names:
        began = time.monotonic()
        checkpoint = kit.sequence()
        print(f"made {checkpoint.size:,} leaves of the log in {time.monotonic() - began:.0f} s", flush=True)
        _mark(kit.house)
    for name in names:
        _line(name, str(kit.house.id), goal)


def _mark(house: Any) -> None:
    """Verify the house whole, as a timer does each week, and keep how far it came: though something is found, as one
    hand that was written again and again cannot follow itself."""
    from django.conf import settings
    from django.db import transaction

    from casino.verification import auditing, marks, replaying
    from ledger import checks, snapshots

    settings.CASINO_MARK_DIR = Path(os.environ["CASINO_MARK_DIR"])
    began, cpu, tally = time.monotonic(), _cpu(), replaying.Tally()
    with transaction.atomic():
        snapshots.take(house.id, "bench")
    count = sum(1 for _ in replaying.verify(house, tally=tally)) + len(checks.verify(house.id))
    with marks.kept_file(house, True) as file:
        count += auditing.verify_house(house, keep=file).found
        size = file.stat().st_size if file else 0
        if file is not None:
            marks.put(house, file, None, marks.beside(tally, "bench"))
    took = f"{time.monotonic() - began:.0f} s, {_cpu() - cpu:.0f} s of CPU, {_most_memory():.0f} MB at most"
    print(f"verified whole in {took}, {count:,} findings; a mark of {size / 1e6:.0f} MB was kept", flush=True)


def _line(name: str, house: str, goal: float) -> None:
    command = [sys.executable, "-m", "tests.bench.reports", "--one", name, "--house", house]
    began = time.monotonic()
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=20 * goal + 20)
    except subprocess.TimeoutExpired:
        print(f"{name:22} ended after {time.monotonic() - began:.0f} s", flush=True)
        return
    print(f"{name:22} {done.stdout.strip() or done.stderr.strip()[-300:]}", flush=True)


def make(name: str, house_id: str) -> None:
    """Make one report, and print what it took."""
    from casino.hands.services import warm_up
    from casino.houses.models import House
    from casino.reports.frame import as_of, registry
    from casino.reports.frame.head import Head
    from casino.reports.frame.report import Scope
    from casino.reports.render.base import produce
    from casino.reports.render.formats import writers
    from casino.reports.render.style import Style

    warm_up()  # as the worker that makes it in a house
    house, report = House.objects.get(id=house_id), registry.reports()[name]
    before = _most_memory()
    filters: dict[str, Any] = {one.name: _NAMED[one.name] for one in report.filters if one.required}
    began, cpu = time.monotonic(), _cpu()
    moment = as_of.now(house)
    style = Style(exponent=house.currency_exponent, zone=house.time_zone)
    with tempfile.TemporaryDirectory() as found:
        folder = Path(found)
        head = Head(
            report=report, house=house.code, house_name=house.name, currency=house.currency,
            exponent=house.currency_exponent, zone=house.time_zone, filters=filters, group_by=None,
            requested_by="bench", requested_at=moment.at, as_of=moment,
        )  # fmt: skip
        made = produce(report, Scope(house, moment, filters), head, writers(report.formats, folder, head, style))
        size = sum(file.size for file in made.files)
    seconds = time.monotonic() - began
    rows = sum(sums.row_count for sums in made.results.values())
    hold = sum(one.holds for one in made.equalities)
    most = _most_memory()
    print(
        f"{seconds:7.2f} s  {_cpu() - cpu:6.2f} s of CPU  {most:4.0f} MB ({most - before:.0f} more than before)  "
        f"{rows:>9,} rows  {size / 1e6:6.1f} MB of files  {hold} of {len(made.equalities)} equalities hold"
    )


def _cpu() -> float:
    """Seconds of CPU that this process has had, and those that it began; the database's are not in them."""
    return sum(os.times()[:4])


def _most_memory() -> float:
    """The most memory that this process has had, in MB. What `getrusage` says is at least what its parent had."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024
