"""JSON: one object with head, sections and equalities, written as the rows go by. Amounts are minor units."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from casino.reports.frame.charts import Plot
from casino.reports.frame.columns import Row, Sums
from casino.reports.frame.head import Head, utc
from casino.reports.frame.report import Equality, Section, broken
from casino.reports.render.base import group_rows


class JsonWriter:
    """Writes `REPORT.json`."""

    def __init__(self, folder: Path, head: Head) -> None:
        self.head = head
        self.path = folder / f"{head.report.id}.json"
        self._file = self.path.open("w", encoding="utf-8")
        self._file.write(f'{{"head":{_text(head.as_json())},\n"sections":[')
        self._first_section = True
        self._plots: Sequence[Plot] = ()

    def section(self, section: Section) -> None:
        """Begin a section with its columns."""
        self._section, self._first_row = section, True
        columns = [{"name": column.name, "title": column.title, "type": str(column.type)} for column in section.columns]
        begin = "\n" if self._first_section else ",\n"
        self._first_section = False
        self._file.write(
            f'{begin}{{"section":{_text(section.name)},"title":{_text(section.title)},'
            f'"columns":{_text(columns)},"rows":['
        )

    def rows(self, rows: Sequence[Row]) -> None:
        """Write each row as a list of values."""
        self._file.write(("\n" if self._first_row else ",\n") + ",\n".join([_text(list(row)) for row in rows]))
        self._first_row = False

    def end_section(self, sums: Sums) -> None:
        """End the section with its sums."""
        end: dict[str, Any] = {"row_count": sums.row_count, "totals": sums.totals}
        group_by = self.head.group_by
        if group_by is not None and group_by in self._section.sums_by():
            summed, rows = group_rows(self._section, sums, group_by)
            end["groups"] = {"columns": [group_by, *summed], "rows": rows}
        self._file.write("],\n" + _text(end)[1:])

    def charts(self, plots: Sequence[Plot]) -> None:
        """Keep the charts."""
        self._plots = plots

    def finish(self, equalities: Sequence[Equality]) -> list[Path]:
        """End the object."""
        if self._plots:
            self._file.write(f'],\n"charts":{_text([plot.as_json() for plot in self._plots])[:-1]}')
        said = [one.as_json() | {"equality": one.said()} for one in equalities]
        self._file.write(f'],\n"equalities":{_text(said)},')
        self._file.write(f'"reconciles":{_text(not broken(equalities))}}}\n')
        self._file.close()
        return [self.path]

    def abandon(self) -> None:
        """Close the file."""
        self._file.close()


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return utc(value)
    raise TypeError(f"{value!r} is no value of a report")


#: Made once: `json.dumps` makes an encoder for each row.
_text = json.JSONEncoder(default=_plain, ensure_ascii=False, separators=(",", ":")).encode
