"""How a file is written: separator, decimal mark, time zone."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from django.utils.translation import gettext

from casino.core import languages
from casino.reports.frame.columns import Column, Type, Value, grouped, major
from casino.reports.frame.report import Equality

#: Separators and decimal marks that may be chosen.
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
DECIMALS = {"point": ".", "comma": ","}
#: Where a cell may begin, in a file that is opened with whatever separator, and goes on as a formula would, after
#: quotes and blanks, which a reader may take away.
_FORMULA = re.compile(r"""(^|[,;\t\r\n])(?=["\s]*[=+\-@|%]|[\t\r\n])""")
#: Most texts: one cell, whatever the separator, that begins with nothing of this.
_HARMLESS = re.compile(r"""[^"\s=+\-@|%,;][^,;\t\r\n]*""")
#: Lines of them: of a text of several lines each begins as harmless.
_ALL_HARMLESS = re.compile(rf"(?:{_HARMLESS.pattern}(?:\n|\Z))*")


def style_of(language: str, separator: str | None, decimal: str | None) -> dict[str, str]:
    """How a run writes its files: what is not chosen follows from the language, and from the decimal mark."""
    decimal = decimal or ("point" if language == languages.ENGLISH else "comma")
    return {
        "separator": separator or ("comma" if decimal == "point" else "semicolon"), "decimal": decimal,
        "language": language,
    }  # fmt: skip


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

    @classmethod
    def of(cls, chosen: Mapping[str, str], *, exponent: int, zone: str) -> Self:
        """The style of what was chosen (:func:`style_of`), which names separator and decimal mark."""
        separator, decimal = SEPARATORS[chosen["separator"]], DECIMALS[chosen["decimal"]]
        return cls(exponent=exponent, zone=zone, separator=separator, decimal=decimal)

    def local(self, moment: datetime) -> str:
        """A moment in the house's time zone, in every language `2026-11-24 21:05:09`."""
        return languages.local(moment, self.zone, languages.ENGLISH)

    def amount(self, value: int) -> str:
        """Minor units as major ones."""
        return major(value, self.exponent, self.decimal)

    def share(self, value: int) -> str:
        """Hundredths of a percent as percent."""
        return major(value, 2, self.decimal)

    def decimals(self, value: int) -> str:
        """Millionths as a number without zeros at its end."""
        whole, _, part = major(value, 6).partition(".")
        rest = part.rstrip("0")
        return f"{whole}{self.decimal}{rest}" if rest else whole

    def printed(self, column: Column, value: Value) -> str:
        """A value as it is printed for people, in the language that is spoken."""
        if value is None:
            return ""
        if isinstance(value, datetime):
            return languages.local(value, self.zone)
        if isinstance(value, bool):
            return gettext("yes") if value else gettext("no")
        if isinstance(value, int):
            if column.type is Type.MONEY:
                return grouped(self.amount(value))
            if column.type is Type.DECIMAL:
                return grouped(self.decimals(value))
            return f"{self.share(value)} %" if column.type is Type.SHARE else grouped(str(value))
        if column.type is Type.DAY:
            return languages.day(value)
        return languages.word(value) if column.coded else value

    def compared(self, equality: Equality, currency: str) -> str:
        """The two sums of an equality: money in major units with the currency, chips as pieces."""
        one, other = (self._sum(value, equality.type, currency) for value in (equality.one, equality.other))
        return f"{one} {'=' if equality.holds else '<>'} {other}"

    def _sum(self, value: int, kind: Type, currency: str) -> str:
        if kind is Type.MONEY:
            return f"{grouped(self.amount(value))} {currency}"
        number = grouped(str(value))
        return gettext("%(count)s pcs") % {"count": number} if kind is Type.PIECES else number


def thousands(number: int) -> str:
    """A whole number with its thousands apart: by commas in English, else by spaces."""
    return f"{number:,}" if languages.spoken() == languages.ENGLISH else grouped(str(number))


def harmless(text: str) -> str:
    """A text of which no spreadsheet takes any part for a formula, also one that reads the file with another separator
    than it was written with: there is an apostrophe before what would be one. Numbers are written as numbers and never
    come here, so that a negative one stays what it is."""
    return text if _HARMLESS.fullmatch(text) else _FORMULA.sub(r"\1'", text)


def are_harmless(texts: Iterable[str]) -> bool:
    """Whether `harmless` leaves all of these texts, none of them empty, as they are; false where it takes a look at
    each to know."""
    return _ALL_HARMLESS.fullmatch("\n".join(texts)) is not None
