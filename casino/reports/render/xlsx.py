"""XLSX with numeric cells, in constant memory: a sheet for each section, and one with head, sums and equalities.

Text is written as text and never as a formula. The same rows give the same bytes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import xlsxwriter
from django.utils.translation import gettext

from casino.reports.frame.columns import MILLION, NUMBERS, Column, Row, Sums, Type
from casino.reports.frame.head import Head, utc
from casino.reports.frame.report import Equality, Section, broken
from casino.reports.render.base import group_rows
from casino.reports.render.csv import names
from casino.reports.render.style import Style
from casino.reports.render.xlsx_lines import Cells, LinesSheet

#: Rows of a sheet, of which the first has the names; the next rows go to another sheet.
MOST_ROWS = 1_048_576
#: Characters of a sheet's name.
_MOST_NAME = 31


class XlsxWriter:
    """Writes `REPORT.xlsx`."""

    def __init__(self, folder: Path, head: Head, style: Style) -> None:
        self.head, self.style = head, style
        self.path = folder / f"{head.report.id}.xlsx"
        self._book = xlsxwriter.Workbook(
            str(self.path),
            {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "tmpdir": str(folder)},
        )
        # The moment it is as of, so that the same report has the same bytes.
        self._book.set_properties({"title": head.report.title, "created": head.as_of.at.replace(tzinfo=None)})
        decimals = "0" * style.exponent
        self._formats = {
            Type.MONEY: self._book.add_format({"num_format": f"#,##0{'.' + decimals if decimals else ''}"}),
            Type.SHARE: self._book.add_format({"num_format": "0.00%"}),
            None: self._book.add_format({"bold": True}),
        }
        self._front = self._book.add_worksheet(gettext("Report"))
        self._front_lines: list[list[Any]] = [[label, words] for label, words in head.lines()]

    def section(self, section: Section) -> None:
        """Begin a sheet."""
        self._section, self._sheet_count = section, 0
        self._next_sheet()

    def rows(self, rows: Sequence[Row]) -> None:
        """Write some rows; a full sheet is followed by another one."""
        for row in rows:
            if self._at == MOST_ROWS:
                self._next_sheet()
            self._sheet.line(self._at, row)
            self._at += 1

    def end_section(self, sums: Sums) -> None:
        """Keep the sums for the first sheet."""
        section, lines = self._section, self._front_lines
        lines += [[], [section.title], [gettext("rows"), sums.row_count]]
        by_name = {column.name: column for column in section.columns}
        lines += [[by_name[name].title, self._number(by_name[name].type, total)] for name, total in sums.totals.items()]
        group_by = self.head.group_by
        if group_by is not None and group_by in section.sums_by():
            summed, rows = group_rows(section, sums, group_by)
            lines.append([group_by, *summed])
            lines += [
                ["" if row[0] is None else str(row[0]), *(
                    self._number(by_name[name].type, value) if name in by_name else value
                    for name, value in zip(summed, row[1:], strict=True)
                )]
                for row in rows
            ]  # fmt: skip

    def finish(self, equalities: Sequence[Equality]) -> list[Path]:
        """Write the first sheet, and the file."""
        lines = [
            *([[words]] if (words := broken(equalities)) else []),
            *self._front_lines,
            [],
            [gettext("What must be equal")],
        ]
        lines += [
            [
                one.said(), self._number(one.type, one.one), self._number(one.type, one.other), self._unit(one.type),
                gettext("holds") if one.holds else gettext("DIFFERS"),
            ]
            for one in equalities
        ]  # fmt: skip
        self._front.set_column(0, 0, 48)
        for at, line in enumerate(lines):
            for cell, value in enumerate(line):
                if isinstance(value, str):
                    self._front.write_string(at, cell, value)
                else:
                    self._front.write_number(at, cell, value)
        self._book.close()
        return [self.path]

    def abandon(self) -> None:
        """Close the temporary files of the sheets, which only writing the book does."""
        self._book.close()

    def _next_sheet(self) -> None:
        self._sheet_count += 1
        more = "" if self._sheet_count == 1 else f" ({self._sheet_count})"
        name = self._section.name[: _MOST_NAME - len(more)] + more
        self._sheet = self._book.add_worksheet(name, worksheet_class=LinesSheet)
        self._sheet.freeze_panes(1, 0)
        cell = 0
        for column in self._section.columns:
            for name in names(column):
                self._sheet.write_string(0, cell, name, self._formats[None])
                cell += 1
        self._at = 1
        self._sheet.begin_lines(list(self._cells()))

    def _cells(self) -> Iterator[Cells]:
        """What writes the values of each column of the section; of money and times two cells."""
        at = 0
        for column in self._section.columns:
            yield self._cells_of(column, at)
            at += len(names(column))

    def _cells_of(self, column: Column, at: int) -> Cells:
        sheet, local = self._sheet, self.style.local
        if column.type is Type.TIME:
            return lambda row, value: sheet.text(row, at, utc(value)) + sheet.text(row, at + 1, local(value))
        if column.type is Type.FLAG:
            return lambda row, value: sheet.flag(row, at, value)
        if column.type not in NUMBERS:
            return lambda row, value: sheet.text(row, at, str(value))
        shape = self._formats.get(column.type)
        if column.type is Type.MONEY:
            return lambda row, value: (
                sheet.number(row, at, self._number(column.type, value), shape) + sheet.number(row, at + 1, value, None)
            )
        return lambda row, value: sheet.number(row, at, self._number(column.type, value), shape)

    def _unit(self, kind: Type) -> str:
        """What a sum is in; empty for a count."""
        if kind is Type.MONEY:
            return self.head.currency
        return gettext("pcs") if kind is Type.PIECES else ""

    def _number(self, kind: Type, value: Any) -> Any:
        """The number of a cell. A cell of a spreadsheet is a binary floating-point number whatever is written; the
        column of minor units beside it is exact."""
        if kind is Type.MONEY and self.style.exponent:
            return value / 10**self.style.exponent
        if kind is Type.DECIMAL:
            return value / MILLION
        return value / 10_000 if kind is Type.SHARE else value
