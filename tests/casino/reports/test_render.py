"""Files of reports: the same rows in every format, the same bytes again, nothing that a spreadsheet would run."""

import csv
import io
import json
import re
import tracemalloc
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from casino.reports.frame.columns import Column, Sums, Type, count, day, grouped, major, money, pieces, ref, text, time
from casino.reports.frame.head import Head
from casino.reports.frame.report import (
    AsOf,
    Checkpoint,
    Equality,
    Format,
    LastEvent,
    Report,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.render.base import STEP, Produced, produce
from casino.reports.render.formats import writers
from casino.reports.render.pdf import laid, shared
from casino.reports.render.style import Style, are_harmless, harmless
from casino.reports.render.xlsx_lines import LinesSheet
from casino.staff.models import Role
from tests.casino import papers

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
            Equality("rows = rows asked for", results["rows"].row_count, many, Type.COUNT),
            Equality("amounts = nothing", results["rows"].totals["amount"], 0, Type.MONEY),
        ],
        sensitivity=Sensitivity.STAFF, retention=Retention.BOOKS,
    )  # fmt: skip
    return produced(folder, report, *formats, decimal=decimal, separator=separator)


def produced(
    folder: Path, report: Report, *formats: Format, decimal: str = ".", separator: str = ",", group_by: str = "table"
) -> Produced:
    """A report in these formats."""
    as_of = AsOf(
        transaction=123, event=456, last=LastEvent("house", 456), checkpoint=Checkpoint(1, 789, "ab" * 32), at=AT
    )
    head = Head(
        report=report, house="DEMO", house_name="Demo ház", currency="HUF", exponent=2, zone="Europe/Budapest",
        filters={"day": "2026-11-24"}, group_by=group_by, requested_by="anna", requested_at=AT, as_of=as_of,
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
    assert ([one["holds"] for one in body["equalities"]], body["reconciles"]) == ([True, False], False)
    with zipfile.ZipFile(tmp_path / "trial.xlsx") as book:
        # The first line of the first sheet says that it does not reconcile.
        assert "1 of 2 equalities DO NOT HOLD" in book.read("xl/worksheets/sheet1.xml").decode().split("</row>")[0]
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


def test_sums_that_must_be_equal_are_printed_as_what_they_are_of(tmp_path: Path) -> None:
    sums = [
        Equality("cash = nothing", -45_325, 0, Type.MONEY),
        Equality("chips = chips", 1_200, 1_200, Type.PIECES),
        Equality("hands = hands", 45_325, 45_325, Type.COUNT),
    ]
    report = Report(
        id="trial", number="A0", version=1, title="Trial", text="", roles=(Role.AUDITOR,), sections=(),
        equalities=lambda _scope, _results: sums, sensitivity=Sensitivity.STAFF, retention=Retention.BOOKS,
    )  # fmt: skip
    produced(tmp_path, report, Format.JSON, Format.XLSX, Format.PDF, Format.SLIP)
    for name in ("trial.pdf", "trial-slip.pdf"):
        printed = papers.words((tmp_path / name).read_bytes())
        for line in ("-453.25 HUF <> 0.00 HUF", "1 200 pcs = 1 200 pcs", "45 325 = 45 325"):
            assert line in printed
    body = json.loads((tmp_path / "trial.json").read_text())
    assert [(one["one"], one["type"]) for one in body["equalities"]] == [
        (-45_325, "money"), (1_200, "pieces"), (45_325, "count"),
    ]  # fmt: skip
    with zipfile.ZipFile(tmp_path / "trial.xlsx") as book:
        front = book.read("xl/worksheets/sheet1.xml").decode()
    assert "<v>-453.25</v>" in front and "<v>1200</v>" in front and "<v>45325</v>" in front


def test_rows_with_a_gaming_day_are_summed_by_weeks_and_months(tmp_path: Path) -> None:
    listed = [("2026-12-31", 1), ("2027-01-01", 20), ("2027-01-04", 300), (None, 4_000)]
    report = Report(
        id="trial", number="A0", version=1, title="Trial", text="", roles=(Role.AUDITOR,),
        sections=(
            Section("days", "Days", (day("day", "Day"), money("amount", "Amount")), lambda _: listed, groups=("day",)),
            Section("all", "All", (money("amount", "Amount"),), lambda _: [(1,)]),
        ),
        equalities=lambda _scope, _results: [], sensitivity=Sensitivity.STAFF, retention=Retention.BOOKS,
    )  # fmt: skip
    assert report.groups() == ("day", "week", "month")
    for span, expected in {
        "week": [["2026-W53", 2, 21], ["2027-W01", 1, 300], [None, 1, 4_000]],
        "month": [["2026-12", 1, 1], ["2027-01", 2, 320], [None, 1, 4_000]],
    }.items():
        produced(tmp_path, report, *Format, group_by=span)
        section, other = json.loads((tmp_path / "trial.json").read_text())["sections"]
        assert section["groups"] == {"columns": [span, "row_count", "amount"], "rows": expected}
        assert "groups" not in other
        lines = read(tmp_path / f"trial-days-by-{span}.csv")
        assert [int(line["amount_minor"]) for line in lines] == [amount for _, _, amount in expected]
        assert f"Days, by {span}" in papers.words((tmp_path / "trial.pdf").read_bytes())


def test_shares_are_not_compared() -> None:
    with pytest.raises(ValueError, match="share"):
        Equality("share = share", 1, 1, Type.SHARE)


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
    for many in (2_000, 20_000):
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
    assert harmless(words).replace("'", "") == words.replace("'", "")


#: Texts of what a formula and a cell are made of.
AWKWARD = st.text(st.sampled_from("=+-@|%,;\t\r\n\"' a1"))


@given(AWKWARD, st.sampled_from(",;\t"), st.sampled_from(",;\t"))
def test_no_cell_is_a_formula_with_whatever_separator_the_file_is_read(
    words: str, written: str, read_with: str
) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=written, lineterminator="\r\n").writerow(["a", harmless(words), "b"])
    file.seek(0)
    for cell in (cell for line in csv.reader(file, delimiter=read_with) for cell in line):
        assert not cell.lstrip().startswith(("=", "+", "-", "@", "|", "%")), cell


