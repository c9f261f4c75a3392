"""Files of reports: the same rows in every format, the same bytes again, nothing that a spreadsheet would run."""

import csv
import json
import re
import tracemalloc
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casino.reports.frame.columns import Column, Sums, Type, count, grouped, major, money, pieces, ref, text, time
from casino.reports.frame.head import Head
from casino.reports.frame.report import (
    AsOf,
    Checkpoint,
    Equality,
    Format,
    Report,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.render.base import Produced, produce
from casino.reports.render.formats import writers
from casino.reports.render.style import Style, harmless
from casino.staff.models import Role

AT = datetime(2026, 11, 24, 20, 5, 9, tzinfo=UTC)
COLUMNS = (
    count("number", "No.", total=False), ref("table", "Table"), text("who", "Person"), money("amount", "Amount"),
    pieces("pieces", "Pieces"), Column("share", "Share", Type.SHARE), time("at", "Time"),
    Column("ok", "OK", Type.FLAG),
)  # fmt: skip


def rows(many: int) -> Iterator[tuple[Any, ...]]:
    """Rows with what is awkward: formulas, letters with accents, negative amounts, nothing."""
    for number in range(many):
        who = "=HYPERLINK(1)" if number % 7 == 0 else f"Őrült űrlap {number}"
        yield number, f"T{number % 3}", who, -number * 37, number % 100, 5_000, AT, None if number % 5 else True


def made(folder: Path, many: int, *formats: Format, decimal: str = ".", separator: str = ",") -> Produced:
    """A report of so many rows in these formats."""
    report = Report(
        id="trial", number="A0", version=1, title="Trial", text="", roles=(Role.AUDITOR,),
        sections=(Section("rows", "Rows", COLUMNS, lambda _: rows(many), groups=("table",)),),
        equalities=lambda _, results: [
            Equality("rows = rows asked for", results["rows"].row_count, many),
            Equality("amounts = nothing", results["rows"].totals["amount"], 0),
        ],
        sensitivity=Sensitivity.STAFF, retention=Retention.BOOKS,
    )  # fmt: skip
    as_of = AsOf(transaction=123, event=456, checkpoint=Checkpoint(1, 789, "ab" * 32), at=AT)
    head = Head(
        report=report, house="DEMO", house_name="Demo ház", currency="HUF", exponent=2, zone="Europe/Budapest",
        filters={"day": "2026-11-24"}, group_by="table", requested_by="anna", requested_at=AT, as_of=as_of,
    )  # fmt: skip
    style = Style(exponent=2, zone="Europe/Budapest", decimal=decimal, separator=separator)
    scope: Any = Scope(None, as_of, {})  # type: ignore[arg-type]
    return produce(report, scope, head, writers(formats, folder, head, style))


def read(path: Path, separator: str = ",") -> list[dict[str, str]]:
    """The lines of a CSV file by the names of their columns."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter=separator))


def test_every_format_has_the_same_rows_and_sums(tmp_path: Path) -> None:
    found = made(tmp_path, 50, *Format)
    names = {file.path.name for file in found.files}
    assert names == {
        "trial.json", "trial-rows.csv", "trial-rows-by-table.csv", "trial.xlsx", "trial.pdf", "trial-slip.pdf",
    }  # fmt: skip
    body = json.loads((tmp_path / "trial.json").read_text())
    listed = read(tmp_path / "trial-rows.csv")
    assert [row[3] for row in body["sections"][0]["rows"]] == [int(row["amount_minor"]) for row in listed]
    assert [row["amount"] for row in listed][:3] == ["0.00", "-0.37", "-0.74"]
    assert (listed[1]["at"], listed[1]["at_local"]) == ("2026-11-24T20:05:09Z", "2026-11-24 21:05:09")
    by_table = read(tmp_path / "trial-rows-by-table.csv")
    assert sum(int(row["amount_minor"]) for row in by_table) == body["sections"][0]["totals"]["amount"] == -45_325
    assert [one["holds"] for one in body["equalities"]] == [True, False]
    with zipfile.ZipFile(tmp_path / "trial.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet2.xml").decode()
    amounts = re.findall(r'<c r="E(\d+)"><v>(-?\d+)</v></c>', sheet)
    assert [int(value) for _, value in amounts] == [row[3] for row in body["sections"][0]["rows"]]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    sums = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        sums.append([file.sha256 for file in made(tmp_path / name, 300, *Format).files])
    assert sums[0] == sums[1]


def test_no_cell_is_a_formula_and_negative_numbers_stay_numbers(tmp_path: Path) -> None:
    made(tmp_path, 8, Format.CSV, Format.XLSX, decimal=",", separator=";")
    listed = read(tmp_path / "trial-rows.csv", ";")
    assert (listed[0]["who"], listed[7]["amount"], listed[7]["amount_minor"]) == ("'=HYPERLINK(1)", "-2,59", "-259")
    with zipfile.ZipFile(tmp_path / "trial.xlsx") as book:
        assert not any(b"<f>" in book.read(name) for name in book.namelist())


def test_a_long_report_is_a_summary_in_pdf_and_whole_in_csv(tmp_path: Path) -> None:
    short, long = tmp_path / "short", tmp_path / "long"
    short.mkdir(), long.mkdir()
    made(short, 5_000, Format.PDF)
    made(long, 5_001, Format.PDF, Format.CSV)
    pages = [len(re.findall(rb"/Type /Page\b", (folder / "trial.pdf").read_bytes())) for folder in (short, long)]
    assert pages[0] > 50 and pages[1] == 1
    assert (long / "trial-rows.csv").read_bytes().count(b"\r\n") == 5_002


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    peaks = []
    for many in (2_000, 60_000):
        (tmp_path / str(many)).mkdir()
        tracemalloc.start()
        made(tmp_path / str(many), many, Format.CSV, Format.XLSX, Format.JSON)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 1_000_000, peaks


@given(st.integers(-(10**15), 10**15), st.integers(0, 4))
def test_major_units_are_exact(amount: int, exponent: int) -> None:
    whole, _, part = major(amount, exponent).lstrip("-").partition(".")
    assert int(whole + part) == abs(amount) and len(part) == exponent
    assert int(grouped(str(amount)).replace(" ", "")) == amount


@given(st.text())
def test_a_harmless_text_begins_no_formula(words: str) -> None:
    assert not harmless(words).startswith(("=", "+", "-", "@", "\t", "\r"))
    assert harmless(words).removeprefix("'") == words or words.startswith("'")


def test_a_value_of_another_type_is_an_error() -> None:
    sums = Sums((money("amount", "Amount"),))
    for wrong in ("1", 1.0, True):
        with pytest.raises(TypeError):
            sums.add([wrong])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        sums.add([1, 2])
    with pytest.raises(ValueError, match="no total"):
        Column("at", "Time", Type.TIME, total=True)
    with pytest.raises(ValueError, match="differ"):
        Style(exponent=2, zone="UTC", separator=",", decimal=",")
