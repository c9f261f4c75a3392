"""PDF on A4: head with a QR code of the checkpoint, equalities, sums, and the rows, if there are not too many of them.
On a printout the code leads to the page that checks it, a row that is alone stands as a list, and the proof is at the
end.

The same rows give the same bytes. Pages are numbered "n of m".
"""

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.utils.translation import gettext
from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfgen.canvas import Canvas

from casino.core.languages import Kind, said
from casino.reports.frame.charts import Plot
from casino.reports.frame.columns import NUMBERS, Column, Row, Sums, Type
from casino.reports.frame.head import Head, Proof
from casino.reports.frame.report import Equality, Section, broken
from casino.reports.render.base import group_rows
from casino.reports.render.charts import HEIGHT, WIDTH, Drawing, drawing
from casino.reports.render.page import BOLD, MONO, REGULAR, draw_chart, draw_qr, fitting, register_fonts, width, wrapped
from casino.reports.render.style import Style, thousands

#: Rows of a report above which the PDF is a summary.
MOST_ROWS = 5_000
#: Columns of a section above which pages lie on their long side.
_UPRIGHT_COLUMNS = 7
#: Points.
_MARGIN, _SIZE, _LEADING, _QR, _GAP, _AIR = 36.0, 7.5, 10.5, 72.0, 6.0, 18.0
#: Side of the QR code that has a whole proof; how wide the names of a list are.
_PROOF, _LABEL = 180.0, 150.0
#: Sizes of the type of tables, of which the first is taken in which no word is broken, or else the last.
_SIZES = (_SIZE, 6.5, 5.5)
#: Of that size, points of a word above which it may be broken.
_WORD = 54.0
#: Rows by which the widths of columns are found.
_SAMPLE = 400


@dataclass(slots=True)
class _Table:
    """Rows of text under names of columns. `summary`: drawn where the rows are left out, too; `form`: its one
    row as a list of names and values."""

    title: str
    columns: list[Column]
    rows: list[list[str]]
    sums: list[str] | None = None
    summary: bool = True
    form: bool = False


@dataclass(slots=True)
class _Part:
    section: Section
    rows: list[list[str]] = field(default_factory=list)
    sums: Sums | None = None


class PdfWriter:
    """Writes `REPORT.pdf`."""

    def __init__(self, folder: Path, head: Head, style: Style) -> None:
        self.head, self.style = head, style
        self.path = folder / f"{head.report.id}.pdf"
        self._parts: list[_Part] = []
        self._row_count = 0
        self._plots: Sequence[Plot] = ()

    def charts(self, plots: Sequence[Plot]) -> None:
        """Keep the charts."""
        self._plots = plots

    def section(self, section: Section) -> None:
        """Begin a section."""
        self._parts.append(_Part(section))

    def rows(self, rows: Sequence[Row]) -> None:
        """Keep rows as they are printed, while a PDF of all rows is still possible."""
        part, room = self._parts[-1], max(MOST_ROWS - self._row_count, 0)
        self._row_count += len(rows)
        for row in rows[:room]:
            printed = zip(part.section.columns, row, strict=True)
            part.rows.append([self.style.printed(column, value) for column, value in printed])

    def end_section(self, sums: Sums) -> None:
        """Keep the sums."""
        self._parts[-1].sums = sums

    def finish(self, equalities: Sequence[Equality]) -> list[Path]:
        """Draw the pages."""
        register_fonts()
        pages = _Pages(self.path, self.head, self.style, self._page_size())
        pages.charts = [made for plot in self._plots if not (made := drawing(plot, self.style)).empty]
        pages.draw(equalities, list(self._tables()), self._notes())
        return [self.path]

    def abandon(self) -> None:
        """Nothing was opened."""

    def _page_size(self) -> tuple[float, float]:
        tables = [part for part in self._parts if not self._is_form(part)]
        known = self.head.filters if self.head.paper is not None else {}
        shown = ([one for one in part.section.columns if one.name not in known] for part in tables)
        widest = max(map(len, shown), default=0)
        return landscape(A4) if widest > _UPRIGHT_COLUMNS else A4  # type: ignore[no-any-return]

    def _is_form(self, part: _Part) -> bool:
        return self.head.paper is not None and len(part.rows) == 1

    def _notes(self) -> list[str]:
        if self._row_count <= MOST_ROWS:
            return []
        return [
            gettext("Summary: the %(count)s rows of this report are in its CSV and XLSX files.")
            % {"count": thousands(self._row_count)}
        ]

    def _tables(self) -> Iterator[_Table]:
        """Sums by group first, then the rows."""
        for part in self._parts:
            if part.sums is None:
                raise ValueError(f"section {part.section.name} was not ended")
            group_by = self.head.group_by
            if group_by is not None and group_by in part.section.sums_by():
                yield self._groups(part.section, part.sums, group_by)
            if self.head.paper is not None and not (part.section.on_slip and part.rows):
                continue
            columns = list(part.section.columns)
            rows = part.rows if self._row_count <= MOST_ROWS else []
            sums = [
                self.style.printed(column, part.sums.totals[column.name]) if column.total else "" for column in columns
            ]
            words = next((at for at, column in enumerate(columns) if column.type not in NUMBERS), 0)
            if columns and not columns[words].total:
                sums[words] = row_count(part.sums.row_count)
            made = _Table(part.section.title, columns, rows, sums, form=self._is_form(part))
            yield made if made.form or self.head.paper is None else _without(made, self.head.filters)

    def _groups(self, section: Section, sums: Sums, group_by: str) -> _Table:
        summed, rows = group_rows(section, sums, group_by)
        by_name = {column.name: column for column in section.columns}
        columns = [
            section.group_column(group_by),
            *(by_name.get(name, Column(name, said(Kind.REPORT, "Rows"), Type.COUNT)) for name in summed),
        ]
        printed = [
            [self.style.printed(column, value) for column, value in zip(columns, row, strict=True)] for row in rows
        ]
        return _Table(
            gettext("%(section)s, by %(column)s")
            % {"section": section.title, "column": section.group_column(group_by).title.lower()},
            columns,
            printed,
        )


