"""How fast files of reports are written, and in how much memory. Django must be set up; no database is read.

The rows are made up: a reference, a day, a time, a text, two amounts, a count and pieces, as a drawer's history has
them.
"""

import csv
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import xlsxwriter

from casino.houses.models import House
from casino.reports.frame.columns import Row, count, money, pieces, ref, text
from casino.reports.frame.columns import time as moment
from casino.reports.frame.head import Head
from casino.reports.frame.report import (
    AsOf,
    Equality,
    Format,
    LastEvent,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.render.base import produce
from casino.reports.render.formats import writers
from casino.reports.render.style import Style
from casino.staff.models import Role
from tests.bench.alternate import Comparison, compare

#: Rows of a counted run, by format; rows of the run whose memory is measured.
CSV_ROWS, XLSX_ROWS, MOST_ROWS = 50_000, 20_000, 1_000_000
#: Rows that fill 50 pages, and some more: PDF shows all rows up to 5,000.
PDF_ROWS = 5_000
CSV_GOAL, XLSX_GOAL, PDF_GOAL = 40_000, 8_000, 5.0
_BEGIN = datetime(2026, 1, 1, 18, tzinfo=UTC)
_COLUMNS = (
    ref("drawer", "Drawer"), ref("day", "Day"), moment("at", "Time"), text("what", "What"), money("cash", "Cash"),
    money("running", "Running"), count("number", "No."), pieces("chips", "Chips"),
)  # fmt: skip


def made_up(row_count: int) -> Iterator[Row]:
    """So many rows."""
    for number in range(row_count):
        at = _BEGIN + timedelta(seconds=7 * number)
        yield (
            f"C{number % 9}", at.date().isoformat(), at, "buy-in of a player", (number % 977 - 400) * 100,
            number * 100, number, number % 200,
        )  # fmt: skip


def _nothing(scope: Scope, results: Results) -> Iterator[Equality]:
    yield from ()


def write(row_count: int, file_format: Format) -> tuple[int, int]:
    """Write a report of so many rows; returns rows and bytes of the files."""
    report = Report(
        id="bench", number="A0", version=1, title="Made up", text="Made up.", roles=(Role.AUDITOR,),
        sections=(Section("rows", "Rows", _COLUMNS, lambda scope: made_up(row_count)),), equalities=_nothing,
        sensitivity=Sensitivity.NO_PERSON, retention=Retention.TRANSIENT,
    )  # fmt: skip
    as_of = AsOf(transaction=1, event=1, last=LastEvent("house", 1), checkpoint=None, at=_BEGIN)
    house = House(code="BENCH", name="Bench", currency="HUF")
    style = Style(exponent=2, zone="Europe/Budapest", separator=";", decimal=",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        head = Head(
            report=report, house="BENCH", house_name="Bench", currency="HUF", exponent=2, zone="Europe/Budapest",
            filters={}, group_by=None, requested_by="bench", requested_at=_BEGIN, as_of=as_of,
        )  # fmt: skip
        made = produce(report, Scope(house, as_of, {}), head, writers([file_format], folder, head, style))
        return row_count, sum(file.size for file in made.files)


def _bare_csv() -> int:
    with tempfile.TemporaryFile("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows(made_up(CSV_ROWS))
    return CSV_ROWS


def _bare_xlsx() -> int:
    """The library alone: the same values, one cell each."""
    with tempfile.TemporaryDirectory() as folder:
        book = xlsxwriter.Workbook(f"{folder}/bare.xlsx", {"constant_memory": True, "tmpdir": folder})
        sheet = book.add_worksheet()
        for at, row in enumerate(made_up(XLSX_ROWS)):
            for cell, value in enumerate(row):
                if isinstance(value, int):
                    sheet.write_number(at, cell, value)
                else:
                    sheet.write_string(at, cell, str(value))
        book.close()
    return XLSX_ROWS


def comparisons() -> Iterator[tuple[Comparison, int]]:
    """CSV and XLSX against their libraries alone, each with its goal in rows a second."""
    ours: dict[Format, Callable[[], int]] = {
        Format.CSV: lambda: write(CSV_ROWS, Format.CSV)[0],
        Format.XLSX: lambda: write(XLSX_ROWS, Format.XLSX)[0],
    }
    yield compare("CSV of a report", "rows", ours[Format.CSV], "csv.writer alone", _bare_csv), CSV_GOAL
    yield compare("XLSX of a report", "rows", ours[Format.XLSX], "xlsxwriter alone", _bare_xlsx), XLSX_GOAL


def run() -> None:
    """Print rates with their goals, memory of a million rows, and the time of a PDF."""
    for comparison, goal in comparisons():
        print(comparison.line(), f"  goal {goal:,}/s", flush=True)
    for file_format in (Format.CSV, Format.XLSX):
        few, many = _memory(10_000, file_format), _memory(MOST_ROWS, file_format)
        print(
            f"{file_format} of {MOST_ROWS:,} rows: at most {many:.0f} MB of memory ({few:.0f} MB for 10,000)",
            flush=True,
        )
    began = time.monotonic()
    _, size = write(PDF_ROWS, Format.PDF)
    print(
        f"PDF of {PDF_ROWS:,} rows: {time.monotonic() - began:.1f} s, {size / 1e6:.1f} MB  "
        f"goal {PDF_GOAL:.0f} s for 50 pages",
        flush=True,
    )


def _memory(row_count: int, file_format: Format) -> float:
    """Most memory of a process that writes so many rows, in MB."""
    command = [sys.executable, "-m", "tests.bench.reports", "--write", file_format, "--rows", str(row_count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def measured(row_count: int, file_format: Format) -> float:
    """Write so many rows, in a process that does nothing else; returns the most memory that it had, in MB."""
    write(row_count, file_format)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