def test_a_text_with_separators_shows_what_was_written() -> None:
    assert harmless("late;=1+cmd|calc!A0; -5, yes") == "late;'=1+cmd|calc!A0;' -5, yes"
    assert harmless("T1-u1, 3 - 1") == "T1-u1, 3 - 1"


def test_the_hour_that_comes_twice_is_known_by_its_offset() -> None:
    style = Style(exponent=0, zone="Europe/Budapest")
    hours = [style.local(datetime(2026, 10, 25, hour, 30, tzinfo=UTC)) for hour in (0, 1, 2)]
    assert hours == ["2026-10-25 02:30:00+02:00", "2026-10-25 02:30:00+01:00", "2026-10-25 03:30:00"]


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


def test_wide_columns_of_a_pdf_give_way_and_narrow_ones_and_numbers_stay_whole() -> None:
    assert shared([10.0, 20.0], [5.0, 5.0], 60.0) == [25.0, 35.0]  # some air
    assert shared([10.0, 300.0], [10.0, 40.0], 100.0) == [10.0, 90.0]  # words go on several lines
    assert shared([10.0, 300.0, 300.0], [10.0, 60.0, 70.0], 110.0) == [10.0, 50.0, 50.0]  # words are broken
    long = "a" * 64
    number, parts = laid((count("n", "N"), ref("hash", "Hash")), [30.0, 60.0], ["12", long], "Helvetica", 7.5)
    assert (number, "".join(parts), len(parts) > 1) == (["12"], long, True)


def test_a_slip_is_a_table_where_it_is_narrow_and_leaves_out_what_is_not_for_it(tmp_path: Path) -> None:
    """Ten rows of three columns take ten lines and not thirty; a section that is not for slips takes none."""
    heights = {}
    for name, columns, on_slip in (
        ("table", (ref("a", "A"), ref("b", "B"), pieces("c", "C")), True),
        ("list", (text("a", "A"), text("b", "B" * 60), pieces("c", "C")), True),
        ("absent", (ref("a", "A"), ref("b", "B"), pieces("c", "C")), False),
    ):
        shown = Section("rows", "Rows", columns, lambda _: [(f"a{n}", f"b{n}", n) for n in range(10)], on_slip=on_slip)
        report = Report(
            id=name, number="A0", version=1, title="Trial", text="", roles=(Role.AUDITOR,), sections=(shown,),
            equalities=lambda _, __: [], sensitivity=Sensitivity.STAFF, retention=Retention.BOOKS,
        )  # fmt: skip
        [file] = produced(tmp_path, report, Format.SLIP).files
        box = re.search(rb"/MediaBox \[ 0 0 [0-9.]+ ([0-9.]+)", file.path.read_bytes())
        assert box is not None
        heights[name] = float(box[1])
    lines = {name: (height - heights["absent"]) / 10 for name, height in heights.items()}
    assert 11 < lines["table"] < 16 and lines["list"] > 30


