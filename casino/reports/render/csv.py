"""CSV (RFC 4180) in UTF-8: one file for each section, and one more for its sums by group.

A column of money is two: major units, and `NAME_minor`. One of times is two: UTC, and `NAME_local` in the house's zone.
"""

import csv
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from casino.reports.frame.columns import Column, Row, Sums, Type, Value
from casino.reports.frame.head import Head, utc
from casino.reports.frame.report import Equality, Section
from casino.reports.render.base import group_rows
from casino.reports.render.style import Style, harmless

#: Types whose values are one cell each, whatever the style: rows of such columns alone are written with less ado.
_ONE_CELL = frozenset({Type.PIECES, Type.COUNT, Type.TEXT, Type.REF, Type.DAY})


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
        self._rows = self._writer(opened)
        self._rows.writerow(name for column in section.columns for name in names(column))
        self._cells = [_cells(column, self.style) for column in section.columns]
        self._plain = all(column.type in _ONE_CELL for column in section.columns)

    def row(self, row: Row) -> None:
        """Write a line."""
        if self._plain:
            self._rows.writerow([_plain(value) for value in row])
            return
        self._rows.writerow([cell for cells, value in zip(self._cells, row, strict=True) for cell in cells(value)])

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
            writer.writerows(
                [cell for one, value in zip(cells, row, strict=True) for cell in one(value)] for row in rows
            )

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


def _cells(column: Column, style: Style) -> Callable[[Any], Sequence[Any]]:
    """What writes a value of a column."""
    if column.type is Type.MONEY:
        return lambda value: ("", "") if value is None else (style.amount(value), value)
    if column.type is Type.TIME:
        return lambda value: ("", "") if value is None else _moment(value, style)
    if column.type is Type.SHARE:
        return lambda value: ("",) if value is None else (style.share(value),)
    if column.type is Type.DECIMAL:
        return lambda value: ("",) if value is None else (style.decimals(value),)
    if column.type in (Type.PIECES, Type.COUNT):
        return lambda value: ("" if value is None else value,)
    if column.type is Type.FLAG:
        return lambda value: ("" if value is None else "true" if value else "false",)
    return _text


def _plain(value: Value) -> Any:
    """A value of a column of _ONE_CELL; the library writes nothing for None."""
    return harmless(value) if isinstance(value, str) else value


def _moment(value: datetime, style: Style) -> tuple[str, str]:
    return utc(value), style.local(value)


def _text(value: Value) -> tuple[str]:
    return ("" if value is None else harmless(str(value)),)
