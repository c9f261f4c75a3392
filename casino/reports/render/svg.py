"""SVG 1.1: one file for each chart of a report, with a title and a description for screen readers. It has no script, no
style sheet and no reference to anything outside; its background is that of the page on which it is shown."""

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from django.utils.translation import gettext

from casino.reports.frame.charts import Plot
from casino.reports.frame.columns import Row, Sums
from casino.reports.frame.head import Head
from casino.reports.frame.report import Equality, Section
from casino.reports.render.charts import HEIGHT, INK, SIZE, WIDTH, Box, Drawing, Line, Words, drawing
from casino.reports.render.style import Style


class SvgWriter:
    """Writes `REPORT-CHART.svg`."""

    def __init__(self, folder: Path, head: Head, style: Style) -> None:
        self.folder, self.head, self.style = folder, head, style
        self._plots: Sequence[Plot] = ()

    def section(self, section: Section) -> None:
        """Rows are in the charts."""

    def rows(self, rows: Sequence[Row]) -> None:
        """Rows are in the charts."""

    def end_section(self, sums: Sums) -> None:
        """Sums are in other files."""

    def charts(self, plots: Sequence[Plot]) -> None:
        """Keep the charts."""
        self._plots = plots

    def finish(self, equalities: Sequence[Equality]) -> list[Path]:
        """Write a file for each chart. That an equality does not hold is said in its description."""
        broken = sum(not one.holds for one in equalities)
        said = gettext("%(broken)s of %(count)s equalities of the report do not hold.")
        warning = f" {said % {'broken': broken, 'count': len(equalities)}}" if broken else ""
        found = []
        for plot in self._plots:
            path = self.folder / f"{self.head.report.id}-{plot.chart.name}.svg"
            made = drawing(plot, self.style)
            path.write_text(svg(made, f"{made.text} {self._of()}{warning}"), encoding="utf-8")
            found.append(path)
        return found

    def abandon(self) -> None:
        """Nothing was opened."""

    def _of(self) -> str:
        head = self.head
        words = gettext("%(house)s, %(number)s, as of ledger transaction %(transaction)s. Amounts in %(currency)s.")
        return words % {
            "house": head.house_name, "number": head.report.number, "transaction": head.as_of.transaction,
            "currency": head.currency,
        }  # fmt: skip


def svg(made: Drawing, description: str) -> str:
    """A drawing as an SVG document."""
    marks = "\n".join(_mark(mark) for mark in made.marks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-labelledby="title desc" font-family="sans-serif" font-size="{SIZE}" fill="{INK}">\n'
        f'<title id="title">{escape(made.title)}</title>\n<desc id="desc">{escape(description)}</desc>\n'
        f"{marks}\n</svg>\n"
    )


def _mark(mark: Line | Box | Words) -> str:
    match mark:
        case Line():
            points = " ".join(f"{x:g},{y:g}" for x, y in mark.points)
            dashes = f' stroke-dasharray="{" ".join(map(str, mark.dashes))}"' if mark.dashes else ""
            stroke = f'stroke="{mark.colour}" stroke-width="{mark.width:g}"{dashes}'
            return f'<polyline points="{points}" fill="none" {stroke}/>'
        case Box():
            return (
                f'<rect x="{mark.x:g}" y="{mark.y:g}" width="{mark.width:g}" height="{mark.height:g}" '
                f'fill="{mark.colour}"/>'
            )
        case _:
            weight = ' font-weight="bold"' if mark.bold else ""
            anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
            return f'<text x="{mark.x:g}" y="{mark.y:g}"{anchor}{weight}>{escape(mark.text)}</text>'
