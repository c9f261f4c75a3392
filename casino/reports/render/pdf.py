"""PDF on A4: head with a QR code of the checkpoint, equalities, sums, and the rows, if there are not too many of them.

The same rows give the same bytes. Pages are numbered "n of m".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfgen.canvas import Canvas

from casino.reports.frame.columns import NUMBERS, Column, Row, Sums, Type
from casino.reports.frame.head import Head
from casino.reports.frame.report import Equality, Section
from casino.reports.render.base import group_rows
from casino.reports.render.page import BOLD, REGULAR, draw_qr, fitting, register_fonts, width, wrapped
from casino.reports.render.style import Style

#: Rows of a report above which the PDF is a summary.
MOST_ROWS = 5_000
#: Columns of a section above which pages lie on their long side.
_UPRIGHT_COLUMNS = 7
#: Points.
_MARGIN, _SIZE, _LEADING, _QR, _GAP, _AIR = 36.0, 7.5, 10.5, 72.0, 6.0, 18.0
#: Rows by which the widths of columns are found.
_SAMPLE = 400


@dataclass(slots=True)
class _Table:
    """Rows of text under names of columns. `summary`: drawn where the rows are left out, too."""

    title: str
    columns: list[Column]
    rows: list[list[str]]
    sums: list[str] | None = None
    summary: bool = True


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

    def section(self, section: Section) -> None:
        """Begin a section."""
        self._parts.append(_Part(section))

    def row(self, row: Row) -> None:
        """Keep a row as it is printed, while a PDF of all rows is still possible."""
        self._row_count += 1
        if self._row_count <= MOST_ROWS:
            part = self._parts[-1]
            printed = zip(part.section.columns, row, strict=True)
            part.rows.append([self.style.printed(column, value) for column, value in printed])

    def end_section(self, sums: Sums) -> None:
        """Keep the sums."""
        self._parts[-1].sums = sums

    def finish(self, equalities: Sequence[Equality]) -> list[Path]:
        """Draw the pages."""
        register_fonts()
        _Pages(self.path, self.head, self._page_size()).draw(equalities, list(self._tables()), self._notes())
        return [self.path]

    def abandon(self) -> None:
        """Nothing was opened."""

    def _page_size(self) -> tuple[float, float]:
        widest = max((len(part.section.columns) for part in self._parts), default=0)
        return landscape(A4) if widest > _UPRIGHT_COLUMNS else A4  # type: ignore[no-any-return]

    def _notes(self) -> list[str]:
        if self._row_count <= MOST_ROWS:
            return []
        return [f"Summary: the {self._row_count:,} rows of this report are in its CSV and XLSX files."]

    def _tables(self) -> Iterator[_Table]:
        """Sums by group first, then the rows."""
        for part in self._parts:
            if part.sums is None:
                raise ValueError(f"section {part.section.name} was not ended")
            group_by = self.head.group_by
            if group_by is not None and group_by in part.section.groups:
                yield self._groups(part.section, part.sums, group_by)
            columns = list(part.section.columns)
            rows = part.rows if self._row_count <= MOST_ROWS else []
            sums = [
                self.style.printed(column, part.sums.totals[column.name]) if column.total else "" for column in columns
            ]
            if columns and not columns[0].total:
                sums[0] = f"{part.sums.row_count:,} rows"
            yield _Table(part.section.title, columns, rows, sums)

    def _groups(self, section: Section, sums: Sums, group_by: str) -> _Table:
        summed, rows = group_rows(section, sums, group_by)
        by_name = {column.name: column for column in section.columns}
        columns = [by_name[group_by], *(by_name.get(name, Column(name, "Rows", Type.COUNT)) for name in summed)]
        printed = [
            [self.style.printed(column, value) for column, value in zip(columns, row, strict=True)] for row in rows
        ]
        return _Table(f"{section.title}, by {by_name[group_by].title.lower()}", columns, printed)


class _Pages:
    """Lays tables out on pages; draws them twice, the first time to count the pages."""

    def __init__(self, path: Path, head: Head, size: tuple[float, float]) -> None:
        self.path, self.head, (self.width, self.height) = path, head, size
        self.room = self.width - 2 * _MARGIN

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
        for table in tables:
            self._table(table)
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
            self.canvas.drawRightString(self.width - _MARGIN, 20, f"page {self.page} of {self.page_count}")
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
        top = self.y + 10
        self._down(1.6)
        for label, words in self.head.lines():
            self._text(_MARGIN, label, font=BOLD)
            for line in wrapped(words, REGULAR, _SIZE, self.room - 72 - _QR - 12):
                self._text(_MARGIN + 72, line)
                self._down()
        if self.canvas is not None:
            draw_qr(self.canvas, self._proof(), self.width - _MARGIN - _QR, top - _QR, _QR)
        self.y = min(self.y, top - _QR - _LEADING)
        broken = [one for one in equalities if not one.holds]
        if broken:
            self._text(_MARGIN, f"{len(broken)} of {len(equalities)} equalities DO NOT HOLD", font=BOLD, size=9)
            self._down(1.3)
        for one in equalities:
            self._need(1)
            mark = "holds" if one.holds else "DIFFERS"
            self._text(_MARGIN, mark, font=REGULAR if one.holds else BOLD)
            line = (
                f"{one.words}: {one.one:,} = {one.other:,}"
                if one.holds
                else f"{one.words}: {one.one:,} <> {one.other:,}"
            )
            self._text(_MARGIN + 72, fitting(line, REGULAR, _SIZE, self.room - 72))
            self._down()
        for note in notes:
            self._text(_MARGIN, note, font=BOLD)
            self._down()
        self._down()

    def _proof(self) -> str:
        """What the QR code says: house, checkpoint, report."""
        checkpoint = self.head.as_of.checkpoint
        log = "" if checkpoint is None else f"{checkpoint.epoch}/{checkpoint.size}/{checkpoint.root}"
        return f"cukassza:{self.head.house}:{self.head.report.id}:{self.head.as_of.transaction}:{log}"

    # --- Tables -------------------------------------------------------------------------------------------------------

    def _table(self, table: _Table) -> None:
        widths = self._widths(table)
        self._need(4)
        self._text(_MARGIN, table.title, font=BOLD, size=9)
        self._down(1.4)
        self._names(table, widths)
        for row in table.rows:
            if self._need(1):
                self._names(table, widths)
            self._cells(table.columns, widths, row, REGULAR)
        if table.sums is not None:
            if self._need(1):
                self._names(table, widths)
            self._rule(widths)
            self._cells(table.columns, widths, table.sums, BOLD)
        self._down(1.5)

    def _names(self, table: _Table, widths: list[float]) -> None:
        self._cells(table.columns, widths, [column.title for column in table.columns], BOLD)
        self._rule(widths)

    def _rule(self, widths: list[float]) -> None:
        if self.canvas is not None:
            above = self.y + _SIZE + 1
            self.canvas.setLineWidth(0.4)
            self.canvas.line(_MARGIN, above, _MARGIN + sum(widths), above)

    def _cells(self, columns: list[Column], widths: list[float], cells: list[str], font: str) -> None:
        x = _MARGIN
        for column, room, cell in zip(columns, widths, cells, strict=True):
            right = column.type in NUMBERS
            self._text(x + room - _GAP if right else x, fitting(cell, font, _SIZE, room - _GAP), font=font, right=right)
            x += room
        self._down()

    def _widths(self, table: _Table) -> list[float]:
        """Widths of the columns in points: what the cells need, and in proportion where that is more than the page."""
        found = []
        for at, column in enumerate(table.columns):
            cells = [row[at] for row in table.rows[:_SAMPLE]]
            needed = max((width(cell, REGULAR, _SIZE) for cell in cells), default=0.0)
            bold = [column.title] + ([] if table.sums is None else [table.sums[at]])
            found.append(max(needed, *(width(one, BOLD, _SIZE) for one in bold)) + _GAP + 1)
        whole = sum(found)
        if whole <= self.room:
            # Air between the columns, no more than that of a wide margin.
            air = min((self.room - whole) / len(found), _AIR)
            return [one + air for one in found]
        # The wide ones give way first: no column is made narrower than an equal share.
        share = self.room / len(found)
        narrow = sum(one for one in found if one <= share)
        wide = whole - narrow
        return [one if one <= share else one * (self.room - narrow) / wide for one in found]
