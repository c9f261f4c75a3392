"""CSV (RFC 4180) in UTF-8: one file for each section, and one more for its sums by group.

A column of money is two: major units, and `NAME_minor`. One of times is two: UTC, and `NAME_local` in the house's zone.
"""

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from casino.reports.frame.columns import Column, Row, Sums, Type
from casino.reports.frame.head import Head, utc
from casino.reports.frame.report import Equality, Section
from casino.reports.render.base import group_rows
from casino.reports.render.style import Style, are_harmless, harmless

#: The values of a column, and its cells in one CSV column or two, in the same order.
_Values = Sequence[Any]
_Cells = Callable[[_Values], Sequence[_Values]]


class CsvWriter:
    """Writes `REPORT-SECTION.csv` and `REPORT-SECTION-by-COLUMN.csv`."""

    def __init__(self, folder: Path, head: Head, style: Style) -> None:
        self.folder, self.head, self.style = folder, head, style
        self.files: list[Path] = []
        self._open: TextIO | None = None

    def section(self, section: Section) -> None:
        """Begin a file with the names of its columns."""
        self._section = section
        self._open = opened = self._create(section.name)
        self._lines = self._writer(opened)
        self._lines.writerow(name for column in section.columns for name in names(column))
        self._cells = [_cells(column, self.style) for column in section.columns]

    def rows(self, rows: Sequence[Row]) -> None:
        """Write some lines, made column by column."""
        self._lines.writerows(_lines(self._cells, rows))

    def end_section(self, sums: Sums) -> None:
        """End the file, and write the sums by group."""
        self.abandon()
        group_by = self.head.group_by
        if group_by is None or group_by not in self._section.sums_by():
            return
        summed, rows = group_rows(self._section, sums, group_by)
        by_name = {column.name: column for column in self._section.columns}
        columns = [
            self._section.group_column(group_by),
            *(by_name.get(name, Column(name, name, Type.COUNT)) for name in summed),
        ]
        cells = [_cells(column, self.style) for column in columns]
        with self._create(f"{self._section.name}-by-{group_by}") as file:
            writer = self._writer(file)
            writer.writerow(name for column in columns for name in names(column))
            writer.writerows(_lines(cells, rows))

    def finish(self, equalities: Sequence[Equality]) -> list[Path]:
        """The files; equalities are in the manifest."""
        return self.files

    def abandon(self) -> None:
        """Close the file of the section, if there is one."""
        if self._open is not None:
            self._open.close()

    def _create(self, name: str) -> TextIO:
        path = self.folder / f"{self.head.report.id}-{name}.csv"
        self.files.append(path)
        return path.open("w", encoding="utf-8", newline="")

    def _writer(self, file: TextIO) -> Any:
        return csv.writer(file, delimiter=self.style.separator, lineterminator="\r\n")


def names(column: Column) -> list[str]:
    """The names of the CSV columns of a column."""
    if column.type is Type.MONEY:
        return [column.name, f"{column.name}_minor"]
    return [column.name, f"{column.name}_local"] if column.type is Type.TIME else [column.name]


def _lines(columns: Sequence[_Cells], rows: Sequence[_Values]) -> Iterable[_Values]:
    """The lines of rows."""
    written = (cells for one, values in zip(columns, zip(*rows, strict=True), strict=True) for cells in one(values))
    return zip(*written, strict=True) if rows else ()


def _cells(column: Column, style: Style) -> _Cells:
    """What writes values of a column."""
    if column.type is Type.MONEY:
        return lambda values: (_written(values, style.amount), values)
    if column.type is Type.TIME:
        return lambda values: (_written(values, utc), _written(values, style.local))
    if column.type is Type.SHARE:
        return lambda values: (_written(values, style.share),)
    if column.type is Type.DECIMAL:
        return lambda values: (_written(values, style.decimals),)
    if column.type in (Type.PIECES, Type.COUNT):
        return lambda values: (values,)
    if column.type is Type.FLAG:
        return lambda values: (_written(values, lambda value: "true" if value else "false"),)
    return lambda values: (_texts(values),)


def _written(values: _Values, write: Callable[[Any], str]) -> _Values:
    """What is written of each value, which is done once for values that are the same; nothing for None."""
    written = {value: None if value is None else write(value) for value in set(values)}
    return [written[value] for value in values]


def _texts(values: _Values) -> _Values:
    """The texts; where one of them is not harmless as it is, each as it is written."""
    return values if are_harmless({value for value in set(values) if value}) else _written(values, harmless)