def row_count(count: int) -> str:
    """How many rows, in words."""
    return gettext("1 row") if count == 1 else gettext("%(count)s rows") % {"count": thousands(count)}


def _without(table: _Table, known: Container[str]) -> _Table:
    """A table without the columns whose values the head of a printout names."""
    kept = [at for at, column in enumerate(table.columns) if column.name not in known]
    sums = table.sums or []
    words = next((text for at, text in enumerate(sums) if at not in kept and text), "")
    left = [sums[at] for at in kept]
    first = next((at for at, one in enumerate(kept) if table.columns[one].type not in NUMBERS), 0)
    if left and not left[first]:
        left[first] = words
    rows = [[row[at] for at in kept] for row in table.rows]
    return replace(table, columns=[table.columns[at] for at in kept], rows=rows, sums=left)


class _Pages:
    """Lays tables out on pages; draws them twice, the first time to count the pages."""

    def __init__(self, path: Path, head: Head, style: Style, size: tuple[float, float]) -> None:
        self.path, self.head, self.style, (self.width, self.height) = path, head, style, size
        self.room = self.width - 2 * _MARGIN
        self.charts: list[Drawing] = []

    def draw(self, equalities: Sequence[Equality], tables: list[_Table], notes: list[str]) -> None:
        """Write the file."""
        self.page_count = 0
        self._lay_out(None, equalities, tables, notes)
        self.page_count = self.page
        canvas = Canvas(str(self.path), pagesize=(self.width, self.height), invariant=1, pageCompression=1)
        canvas.setTitle(f"{self.head.report.number} {self.head.report.title}")
        canvas.setAuthor(self.head.house_name)
        self._lay_out(canvas, equalities, tables, notes)
        canvas.save()

    def _lay_out(
        self, canvas: Canvas | None, equalities: Sequence[Equality], tables: list[_Table], notes: list[str]
    ) -> None:
        self.canvas, self.page, self.y = canvas, 0, 0.0
        self._next_page()
        self._front(equalities, notes)
        for chart in self.charts:
            self._chart(chart)
        for table in tables:
            self._form(table) if table.form else self._table(table)
        if self.head.paper is not None:
            self._proof(self.head.paper.proof)
        if canvas is not None:
            canvas.showPage()

    # --- Text ---------------------------------------------------------------------------------------------------------

    def _text(self, x: float, text: str, *, font: str = REGULAR, size: float = _SIZE, right: bool = False) -> None:
        if self.canvas is None:
            return
        self.canvas.setFont(font, size)
        if right:
            self.canvas.drawRightString(x, self.y, text)
        else:
            self.canvas.drawString(x, self.y, text)

    def _down(self, lines: float = 1) -> None:
        self.y -= lines * _LEADING

    def _next_page(self) -> None:
        if self.canvas is not None and self.page:
            self.canvas.showPage()
        self.page += 1
        if self.canvas is not None:
            self.canvas.setFont(REGULAR, 6.5)
            self.canvas.drawString(_MARGIN, 20, f"{self.head.house_name} · {self.head.report.number}")
            self.canvas.drawRightString(
                self.width - _MARGIN,
                20,
                gettext("page %(page)s of %(count)s") % {"page": self.page, "count": self.page_count},
            )
        self.y = self.height - _MARGIN - _SIZE

    def _need(self, lines: float) -> bool:
        """Begin another page unless there is room for so many lines; whether it did."""
        if self.y - lines * _LEADING >= _MARGIN:
            return False
        self._next_page()
        return True

    # --- The first page -----------------------------------------------------------------------------------------------

    def _front(self, equalities: Sequence[Equality], notes: list[str]) -> None:
        self.y -= 6
        self._text(_MARGIN, self.head.report.title, font=BOLD, size=14)
        self._text(self.width - _MARGIN - _QR - 12, self.head.mark(), font=BOLD, size=14, right=True)
        top = self.y + 10
        self._down(1.6)
        for label, words in self.head.lines():
            self._text(_MARGIN, label, font=BOLD)
            for line in wrapped(words, REGULAR, _SIZE, self.room - 72 - _QR - 12):
                self._text(_MARGIN + 72, line)
                self._down()
        if self.canvas is not None:
            draw_qr(self.canvas, self.head.proof(), self.width - _MARGIN - _QR, top - _QR, _QR)
        self.y = min(self.y, top - _QR - _LEADING)
        self._down(0.4)
        if words := broken(equalities):
            self._text(_MARGIN, words, font=BOLD, size=9)
            self._down(1.3)
        if equalities:
            self._text(_MARGIN, gettext("What must be equal"), font=BOLD)
            self._down()
        for one in equalities:
            self._need(1)
            mark = gettext("holds") if one.holds else gettext("DIFFERS")
            self._text(_MARGIN, mark, font=REGULAR if one.holds else BOLD)
            line = f"{one.said()}: {self.style.compared(one, self.head.currency)}"
            self._text(_MARGIN + 72, fitting(line, REGULAR, _SIZE, self.room - 72))
            self._down()
        for note in notes:
            self._text(_MARGIN, note, font=BOLD)
            self._down()
        self._down()

    def _proof(self, proof: Proof) -> None:
        """The proof of a printout: where it is checked, a QR code of it, and its lines beside that."""
        lines = math.ceil(max(_PROOF / _LEADING, len(proof.lines) * 0.75)) + 5
        self._need(lines)
        self._text(_MARGIN, gettext("Proof"), font=BOLD, size=9)
        self._down(1.3)
        for line in (gettext("Anybody can check this paper, without an account:"), proof.address):
            for part in wrapped(line, REGULAR, _SIZE, self.room):
                self._text(_MARGIN, part)
                self._down()
        self._down(0.7)
        top = self.y + _SIZE
        if self.canvas is not None:
            draw_qr(self.canvas, proof.code, _MARGIN, top - _PROOF, _PROOF)
        for line in proof.lines:
            self._text(_MARGIN + _PROOF + 12, line, font=MONO, size=6)
            self._down(0.75)
        self.y = min(self.y, top - _PROOF - _LEADING)

    # --- Charts -------------------------------------------------------------------------------------------------------

    def _chart(self, chart: Drawing) -> None:
        """As wide as the page allows, no wider than it is."""
        scale = min(1.0, self.room / WIDTH)
        height = HEIGHT * scale
        if self.y - height < _MARGIN:
            self._next_page()
        if self.canvas is not None:
            draw_chart(self.canvas, chart, _MARGIN, self.y + _SIZE, scale)
        self.y -= height + _LEADING

    # --- Tables -------------------------------------------------------------------------------------------------------

    def _form(self, table: _Table) -> None:
        """The one row of a table, its empty cells left out."""
        self._need(4)
        self._text(_MARGIN, table.title, font=BOLD, size=9)
        self._down(1.4)
        for column, cell in zip(table.columns, table.rows[0], strict=True):
            if cell:
                parts = wrapped(cell, REGULAR, _SIZE, self.room - _LABEL)
                self._need(len(parts))
                self._text(_MARGIN, column.title, font=BOLD)
                for part in parts:
                    self._text(_MARGIN + _LABEL, part)
                    self._down()
        self._down()

    def _table(self, table: _Table) -> None:
        self.size, widths = self._widths(table)
        self._need(4)
        self._text(_MARGIN, table.title, font=BOLD, size=9)
        self._down(1.4)
        self._names(table, widths)
        for number, row in enumerate(table.rows, 1):
            lines = laid(table.columns, widths, row, REGULAR, self.size)
            # The last row and the sums stay together.
            if self._need(_height(lines) + int(number == len(table.rows) and table.sums is not None)):
                self._names(table, widths)
            self._cells(table.columns, widths, lines, REGULAR)
        if table.sums is not None:
            lines = laid(table.columns, widths, table.sums, BOLD, self.size)
            if self._need(_height(lines)):
                self._names(table, widths)
            self._rule(widths)
            self._cells(table.columns, widths, lines, BOLD)
        self._down(1.5)

    def _names(self, table: _Table, widths: list[float]) -> None:
        titles = [column.title for column in table.columns]
        self._cells(table.columns, widths, laid(table.columns, widths, titles, BOLD, self.size, names=True), BOLD)
        self._rule(widths)

    def _rule(self, widths: list[float]) -> None:
        if self.canvas is not None:
            above = self.y + _SIZE + 1
            self.canvas.setLineWidth(0.4)
            self.canvas.line(_MARGIN, above, _MARGIN + sum(widths), above)

    def _cells(self, columns: list[Column], widths: list[float], lines: list[list[str]], font: str) -> None:
        top, x = self.y, _MARGIN
        for column, room, cell in zip(columns, widths, lines, strict=True):
            right = column.type in NUMBERS
            for line in cell:
                self._text(x + room - _GAP if right else x, line, font=font, size=self.size, right=right)
                self._down()
            self.y = top
            x += room
        self._down(_height(lines))

    def _widths(self, table: _Table) -> tuple[float, list[float]]:
        """The size of the type, and the widths of the columns in points: what the cells need. Where that is more than
        the page, titles and words go on several lines, and numbers stay whole as long as there is room for them."""
        natural, least = [], []
        for at, column in enumerate(table.columns):
            cells = [row[at] for row in table.rows[:_SAMPLE]]
            needed = max((width(cell, REGULAR, _SIZE) for cell in cells), default=0.0)
            sums = width(table.sums[at], BOLD, _SIZE) if table.sums is not None else 0.0
            word = max(width(one, BOLD, _SIZE) for one in column.title.split() or [""])
            if column.type not in NUMBERS:
                words = {one for cell in cells for one in cell.split()}
                needed_at_least = min(max((width(one, REGULAR, _SIZE) for one in words), default=0.0), _WORD)
            else:
                needed_at_least = max(needed, sums)
            natural.append(max(needed, sums, width(column.title, BOLD, _SIZE)) + 1)
            least.append(max(needed_at_least, word) + 1)
        for size in _SIZES:
            widest, narrowest = ([one * size / _SIZE + _GAP for one in found] for found in (natural, least))
            if sum(narrowest) <= self.room:
                break
        return size, shared(widest, narrowest, self.room)


