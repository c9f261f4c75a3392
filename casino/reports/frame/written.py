"""What was written down about transactions, twice over: by the rows as they were at the moment of a report, and by the
events."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.reports.frame.movements import events
from casino.reports.frame.report import Scope
from casino.watching import lines, unknown
from casino.watching.euro import Rates
from casino.watching.models import Capacity, EuroRate, Filing, LogLine, UnknownPerson

_TRADES = ("cage.bearer_buy_in", "cage.bearer_cash_out")
_KINDS = ("unknown_person.opened", "unknown_person.identified", "log_line.entered", "log_line.withdrawn", *_TRADES)


@dataclass(frozen=True, slots=True)
class Line:
    """A line as the moment has it: by the row, and withdrawn only where the event of that is known. `who` is the
    player, or the unknown person's number after `#`, who may have turned out to be a player since."""

    row: LogLine
    who: str
    withdrawn: bool

    @property
    def amount(self) -> int:
        """Minor units; nothing where it was withdrawn."""
        return 0 if self.withdrawn else self.row.amount


@dataclass(slots=True)
class Said:
    """The same by the events: persons, with the player whom each turned out to be; lines, with their amounts; those
    that were withdrawn."""

    persons: dict[int, str]
    lines: dict[int, int]
    withdrawn: set[int]

    def amount(self, number: int) -> int:
        """Minor units of a line; nothing where it was withdrawn."""
        return 0 if number in self.withdrawn else self.lines.get(number, 0)


def said(scope: Scope) -> Said:
    """What the events say, up to the moment."""
    return scope.once("log of transactions", _said)


def _said(scope: Scope) -> Said:
    found = Said({}, {}, set())
    for _, _, _, doc in events(scope, _KINDS):
        kind, data = doc["kind"], doc["data"]
        if kind == "unknown_person.opened":
            found.persons[data["unknown_person"]] = ""
        elif kind == "unknown_person.identified":
            found.persons[data["unknown_person"]] = data["player"]
        elif kind == "log_line.withdrawn":
            found.withdrawn.add(data["line"])
        elif kind == "log_line.entered":
            found.lines[data["line"]] = data["amount"]
        elif "log_line" in data:
            found.lines[data["log_line"]] = data["amount"]
    return found


def persons(scope: Scope) -> Iterator[tuple[UnknownPerson, str, str]]:
    """Unknown persons that the moment knows, by number: each with the player whom it had turned out to be by then, and
    what was said. Raises SealedUnreadable, SealKeyWrong."""
    known = said(scope).persons
    rows = UnknownPerson.objects.filter(house=scope.house, number__in=known)
    for row in rows.select_related("player", "opened_by", "identified_by").order_by("number"):
        row.house = scope.house
        yield row, known[row.number], unknown.description_of(row)


def entered(scope: Scope) -> list[Line]:
    """Lines that the moment knows, by number."""
    return scope.once("lines of the log", _entered)


def _entered(scope: Scope) -> list[Line]:
    known = said(scope)
    rows = lines.with_trades(LogLine.objects.filter(house=scope.house, number__in=known.lines).order_by("number"))
    return [Line(row, _who(row, known), row.number in known.withdrawn) for row in rows]


def _who(row: LogLine, known: Said) -> str:
    if row.player is not None:
        return row.player.ref
    number = row.unknown_person.number if row.unknown_person is not None else 0
    return known.persons.get(number) or f"#{number}"


def by_transaction(scope: Scope, capacity: Capacity) -> dict[int, list[str]]:
    """Who was in each of the ledger's transactions in this capacity, by lines that count."""
    found: dict[int, list[str]] = {}
    for line in entered(scope):
        if line.row.transaction is not None and line.row.capacity == capacity and not line.withdrawn:
            found.setdefault(line.row.transaction, []).append(line.who)
    return found


def filed(scope: Scope) -> dict[int, Filing]:
    """Returns that the moment knows, by the ledger's transaction."""
    return {row.transaction: row for row in Filing.objects.filter(house=scope.house, number__in=filed_by_events(scope))}


def filed_by_events(scope: Scope) -> dict[int, int]:
    """The ledger's transactions about which returns were filed, by the number of the filing."""
    return {doc["data"]["filing"]: doc["data"]["transaction"] for _, _, _, doc in events(scope, ("return.filed",))}


def rates(scope: Scope) -> Rates:
    """Rates of the euro by the rows that the moment knows."""
    numbers = [data["number"] for data in _rates_set(scope)]
    rows = EuroRate.objects.filter(house=scope.house, number__in=numbers)
    return Rates(scope.house, list(rows.values_list("valid_from", "number", "millionths", "source")))


def rates_by_events(scope: Scope) -> Rates:
    """The same by the events."""
    return Rates(
        scope.house,
        [
            (datetime.fromisoformat(data["valid_from"]), data["number"], data["millionths"], data["source"])
            for data in _rates_set(scope)
        ],
    )


def _rates_set(scope: Scope) -> list[dict[str, Any]]:
    return [doc["data"] for _, _, _, doc in events(scope, ("euro_rate.set",))]
