"""Columns of reports and the values in them.

Money is integer minor units of the house's currency, chips are pieces, a share is integer hundredths of a percent, any
other decimal number integer millionths: no value of a report is ever a float.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from types import NoneType

#: What a cell holds: None is an empty one.
Value = int | str | bool | datetime | None
Row = Sequence[Value]


class Type(StrEnum):
    """What a column holds, from which follow how it is written, aligned and summed."""

    #: Minor units of the house's currency.
    MONEY = "money"
    #: Chips.
    PIECES = "pieces"
    #: Any other whole number.
    COUNT = "count"
    #: Hundredths of a percent.
    SHARE = "share"
    #: Millionths of one: rates, averages, statistics.
    DECIMAL = "decimal"
    TEXT = "text"
    #: The name of something that can be looked up: a hand, a drawer, a login.
    REF = "ref"
    #: A moment with its zone.
    TIME = "time"
    #: A gaming day, as `2026-11-24`.
    DAY = "day"
    FLAG = "flag"


#: Types whose values are integers.
NUMBERS = frozenset({Type.MONEY, Type.PIECES, Type.COUNT, Type.SHARE, Type.DECIMAL})
#: Of a column of `Type.DECIMAL`: how many of its units are one.
MILLION = 1_000_000
_CLASSES: Mapping[Type, type] = {Type.TIME: datetime, Type.FLAG: bool} | dict.fromkeys(NUMBERS, int)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name in files and answers, its title for people, what it holds, whether it is summed."""

    name: str
    title: str
    type: Type
    total: bool = False
    #: Its texts are codes of the house, which are printed in the language of the report.
    coded: bool = False

    def __post_init__(self) -> None:
        if self.total and self.type not in NUMBERS - {Type.SHARE, Type.DECIMAL}:
            raise ValueError(f"a column of {self.type} has no total")

    def accepts(self, value: Value) -> bool:
        """Whether a value is one of this column."""
        if value is None:
            return True
        if self.type in NUMBERS:
            return type(value) is int
        return isinstance(value, _CLASSES.get(self.type, str))


def money(name: str, title: str, *, total: bool = True) -> Column:
    """A column of minor units."""
    return Column(name, title, Type.MONEY, total)


def pieces(name: str, title: str, *, total: bool = True) -> Column:
    """A column of chips."""
    return Column(name, title, Type.PIECES, total)


def count(name: str, title: str, *, total: bool = True) -> Column:
    """A column of whole numbers."""
    return Column(name, title, Type.COUNT, total)


def decimal(name: str, title: str) -> Column:
    """A column of millionths."""
    return Column(name, title, Type.DECIMAL)


def flag(name: str, title: str) -> Column:
    """A column of yes and no."""
    return Column(name, title, Type.FLAG)


def day(name: str, title: str) -> Column:
    """A column of gaming days."""
    return Column(name, title, Type.DAY)


def ref(name: str, title: str) -> Column:
    """A column of names."""
    return Column(name, title, Type.REF)


def text(name: str, title: str) -> Column:
    """A column of words."""
    return Column(name, title, Type.TEXT)


def coded(name: str, title: str) -> Column:
    """A column of codes, such as states."""
    return Column(name, title, Type.TEXT, coded=True)


def time(name: str, title: str) -> Column:
    """A column of moments."""
    return Column(name, title, Type.TIME)


def millionths(value: float | Fraction) -> int:
    """A number as a column of `Type.DECIMAL` has it, rounded to the nearest one."""
    return round(value * MILLION)


def ratio(one: int, other: int, digits: int = 3) -> int | None:
    """One number by another as a column of `Type.DECIMAL` has it, rounded to so many digits; None by nothing."""
    return None if other == 0 else millionths(round(Fraction(one, other), digits))


def share(part: int, whole: int) -> int | None:
    """A part of a whole in hundredths of a percent; None of nothing."""
    return None if whole == 0 else round(Fraction(part * 10_000, whole))


