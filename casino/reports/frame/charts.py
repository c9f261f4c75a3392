"""Charts of reports as data: which rows of a section are drawn, and the points that they come to as they go by.

A point sums the rows that have the same value of one column. Values stay whole numbers in the units of their columns.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from casino.reports.frame.columns import MILLION, Column, Row, Type, Value

#: Points of a chart; of more, those with the highest values of x are drawn: the newest days.
MOST_POINTS = 366


class ChartKind(StrEnum):
    """How points are drawn."""

    LINES = "lines"
    BARS = "bars"


@dataclass(frozen=True, slots=True)
class Series:
    """What is drawn of a point: the sum of a column, or `times` that by the sum of another one, as a `decimal`."""

    title: str
    column: str
    per: str | None = None
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One chart of a report: `section` and `x` name a section and the column along which its rows are summed. `where`:
    only rows with this value of a column. `running`: each point is added to those before it. `in_order`: points come as
    their first rows do, else by the values of x."""

    name: str
    title: str
    text: str
    section: str
    kind: ChartKind
    x: str
    series: tuple[Series, ...]
    where: tuple[str, Value] | None = None
    running: bool = False
    in_order: bool = False


class Plot:
    """The points of a chart, of a section with these columns. Raises KeyError for a column that there is not."""

    def __init__(self, chart: Chart, columns: tuple[Column, ...]) -> None:
        self.chart = chart
        at = {column.name: place for place, column in enumerate(columns)}
        self.x = columns[at[chart.x]]
        self.types = [columns[at[one.column]].type if one.per is None else Type.DECIMAL for one in chart.series]
        self._x = at[chart.x]
        self._sides = [(at[one.column], None if one.per is None else at[one.per]) for one in chart.series]
        self._where = None if chart.where is None else (at[chart.where[0]], chart.where[1])
        self._sums: dict[Value, list[list[int]]] = {}

    def add_all(self, rows: Iterable[Row]) -> None:
        """Take up rows of the section."""
        for row in rows:
            self._add(row)

    def _add(self, row: Row) -> None:
        key = row[self._x]
        if key is None or (self._where is not None and row[self._where[0]] != self._where[1]):
            return
        sums = self._sums.setdefault(key, [[0, 0] for _ in self._sides])
        for one, (value, per) in zip(sums, self._sides, strict=True):
            one[0] += _number(row[value])
            one[1] += 0 if per is None else _number(row[per])
        if not self.chart.in_order and not self.chart.running and len(self._sums) > 2 * MOST_POINTS:
            for old in self._keys()[:-MOST_POINTS]:
                del self._sums[old]

    def _keys(self) -> list[Value]:
        if self.chart.in_order:
            return list(self._sums)
        return sorted(self._sums, key=lambda key: (0, key, "") if isinstance(key, int) else (1, 0, str(key)))

    def points(self) -> list[tuple[Value, list[int | None]]]:
        """The values of x with those of each series, in the units of `types`; None where there is nothing to divide
        by."""
        found: list[tuple[Value, list[int | None]]] = []
        before = [0] * len(self._sides)
        for key in self._keys():
            values = [
                self._value(place, value, per) for place, (value, per) in enumerate(self._sums[key])
            ]  # fmt: skip
            if self.chart.running:
                before = [total + (value or 0) for total, value in zip(before, values, strict=True)]
                values = list(before)
            found.append((key, values))
        return found[:MOST_POINTS] if self.chart.in_order else found[-MOST_POINTS:]

    def _value(self, place: int, value: int, per: int) -> int | None:
        series = self.chart.series[place]
        if series.per is None:
            return value * series.times
        return round(Fraction(value * series.times * MILLION, per)) if per else None

    def as_json(self) -> dict[str, Any]:
        """As files have it."""
        chart, points = self.chart, self.points()
        return {
            "chart": chart.name,
            "title": chart.title,
            "text": chart.text,
            "section": chart.section,
            "kind": str(chart.kind),
            "x": {"name": self.x.name, "title": self.x.title, "type": str(self.x.type)},
            "points": [key for key, _ in points],
            "series": [
                {"title": one.title, "type": str(kind), "values": [values[place] for _, values in points]}
                for place, (one, kind) in enumerate(zip(chart.series, self.types, strict=True))
            ],
        }


def _number(value: Value) -> int:
    return int(value) if isinstance(value, int) else 0
