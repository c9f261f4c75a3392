"""Slips of 80 mm for printers at tables and cages: one column of labels and values, as long as it needs to be."""

from collections.abc import Sequence
from pathlib import Path

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from casino.reports.frame.columns import Row, Sums
from casino.reports.frame.head import Head
from casino.reports.frame.report import Equality, Section
from casino.reports.render.page import BOLD, REGULAR, draw_qr, register_fonts, width, wrapped
from casino.reports.render.style import Style

_WIDTH, _MARGIN, _SIZE, _LEADING, _QR = 80 * mm, 4 * mm, 7.5, 10.0, 30 * mm
#: Rows above which a slip has the sums only: nobody reads a slip of metres.
MOST_ROWS = 200


class SlipWriter:
    """Writes `REPORT-slip.pdf`."""

    def __init__(self, folder: Path, head: Head, style: Style) -> None:
        self.head, self.style = head, style
        self.path = folder / f"{head.report.id}-slip.pdf"
        #: Label, value, whether in bold.
        self._lines: list[tuple[str, str, bool]] = []
        self._row_count = 0

    def section(self, section: Section) -> None:
        """Begin a section."""
        self._section = section
        self._lines.append((section.title, "", True))

    def row(self, row: Row) -> None:
        """Keep a row: its columns with their titles."""
        self._row_count += 1
        if self._row_count > MOST_ROWS:
            return
        for at, (column, value) in enumerate(zip(self._section.columns, row, strict=True)):
            if value is not None:
                self._lines.append((column.title, self.style.printed(column, value), at == 0))

    def end_section(self, sums: Sums) -> None:
        """Keep the sums."""
        self._lines.append(("Rows", f"{sums.row_count:,}", True))
        by_name = {column.name: column for column in self._section.columns}
        for name, total in sums.totals.items():
            self._lines.append((f"Sum: {by_name[name].title}", self.style.printed(by_name[name], total), True))

    def finish(self, equalities: Sequence[Equality]) -> list[Path]:
        """Draw the slip."""
        register_fonts()
        lines = [*((label, words, False) for label, words in self.head.lines()), *self._lines]
        lines += [
            (one.words, "holds" if one.holds else f"{one.one:,} <> {one.other:,}", not one.holds) for one in equalities
        ]
        laid = [part for line in lines for part in self._laid(*line)]
        height = 2 * _MARGIN + 20 + _LEADING * len(laid) + _QR + 20
        canvas = Canvas(str(self.path), pagesize=(_WIDTH, height), invariant=1, pageCompression=1)
        canvas.setTitle(f"{self.head.report.number} {self.head.report.title}")
        y = height - _MARGIN - 10
        for part in wrapped(self.head.report.title, BOLD, 10, _WIDTH - 2 * _MARGIN)[:2]:
            canvas.setFont(BOLD, 10)
            canvas.drawString(_MARGIN, y, part)
            y -= 12
        for label, value, font in laid:
            canvas.setFont(font, _SIZE)
            canvas.drawString(_MARGIN, y, label)
            canvas.drawRightString(_WIDTH - _MARGIN, y, value)
            y -= _LEADING
        proof = f"cukassza:{self.head.house}:{self.head.report.id}:{self.head.as_of.transaction}"
        draw_qr(canvas, proof, (_WIDTH - _QR) / 2, y - _QR, _QR)
        canvas.showPage()
        canvas.save()
        return [self.path]

    def abandon(self) -> None:
        """Nothing was opened."""

    def _laid(self, label: str, value: str, bold: bool) -> list[tuple[str, str, str]]:
        """A line on one line of the slip, or on several where it is too long for one: label, value, font."""
        font, room = (BOLD if bold else REGULAR), _WIDTH - 2 * _MARGIN
        if width(f"{label}  {value}", font, _SIZE) <= room:
            return [(label, value, font)]
        labels = [(part, "", font) for part in wrapped(label, font, _SIZE, room)]
        return labels + [("", part, font) for part in wrapped(value, font, _SIZE, room)]
