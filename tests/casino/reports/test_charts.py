"""Charts of reports: their points, files that are well formed, the same in JSON, SVG and PDF, and safe to show."""

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from casino.reports.frame import registry
from casino.reports.frame.charts import MOST_POINTS, Chart, ChartKind, Plot, Series
from casino.reports.frame.columns import Type, count, day, decimal, money, ref
from casino.reports.frame.head import Head
from casino.reports.frame.report import (
    AsOf,
    Equality,
    Format,
    LastEvent,
    Report,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.render.base import Produced, produce
from casino.reports.render.charts import Box, Line, Words, _ticks, drawing
from casino.reports.render.formats import writers
from casino.reports.render.style import Style
from casino.staff.models import Role
from tests.casino.reports.test_render import AT

COLUMNS = (
    day("day", "Gaming day"), ref("table", "Table"), money("result", "Result"), count("hands", "Hands"),
    count("minutes", "Minutes"), decimal("rate", "Rate"),
)  # fmt: skip
STYLE = Style(exponent=2, zone="Europe/Budapest")
SVG = "{http://www.w3.org/2000/svg}"
EVIL = '<script>alert("1")</script>&'


def rows() -> Iterator[tuple[Any, ...]]:
    """Three days of two tables; the second day has lost money and was not open."""
    for number, result in enumerate((12_345, -2_000, 500), start=1):
        for table in ("T1", EVIL):
            minutes = 0 if number == 2 else 60 * number
            yield f"2026-11-0{number}", table, result, 10, minutes, 500_000


def chart(**more: Any) -> Chart:
    """A chart of these rows."""
    usual: dict[str, Any] = {
        "name": "days", "title": "Result by day", "text": "What came.", "section": "rows", "kind": ChartKind.BARS,
        "x": "day", "series": (Series("Result", "result"),),
    }  # fmt: skip
    return Chart(**usual | more)


def plotted(one: Chart, many: Sequence[tuple[Any, ...]] | None = None) -> Plot:
    """Its points."""
    found = Plot(one, COLUMNS)
    for row in rows() if many is None else many:
        found.add_all([row])
    return found


def made(folder: Path, *formats: Format) -> Produced:
    """A report with two charts."""
    report = Report(
        id="trial", number="A0", version=1, title="Trial", text="", roles=(Role.AUDITOR,),
        sections=(Section("rows", "Rows", COLUMNS, lambda _: rows()),),
        equalities=lambda _, results: [Equality("rows = six", results["rows"].row_count, 7, Type.COUNT)],
        sensitivity=Sensitivity.STAFF, retention=Retention.BOOKS,
        charts=(
            chart(), chart(name="tables", x="table", kind=ChartKind.LINES, title=f"Hands {EVIL}",
                           series=(Series("An hour", "hands", per="minutes", times=60),)),
        ),
    )  # fmt: skip
    as_of = AsOf(transaction=123, event=456, last=LastEvent("house", 456), checkpoint=None, at=AT)
    head = Head(
        report=report, house="DEMO", house_name="Demo & ház", currency="HUF", exponent=2, zone="Europe/Budapest",
        filters={}, group_by=None, requested_by="anna", requested_at=AT, as_of=as_of,
    )  # fmt: skip
    scope: Any = Scope(None, as_of, {})  # type: ignore[arg-type]
    return produce(report, scope, head, writers(formats, folder, head, STYLE))


def test_points_are_sums_ratios_and_running_sums() -> None:
    assert plotted(chart()).points() == [("2026-11-01", [24_690]), ("2026-11-02", [-4_000]), ("2026-11-03", [1_000])]
    ratio = plotted(chart(series=(Series("An hour", "hands", per="minutes", times=60),))).points()
    assert [values for _, values in ratio] == [[10_000_000], [None], [3_333_333]]
    running = plotted(chart(running=True, where=("table", "T1"))).points()
    assert [values for _, values in running] == [[12_345], [10_345], [10_845]]
    by_hour = Chart(
        name="hours", title="", text="", section="", kind=ChartKind.BARS, x="hands", series=(Series("Hands", "hands"),)
    )  # fmt: skip
    many = [("d", "T", 0, number, 0, 0) for number in (10, 9, 2)]
    assert [key for key, _ in plotted(by_hour, many).points()] == [2, 9, 10]
    with pytest.raises(KeyError):
        Plot(chart(x="nothing"), COLUMNS)


def test_a_long_chart_keeps_its_newest_points_in_little_memory() -> None:
    found = plotted(chart(), [(f"{2000 + at // 400}-{at % 400:03}", "T1", 1, 0, 0, 0) for at in range(20_000)])
    points = found.points()
    assert len(points) == MOST_POINTS and points[-1][0] == "2049-399"
    assert len(found._sums) <= 2 * MOST_POINTS


def test_the_same_chart_is_in_every_file_and_no_file_has_a_script(tmp_path: Path) -> None:
    found = made(tmp_path, *Format)
    names = {file.path.name for file in found.files}
    assert {"trial-days.svg", "trial-tables.svg", "trial.json", "trial.pdf"} <= names
    body = json.loads((tmp_path / "trial.json").read_text())
    days = body["charts"][0]
    assert (days["points"], days["series"][0]["values"]) == (
        ["2026-11-01", "2026-11-02", "2026-11-03"], [24_690, -4_000, 1_000],
    )  # fmt: skip
    assert body["charts"][1]["series"][0]["type"] == "decimal"
    assert [one["holds"] for one in body["equalities"]] == [False]
    for name in ("trial-days.svg", "trial-tables.svg"):
        root = ElementTree.parse(tmp_path / name).getroot()
        assert root.get("role") == "img" and root.get("aria-labelledby") == "title desc"
        assert {one.tag for one in root.iter()} <= {
            f"{SVG}{tag}" for tag in ("svg", "title", "desc", "polyline", "rect", "text")
        }  # fmt: skip
        described = root.find(f"{SVG}desc")
        assert described is not None and described.text is not None
        assert "1 of 1 equalities of the report do not hold" in described.text
        # No background, and no colour that is lost on white or on black.
        assert not any(one.get("fill") in ("#000000", "#ffffff", "black", "white") for one in root.iter())
    words = [one.text for one in ElementTree.parse(tmp_path / "trial-days.svg").getroot().iter(f"{SVG}text")]
    assert {"Result by day", "2026-11-02", "250.00", "Gaming day"} <= set(words)
    text = ElementTree.parse(tmp_path / "trial-days.svg").getroot().find(f"{SVG}desc")
    assert text is not None and "least -40.00 at 2026-11-02, most 246.90 at 2026-11-01" in str(text.text)
    assert b"/Type /Page" in (tmp_path / "trial.pdf").read_bytes()


def test_charts_have_the_same_bytes_again(tmp_path: Path) -> None:
    sums = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        sums.append([file.sha256 for file in made(tmp_path / name, Format.SVG, Format.PDF).files])
    assert sums[0] == sums[1]


def test_bars_stand_on_nothing_and_lines_break_where_there_is_no_value() -> None:
    bars = [mark for mark in drawing(plotted(chart()), STYLE).marks if isinstance(mark, Box)][1:]
    zero = bars[0].y + bars[0].height
    assert bars[1].y == pytest.approx(zero) and bars[2].y + bars[2].height == pytest.approx(zero)
    assert bars[0].height == pytest.approx(24.69 * bars[2].height, rel=0.02)
    broken = chart(kind=ChartKind.LINES, series=(Series("An hour", "hands", per="minutes", times=60),))
    marks = drawing(plotted(broken), STYLE).marks
    assert len([mark for mark in marks if isinstance(mark, Box)]) == 2  # two points by themselves
    assert all(0 <= x <= 640 and 0 <= y <= 260 for mark in marks if isinstance(mark, Line) for x, y in mark.points)
    nothing = drawing(plotted(chart(), []), STYLE).marks
    assert [mark.text for mark in nothing if isinstance(mark, Words)] == ["Result by day", "no data"]


@pytest.mark.parametrize("most", [0, 1, 7, 999, 123_456_789, 10**14])
def test_ticks_are_round_and_few(most: int) -> None:
    ticks = _ticks(0, most)
    assert ticks[0] == 0 and ticks[-1] >= most and 2 <= len(ticks) <= 8
    assert len({later - one for one, later in itertools.pairwise(ticks)}) == 1


def test_charts_of_the_catalogue_name_columns_that_are_there() -> None:
    found = [(report, one) for report in registry.reports().values() for one in report.charts]
    assert {report.number for report, _ in found} >= {"A5", "A6", "A13", "A31"}
    for report, one in found:
        [section] = [section for section in report.sections if section.name == one.section]
        Plot(one, section.columns)
        assert Format.SVG in report.formats
