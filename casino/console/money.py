"""Amounts and times as people read them and type them: minor units and UTC in the books, the house's decimals and zone,
and the reader's decimal mark and order of dates, on the screen."""

import re
from dataclasses import dataclass
from datetime import datetime

from casino.core.languages import decimal_mark, local

MINUS = "\N{MINUS SIGN}"
#: What groups thousands: it breaks no line, and no language reads it as decimals.
GROUP = "\N{NARROW NO-BREAK SPACE}"
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|\+00:00)\Z", re.ASCII)
_TYPED = re.compile(r"([0-9]+)(?:[.,]([0-9]+))?\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Money:
    """How a house writes amounts and times: its currency (ISO 4217), of which 10 ** `exponent` minor units make one
    unit, and its time zone (IANA)."""

    currency: str
    exponent: int
    zone: str = "UTC"

    def moment(self, text: str) -> str:
        """A time of an answer (ISO 8601, UTC) by the house's clocks, to the second; any other text as it is."""
        if not _MOMENT.match(text):
            return text
        return local(datetime.fromisoformat(text), self.zone)

    def shown(self, amount: int) -> str:
        """An amount of minor units, with the house's decimals and thousands in groups."""
        units, rest = divmod(abs(amount), 10**self.exponent)
        decimals = f"{decimal_mark()}{rest:0{self.exponent}d}" if self.exponent else ""
        return f"{MINUS if amount < 0 else ''}{units:,}".replace(",", GROUP) + decimals

    def typable(self, amount: int) -> str:
        """An amount of minor units as a person would type it: `typed` reads it back."""
        units, rest = divmod(amount, 10**self.exponent)
        return f"{units}{decimal_mark()}{rest:0{self.exponent}d}" if self.exponent else str(units)

    def typed(self, text: str) -> int:
        """Minor units of an amount that a person has typed. Raises ValueError for what is no amount, or has more
        decimals than the currency."""
        plain = re.sub(r"[\s\u00a0\u202f]", "", text)
        found = _TYPED.match(plain)
        if found is None or len(found[2] or "") > self.exponent:
            raise ValueError(f"{text!r} is no amount with {self.exponent} decimals at most")
        whole: int = 10**self.exponent
        return int(found[1]) * whole + int((found[2] or "").ljust(self.exponent, "0") or 0)
