"""Slips of 80 mm for printers at tables and cages: one column of labels and values, as long as it needs to be.

At its end a QR code names the checkpoint that the report is as of. A section that says which events prove its rows has
one for each of them too: house, chain, number in the chain, and hash, by which `audit/proofs/inclusion` is asked for.
A printout has one that leads to the page which checks it, and the proof itself as another one and as lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from django.utils.translation import gettext
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from casino.reports.frame.columns import NUMBERS, Column, Row, Sums, Value
from casino.reports.frame.head import Head
from casino.reports.frame.report import Equality, Section, broken
from casino.reports.render.page import BOLD, MONO, REGULAR, draw_qr, register_fonts, width, wrapped
from casino.reports.render.style import Style, thousands

_WIDTH, _MARGIN, _SIZE, _LEADING, _QR, _AIR = 80 * mm, 4 * mm, 7.5, 10.0, 30 * mm, 6.0
_ROOM = _WIDTH - 2 * _MARGIN
#: Sizes of the type of tables, of which the first is taken in which all columns have room beside each other.
_SIZES = (_SIZE, 6.5, 5.5)
#: Side of the QR code that has a whole proof, and size and leading of its lines.
_PROOF, _SMALL, _CLOSE = 68 * mm, 7.5, 9.0
_EMPTY: tuple[Value, ...] = (None, "")
_NOTHING: tuple[Value, ...] = (*_EMPTY, 0)
#: Points that stand between two columns at least.
_LEAST_AIR = 4.0
#: Rows above which a slip has the sums only: nobody reads a slip of metres.
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class _Line:
    """A label and its value, or the `cells` of a row; `qr`: the text of a QR code instead, with sides of `side` points;
    `rule`: a line above; `small`: a line of a proof; `size`: of the type."""

    label: str
    value: str = ""
    bold: bool = False
    qr: str = ""
    side: float = _QR
    small: bool = False
    size: float = _SIZE
    rule: bool = False
    #: Text, where it stands in points from the margin, whether it ends there.
    cells: tuple[tuple[str, float, bool], ...] = ()


class SlipWriter:
    """Writes `REPORT-slip.pdf`."""

    def __init__(self, folder: Path, head: Head, style: Style) -> None:
        self.head, self.style = head, style
        self.path = folder / f"{head.report.id}-slip.pdf"
        #: Label, value, whether in bold.
        self._lines: list[_Line] = []
        self._row_count = 0
        self._rows: list[Row] = []

    def section(self, section: Section) -> None:
        """Begin a section."""
        self._section, self._rows = section, []

    def rows(self, rows: Sequence[Row]) -> None:
        """Keep rows, while a slip of all rows is still possible."""
        if self._section.on_slip:
            kept = rows[: max(MOST_ROWS - self._row_count, 0)]
            self._row_count += len(kept)
            self._rows.extend(kept)

    def end_section(self, sums: Sums) -> None:
        """Lay the rows out as a table, where they are narrow enough, or else column by column, and keep the sums."""
        section = self._section
        if not section.on_slip or not sums.row_count:
            return
        self._lines.append(_Line(section.title, bold=True, rule=True))
        # What is the same in every row stands once; what is nothing in every row, in its sum.
        rows, columns = self._rows, section.columns
        same = [at for at in range(len(columns)) if len(rows) > 1 and len({row[at] for row in rows}) == 1]
        same = [at for at in same if rows[0][at] in _NOTHING or not columns[at].total]
        for at in same:
            known = self.head.paper is not None and columns[at].name in self.head.filters
            if rows[0][at] not in _EMPTY and not columns[at].total and not known:
                self._lines.append(_Line(columns[at].title, self.style.printed(columns[at], rows[0][at])))
        left = [at for at in range(len(columns)) if at not in same]
        if self.head.paper is not None and len(rows) > 1:
            left = [at for at in left if columns[at].name not in self.head.filters]
        self._lines += self._table(left) or self._list(left)
        if sums.row_count > len(rows):
            self._lines.append(_Line(gettext("Rows, not all of which are here"), thousands(sums.row_count), bold=True))
        if sums.row_count > 1:
            by_name = {column.name: (at, column) for at, column in enumerate(columns)}
            for name, total in sums.totals.items():
                at, column = by_name[name]
                if not rows or any(row[at] is not None for row in rows):
                    printed = self.style.printed(column, total)
                    self._lines.append(_Line(gettext("Sum: %(title)s") % {"title": column.title}, printed, bold=True))

    def _table(self, left: list[int]) -> list[_Line]:
        """The columns beside each other; empty where there is no room, or a row has a proof."""
        register_fonts()
        columns = [self._section.columns[at] for at in left]
        if len(self._rows) < 2 or self._has_proofs() or not columns:
            return []
        printed = [[self.style.printed(self._section.columns[at], row[at]) for at in left] for row in self._rows]
        for size in _SIZES:
            needed = [
                max(
                    *(width(row[at], REGULAR, size) for row in printed),
                    *(width(word, BOLD, size) for word in column.title.split()),
                )
                for at, column in enumerate(columns)
            ]
            air = (_ROOM - sum(needed)) / max(len(columns) - 1, 1)
            if air >= _LEAST_AIR:
                return self._laid_out(columns, printed, needed, air, size)
        return []

    @staticmethod
    def _laid_out(
        columns: list[Column], printed: list[list[str]], needed: list[float], air: float, size: float
    ) -> list[_Line]:
        """A table of these cells in columns of this width, so much air apart."""
        places, x = [], 0.0
        for column, one in zip(columns, needed, strict=True):
            right = column.type in NUMBERS
            places.append((x + one if right else x, right))
            x += one + air
        titles = [wrapped(column.title, BOLD, size, one + 1) for column, one in zip(columns, needed, strict=True)]
        deepest = max(map(len, titles))
        names = [[*[""] * (deepest - len(title)), *title] for title in titles]
        return [
            *(_Line("", bold=True, cells=tuple(_placed(places, line)), size=size) for line in zip(*names, strict=True)),
            *(_Line("", cells=tuple(_placed(places, row)), size=size) for row in printed),
        ]

    def _has_proofs(self) -> bool:
        """Whether every row of the section has a QR code; a printout has its own."""
        return self._section.proof is not None and self.head.paper is None

    def _list(self, left: list[int]) -> list[_Line]:
        """Every row column by column, with its proof."""
        lines, section = [], self._section
        for row in self._rows:
            first = True
            for at in left:
                if row[at] not in _EMPTY:
                    printed = self.style.printed(section.columns[at], row[at])
                    lines.append(_Line(section.columns[at].title, printed, bold=first))
                    first = False
            if self._has_proofs() and section.proof is not None:
                values = {column.name: value for column, value in zip(section.columns, row, strict=True)}
                named = ":".join(str(values[name]) for name in section.proof)
                lines.append(_Line("", qr=f"cukassza:{self.head.house}:{named}"))
        return lines

    def finish(self, equalities: Sequence[Equality]) -> list[Path]:
        """Draw the slip."""
        register_fonts()
        lines = [_Line(words, bold=True)] if (words := broken(equalities)) else []
        lines += [*(_Line(label, words) for label, words in self.head.lines()), *self._lines]
        if equalities:
            lines.append(_Line(gettext("What must be equal"), bold=True, rule=True))
        lines += [
            _Line(one.said(), self.style.compared(one, self.head.currency), bold=not one.holds) for one in equalities
        ]
        lines += self._proof()
        laid = [part for line in lines for part in self._laid(line)]
        titles = wrapped(self.head.report.title, BOLD, 10, _WIDTH - 2 * _MARGIN)
        titles += [mark] if (mark := self.head.mark()) else []
        height = 2 * _MARGIN + 12 * len(titles) + sum(map(_height, laid))
        canvas = Canvas(str(self.path), pagesize=(_WIDTH, height), invariant=1, pageCompression=1)
        canvas.setTitle(f"{self.head.report.number} {self.head.report.title}")
        y = height - _MARGIN - 10
        for part in titles:
            canvas.setFont(BOLD, 10)
            canvas.drawString(_MARGIN, y, part)
            y -= 12
        for line in laid:
            _draw(canvas, line, y)
            y -= _height(line)
        canvas.showPage()
        canvas.save()
        return [self.path]

    def _proof(self) -> list[_Line]:
        """The QR codes at the end."""
        if self.head.paper is None:
            return [_Line("", qr=self.head.proof())]
        proof = self.head.paper.proof
        return [
            _Line(gettext("Check this paper, without an account"), bold=True, rule=True),
            _Line("", qr=proof.address),
            *(_Line("", cells=((part, 0.0, False),)) for part in wrapped(proof.address, REGULAR, _SIZE, _ROOM)),
            _Line(gettext("The proof itself, to be checked without the house"), bold=True, rule=True),
            _Line("", qr=proof.code, side=_PROOF),
            *(_Line(part, small=True) for part in proof.lines),
        ]

    def abandon(self) -> None:
        """Nothing was opened."""

    def _laid(self, line: _Line) -> list[_Line]:
        """A line on one line of the slip, or on several where it is too long for one."""
        font, room = (BOLD if line.bold else REGULAR), _WIDTH - 2 * _MARGIN
        if line.qr or line.cells or line.small or width(f"{line.label}  {line.value}", font, _SIZE) <= room:
            return [line]
        labels = [replace(line, label=part, value="") for part in wrapped(line.label, font, _SIZE, room)]
        rest = [replace(line, label="", value=part, rule=False) for part in wrapped(line.value, font, _SIZE, room)]
        return [labels[0], *(replace(one, rule=False) for one in labels[1:]), *(rest if line.value else [])]


def _height(line: _Line) -> float:
    if line.qr:
        return float(line.side + 2 * _AIR)
    if line.small:
        return _CLOSE
    return _LEADING + (_AIR if line.rule else 0.0)


def _draw(canvas: Canvas, line: _Line, y: float) -> None:
    """A line, whose base is at `y` points where nothing stands above it."""
    if line.qr:
        draw_qr(canvas, line.qr, (_WIDTH - line.side) / 2, y + _SIZE - _AIR - line.side, line.side)
        return
    if line.small:
        canvas.setFont(MONO, _SMALL)
        canvas.drawString(_MARGIN, y, line.label)
        return
    if line.rule:
        canvas.setLineWidth(0.4)
        canvas.line(_MARGIN, y + _SIZE - 1, _WIDTH - _MARGIN, y + _SIZE - 1)
        y -= _AIR
    canvas.setFont(BOLD if line.bold else REGULAR, line.size)
    canvas.drawString(_MARGIN, y, line.label)
    canvas.drawRightString(_WIDTH - _MARGIN, y, line.value)
    for text, x, right in line.cells:
        if right:
            canvas.drawRightString(_MARGIN + x, y, text)
        else:
            canvas.drawString(_MARGIN + x, y, text)


def _placed(places: Sequence[tuple[float, bool]], texts: Sequence[str]) -> Iterator[tuple[str, float, bool]]:
    for (x, right), text in zip(places, texts, strict=True):
        yield text, x, right
