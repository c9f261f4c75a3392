"""An answer of the house as a page shows it: rows with columns, or names with values."""

import re
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from casino.console import said
from casino.console.money import Money
from casino.console.operations import Operation

#: Names whose whole numbers are minor units of money.
_MONEY = re.compile(
    r"(?:^|_)(amount|cash|stack|pot|carry|cukassza|bank|tax|bonus|handle|balance|paid|limit|capital|float|sum|min_stack"
    r"|max_stack|stake|foreign|value|chips|difference|variance|expected|counted|due|owed|fee|in|out|net|total)s?\Z"
)


@dataclass(slots=True)
class Row:
    """A row: its cells, and what may be done with it."""

    cells: list[Any]
    acts: list[tuple[Operation, dict[str, Any]]] = field(default_factory=list)


@dataclass(slots=True)
class Shown:
    """A table (`columns` and `rows`), or names with values (`pairs`)."""

    columns: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    pairs: list[tuple[str, Any]] = field(default_factory=list)


def shown(body: Any, money: Money) -> Shown:
    """An answer, arranged."""
    if isinstance(body, list):
        objects = [one if isinstance(one, dict) else {"": one} for one in body]
        columns = list(dict.fromkeys(name for one in objects for name in one))
        rows = [Row([cell(name, one.get(name), money) for name in columns]) for one in objects]
        return Shown([said.label(name) for name in columns], rows)
    if isinstance(body, dict):
        return Shown(pairs=[(said.label(name), cell(name, value, money)) for name, value in body.items()])
    return Shown(pairs=[] if body is None else [("", cell("", body, money))])


def compared(one: dict[str, Any], money: Money) -> dict[str, Any]:
    """Two sums that must be equal, money as people read it."""
    of_money = one.get("type") == "money"
    return {
        name: f"{money.shown(value)} {money.currency}" if of_money and _is_sum(value) else value
        for name, value in one.items()
        if name != "type"
    }


def _is_sum(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def cell(name: str, value: Any, money: Money) -> Any:
    """A value as words, or a table of its own where it has parts."""
    if value is None or value == "":
        return "—"
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, int):
        return money.shown(value) if _MONEY.search(name) else str(value)
    if isinstance(value, dict | list):
        return _parts(name, value, money)
    return said.code(value) if name in said.CODED else money.moment(str(value))


def _parts(name: str, value: Any, money: Money) -> Any:
    if not value:
        return "—"
    if isinstance(value, dict) and all(key.isdecimal() and isinstance(count, int) for key, count in value.items()):
        return pieces(value, money)
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        return ", ".join(str(cell(name, one, money)) for one in value)
    return shown(value, money)


def pieces(chips: dict[str, int], money: Money) -> str:
    """Chips by face value, the largest first."""
    counted = sorted(chips.items(), key=lambda one: -int(one[0]))
    written = (f"{count} \N{MULTIPLICATION SIGN} {money.shown(int(value))}" for value, count in counted)
    return " \N{MIDDLE DOT} ".join(written)