def shared(natural: list[float], least: list[float], room: float) -> list[float]:
    """The room, shared: as much as is natural and some air; else what is least, and the rest to those that need it."""
    if sum(natural) <= room:
        # Air between the columns, no more than that of a wide margin.
        air = min((room - sum(natural)) / len(natural), _AIR)
        return [one + air for one in natural]
    if sum(least) >= room:
        return _capped(least, room)
    rest = (room - sum(least)) / (sum(natural) - sum(least))
    return [low + (high - low) * rest for low, high in zip(least, natural, strict=True)]


def _capped(widths: list[float], room: float) -> list[float]:
    """The widths, the widest cut to one of which all together take the room: narrow columns stay as they are."""
    left, cap = room, room
    for done, one in enumerate(sorted(widths)):
        cap = left / (len(widths) - done)
        if one >= cap:
            break
        left -= one
    return [min(one, cap) for one in widths]


def laid(
    columns: Sequence[Column], widths: Sequence[float], cells: Sequence[str], font: str, size: float,
    *, names: bool = False,
) -> list[list[str]]:  # fmt: skip
    """The cells of a row in lines that fit: words go on, a number that does not fit is cut, for it would be read as
    another one."""
    found = []
    for column, room, cell in zip(columns, widths, cells, strict=True):
        if width(cell, font, size) <= room - _GAP:
            found.append([cell])
        elif column.type in NUMBERS and not names:
            found.append([fitting(cell, font, size, room - _GAP)])
        else:
            found.append(wrapped(cell, font, size, room - _GAP))
    return found


def _height(lines: Sequence[Sequence[str]]) -> int:
    return max(map(len, lines))