#: The column of gaming days, and spans of days by which the rows of a section with it can be summed too.
DAY, WEEK, MONTH = "day", text("week", "Week"), text("month", "Month")
SPANS = {WEEK.name: WEEK, MONTH.name: MONTH}


def week(day: str) -> str:
    """The week of a gaming day by ISO 8601, `2026-W48`."""
    year, number, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{number:02}"


def _span(group_by: str | None, value: Value) -> Value:
    """The group of a row: the value of the column, or the week or month of its day."""
    if not isinstance(value, str) or group_by not in SPANS:
        return value
    return week(value) if group_by == WEEK.name else value[:7]


class Sums:
    """The totals of a section as its rows go by, over all of them and by the value of one column, or a span of days."""

    def __init__(self, columns: Sequence[Column], group_by: str | None = None) -> None:
        self.columns = columns
        self.row_count = 0
        self.totals = {column.name: 0 for column in columns if column.total}
        self.groups: dict[Value, dict[str, int]] = {}
        self._summed = [(at, column.name) for at, column in enumerate(columns) if column.total]
        #: The classes of almost all values; another one is asked of its column.
        self._usual = [frozenset((_CLASSES.get(column.type, str), NoneType)) for column in columns]
        self._group_by = group_by
        by = DAY if group_by in SPANS else group_by
        self._key = next((at for at, column in enumerate(columns) if column.name == by), None)

    def _require(self, row: Row) -> None:
        for column, value in zip(self.columns, row, strict=True):
            if not column.accepts(value):
                raise TypeError(f"{value!r} is no {column.type} of {column.name}")

    def add(self, row: Row) -> None:
        """Count a row. Raises TypeError for a value that its column does not hold."""
        self.add_all([row])

    def add_all(self, rows: Sequence[Row]) -> None:
        """Count some rows, column by column: that takes a third of the time of row by row. Raises as `add`."""
        for row in rows:
            if len(row) != len(self.columns):
                raise TypeError(f"{len(row)} values for {len(self.columns)} columns")
        columns = list(zip(*rows, strict=True))
        for usual, values in zip(self._usual, columns, strict=True):
            if not usual.issuperset(map(type, values)):
                for row in rows:
                    self._require(row)
        self.row_count += len(rows)
        for at, name in self._summed:
            self.totals[name] += sum(value for value in columns[at] if value is not None)
        if self._key is not None:
            self._group(self._key, rows)

    def _group(self, key: int, rows: Iterable[Row]) -> None:
        """Add rows to the groups that they are of."""
        for row in rows:
            group = self.groups.setdefault(
                _span(self._group_by, row[key]), {"row_count": 0} | dict.fromkeys(self.totals, 0)
            )
            group["row_count"] += 1
            _add(group, row, self._summed)


def _add(sums: dict[str, int], row: Row, summed: Iterable[tuple[int, str]]) -> None:
    for at, name in summed:
        value = row[at]
        if value is not None:
            sums[name] += int(value)  # type: ignore[arg-type]


def major(amount: int, exponent: int, decimal: str = ".") -> str:
    """An amount of minor units in major ones, `-1234.50`."""
    sign, digits = ("-" if amount < 0 else ""), str(abs(amount)).rjust(exponent + 1, "0")
    return f"{sign}{digits}" if exponent == 0 else f"{sign}{digits[:-exponent]}{decimal}{digits[-exponent:]}"


def grouped(number: str, separator: str = " ") -> str:
    """A number as people read it, its whole part in groups of three digits."""
    sign, whole = ("-", number[1:]) if number.startswith("-") else ("", number)
    digits = len(whole) - len(whole.lstrip("0123456789"))
    parts, rest = [], whole[:digits]
    while len(rest) > 3:
        parts.append(rest[-3:])
        rest = rest[:-3]
    return sign + separator.join([rest, *reversed(parts)]) + whole[digits:]
