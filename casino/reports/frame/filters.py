"""Filters that many reports have, and what they let in."""

from dataclasses import dataclass

from casino.reports.frame.report import Filter, FilterKind, Scope

FROM_DAY = Filter("from", FilterKind.DAY, "The first gaming day; without it from the founding.")
UNTIL_DAY = Filter("until", FilterKind.DAY, "The last gaming day; without it up to the moment of the report.")
TABLE = Filter("table", FilterKind.CODE, "Only this table.")
DRAWER = Filter("drawer", FilterKind.CODE, "Only this drawer.")
PLACE = Filter("place", FilterKind.CODE, "Only this table, drawer, vault or bank.")
AREA = Filter("area", FilterKind.CODE, "Only tables of this area.")
GAME = Filter("game", FilterKind.CODE, "Only this game.")
DEALER = Filter("dealer", FilterKind.PERSON, "Only hands that this person has dealt.")
PERSON = Filter("person", FilterKind.PERSON, "Only what this person has done.")
ENTRY_KIND = Filter("kind", FilterKind.CODE, "Only entries of this kind, `cage.buy_in`.")
LEAST = Filter("least", FilterKind.AMOUNT, "Only entries of at least this, above zero or below, minor units.")
#: Filters that leave entries out one by one, whatever else is shown.
OF_ENTRIES = frozenset((ENTRY_KIND.name, LEAST.name))
DAYS = (FROM_DAY, UNTIL_DAY)


def takes_entry(scope: Scope, kind: str, *amounts: int) -> bool:
    """Whether a run shows an entry of this kind that moved these amounts, minor units; one of which none is named is
    shown whatever it came to."""
    large = not amounts or is_large(scope, max(map(abs, amounts)))
    return scope.filters.get(ENTRY_KIND.name) in (None, kind) and large


def is_large(scope: Scope, amount: int | None) -> bool:
    """Whether an amount, minor units, is as large as a run asks for; what has none is only where it asks for none."""
    least = scope.filters.get(LEAST.name)
    return least is None or (amount is not None and abs(amount) >= int(least))


@dataclass(frozen=True, slots=True)
class DayRange:
    """Gaming days from one to another, both with it; None is no bound. What was booked without a day is before all of
    them."""

    first: str | None
    last: str | None

    @classmethod
    def of(cls, scope: Scope) -> "DayRange":
        """What a run has asked for."""
        return cls(scope.filters.get("from"), scope.filters.get("until"))

    def takes(self, day: str) -> bool:
        """Whether a day lies in it."""
        return (self.first is None or day >= self.first) and (self.last is None or day <= self.last)

    def is_before(self, day: str) -> bool:
        """Whether a day is earlier than the first one."""
        return self.first is not None and day < self.first


#: All days, and what was booked without one.
EVER = DayRange(None, None)
