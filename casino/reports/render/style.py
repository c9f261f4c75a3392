"""How a file is written: separator, decimal mark, time zone."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from casino.reports.frame.columns import Column, Type, Value, grouped, major

#: Separators and decimal marks that may be chosen.
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
DECIMALS = {"point": ".", "comma": ","}
#: How a cell begins that a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """`separator` and `decimal` are the characters themselves, `exponent` the decimals of the currency."""

    exponent: int
    zone: str
    separator: str = ","
    decimal: str = "."

    def __post_init__(self) -> None:
        if self.separator == self.decimal:
            raise ValueError("separator and decimal mark must differ")

    def local(self, moment: datetime) -> str:
        """A moment in the house's time zone, `2026-11-24 21:05:09`."""
        return moment.astimezone(ZoneInfo(self.zone)).strftime("%Y-%m-%d %H:%M:%S")

    def amount(self, value: int) -> str:
        """Minor units as major ones."""
        return major(value, self.exponent, self.decimal)

    def share(self, value: int) -> str:
        """Hundredths of a percent as percent."""
        return major(value, 2, self.decimal)

    def printed(self, column: Column, value: Value) -> str:
        """A value as it is printed for people."""
        if value is None:
            return ""
        if isinstance(value, datetime):
            return self.local(value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int):
            if column.type is Type.MONEY:
                return grouped(self.amount(value))
            return f"{self.share(value)} %" if column.type is Type.SHARE else grouped(str(value))
        return value


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula: one that would be begins with an apostrophe. Numbers are written
    as numbers and never come here, so that a negative one stays what it is."""
    return f"'{text}" if text.startswith(_FORMULA) else text