#: What the library escapes, marks or cuts off.
AWKWARD = (
    "", " before", "behind ", "a&b<c>d", 'say "so"', "_x0041_", "_x", "tab\there", "two\nlines", "\x01", "\x1f", "\x7f",
    "\ufffe", "\u2028", "a\u00a0", "<r>rich</r>", "=1+1", "'quoted", "Őrült", "\U0001f600", "w" * 40_000,
    "\U0001f600" * 20_000,
)  # fmt: skip


def _sheet(path: Path) -> bytes:
    with zipfile.ZipFile(path) as book:
        return book.read("xl/worksheets/sheet1.xml")


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.sampled_from(AWKWARD), st.text(max_size=20)),
            st.one_of(st.none(), st.integers(-(10**15), 10**15)),
            st.one_of(st.none(), st.booleans()),
        ),
        max_size=12,
    )
)
def test_lines_of_a_sheet_are_those_that_the_library_writes(tmp_path_factory: Any, found: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("sheets")
    options = {"constant_memory": True, "strings_to_formulas": False, "tmpdir": str(folder)}
    ours = xlsxwriter.Workbook(str(folder / "ours.xlsx"), options)
    theirs = xlsxwriter.Workbook(str(folder / "theirs.xlsx"), options)
    sheet, plain = ours.add_worksheet("A", worksheet_class=LinesSheet), theirs.add_worksheet("A")
    shapes = [book.add_format({"num_format": "#,##0.00"}) for book in (ours, theirs)]
    for one in (sheet, plain):
        for column, name in enumerate(("text", "number", "minor", "flag")):
            one.write_string(0, column, name)
    sheet.begin_lines(
        [
            lambda row, value: sheet.text(row, 0, value),
            lambda row, value: sheet.number(row, 1, value / 100, shapes[0]) + sheet.number(row, 2, value, None),
            lambda row, value: sheet.flag(row, 3, value),
        ]
    )
    for row, (words, number, flag) in enumerate(found, start=1):
        sheet.line(row, (words, number, flag))
        if words is not None:
            plain.write_string(row, 0, words)
        if number is not None:
            plain.write_number(row, 1, number / 100, shapes[1])
            plain.write_number(row, 2, number)
        if flag is not None:
            plain.write_boolean(row, 3, flag)
    ours.close()
    theirs.close()
    assert _sheet(folder / "ours.xlsx") == _sheet(folder / "theirs.xlsx")


_TEXTS = st.lists(st.text("=+-@|%\"',;\t\r\n ab9\N{LATIN SMALL LETTER U WITH DOUBLE ACUTE}", min_size=1, max_size=4))


@given(_TEXTS)
def test_texts_that_are_looked_at_together_stay_as_each_of_them_would(texts: list[str]) -> None:
    if are_harmless(texts):
        assert [harmless(one) for one in texts] == texts
    plain = [re.sub(r"\W", "x", one) for one in texts]
    assert are_harmless(plain)


def test_rows_are_summed_together_as_one_by_one() -> None:
    together, alone, grouped_ = Sums(COLUMNS), Sums(COLUMNS), Sums(COLUMNS, "table")
    together.add_all(list(rows(50)))
    grouped_.add_all(list(rows(50)))
    for row in rows(50):
        alone.add(row)
    assert (together.row_count, together.totals) == (alone.row_count, alone.totals) == (50, grouped_.totals)
    assert sum(group["amount"] for group in grouped_.groups.values()) == alone.totals["amount"]
    with pytest.raises(TypeError, match="is no money of amount"):
        Sums(COLUMNS).add_all([*rows(3), (4, "T1", "", "1", 1, 1, AT, None)])
    with pytest.raises(TypeError, match="3 values for 8 columns"):
        Sums(COLUMNS).add_all([*rows(3), (4, "T1", "")])


@pytest.mark.parametrize("many", [0, 1, STEP - 1, STEP, STEP + 1, 2 * STEP])
def test_no_row_is_lost_between_the_rows_that_are_written_together(tmp_path: Path, many: int) -> None:
    one = made(tmp_path, many, Format.CSV, Format.JSON, Format.XLSX)
    assert one.results["rows"].row_count == many
    with (tmp_path / "trial-rows.csv").open(encoding="utf-8", newline="") as file:
        assert [line["number"] for line in csv.DictReader(file)] == [str(number) for number in range(many)]
    body = json.loads((tmp_path / "trial.json").read_text(encoding="utf-8"))
    assert [row[0] for row in body["sections"][0]["rows"]] == list(range(many))
    with zipfile.ZipFile(tmp_path / "trial.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet2.xml").decode()
    assert sheet.count("<row ") == many + 1
