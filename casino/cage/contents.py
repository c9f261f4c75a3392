"""What lies in a drawer or in the vault: as somebody has counted it, and by the books."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import VAULT, Account
from casino.cage.models import Drawer
from casino.chips import selectors as chip_sets
from casino.chips.models import ChipSet
from casino.core import denominations, sql
from casino.core.denominations import Chips
from casino.core.errors import Conflict
from casino.houses.models import House

#: Pieces of withdrawn chip sets by code and denomination, as a request or a row has them.
Withdrawn = Mapping[str, Mapping[Any, int]]


@dataclass(frozen=True, slots=True)
class Contents:
    """What lies in a drawer or in the vault: cash in minor units, chips of the house, chips of other houses at face
    value; in a drawer also chips of withdrawn sets that it has taken back, by set. The difference of two may be below
    zero."""

    cash: int
    chips: Chips
    foreign: int
    withdrawn: Mapping[str, Chips] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As rows and events have a count: `withdrawn` where there are any."""
        found = {"cash": self.cash, "pieces": self.chips.as_json(), "foreign": self.foreign}
        return found | ({"withdrawn": self.withdrawn_as_json()} if self.withdrawn else {})

    def withdrawn_as_json(self) -> dict[str, dict[str, int]]:
        """Pieces of withdrawn sets by set and denomination."""
        return {code: chips.as_json() for code, chips in self.withdrawn.items()}

    def withdrawn_less(self, other: "Contents") -> dict[str, Chips]:
        """Of every withdrawn set that this or the other has, how much more this is, or below zero less."""
        codes = sorted(self.withdrawn.keys() | other.withdrawn.keys())
        return {code: self.withdrawn.get(code, Chips(code)) - other.withdrawn.get(code, Chips(code)) for code in codes}

    def less(self, other: "Contents") -> "Contents":
        """How much more this is, or below zero less."""
        withdrawn = {code: chips for code, chips in self.withdrawn_less(other).items() if chips}
        return Contents(self.cash - other.cash, self.chips - other.chips, self.foreign - other.foreign, withdrawn)

    def difference(self, other: "Contents") -> int:
        """How far two counts are apart, in minor units. Cash over does not make up for chips short, nor one
        denomination or set for another."""
        differing = (self.chips - other.chips, *self.withdrawn_less(other).values())
        apart = sum(chips.surplus.value + chips.shortage.value for chips in differing)
        return abs(self.cash - other.cash) + abs(self.foreign - other.foreign) + apart


def named(
    house: House, cash: int, pieces: Mapping[Any, int], foreign: int, withdrawn: Withdrawn | None = None
) -> Contents:
    """As somebody has counted it; a withdrawn set that is not named was counted as none. Raises Unprocessable for wrong
    pieces, unknown_chip_set; Conflict chip_set_not_withdrawn, chip_set_retired."""
    for code in withdrawn or {}:
        _require_withdrawn(house, code)
    return _parsed(house, cash, pieces, foreign, withdrawn or {})


def stored(house: House, counted: Any) -> Contents:
    """A count as the shift's row has it."""
    return _parsed(house, counted["cash"], counted["pieces"], counted["foreign"], counted.get("withdrawn", {}))


def by_the_books(drawer: Drawer) -> Contents:
    """What the drawer must hold by the books."""
    return by_the_books_beside(drawer)[0]


def by_the_books_beside(drawer: Drawer, *beside: QuerySet[Any, Any]) -> tuple[Contents, list[list[Any]]]:
    """As `by_the_books`, and then run `beside` in the same round trip; returns what each of those has found too."""
    house, rack = drawer.house, drawer.account(Account.CAGE_CHIPS)
    money = [drawer.account(Account.DRAWER_CASH), drawer.account(Account.FOREIGN_CHIPS)]
    set_aside = drawer.account(Account.SET_ASIDE)
    chip_set = chip_sets.in_use(house).code
    rows, *found = sql.together(chart.lying_in(house, [*money, rack, set_aside]), *beside)
    held = chart.by_code(rows)
    cash, foreign = (held[code][house.currency] for code in money)
    chips = chart.held_in(house, chip_set, list(held.get(rack, {}).items()))
    return Contents(cash, chips, foreign, chart.by_set(held.get(set_aside, {}))), found


#: Where the books have what lies in the vault.
_VAULT_MONEY = (Account.VAULT_CASH, f"{Account.FOREIGN_CHIPS}/{VAULT}")


def in_the_vault(house: House) -> Contents:
    """What the vault must hold by the books: all of it as of one moment, for others post to it meanwhile."""
    chip_set = chip_sets.in_use(house).code
    (cash, foreign), rack = chart.contents(house, _VAULT_MONEY, Account.VAULT_CHIPS, chip_set)
    return Contents(cash, rack, foreign)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _parsed(house: House, cash: int, pieces: Mapping[Any, int], foreign: int, withdrawn: Withdrawn) -> Contents:
    """Raises Unprocessable for wrong pieces, unknown_chip_set."""
    sets = {code: denominations.parse(chip_sets.of(house, code), withdrawn[code]) for code in sorted(withdrawn)}
    chips = denominations.parse(chip_sets.in_use(house), pieces)
    return Contents(cash, chips, foreign, {code: mix for code, mix in sets.items() if mix})


def _require_withdrawn(house: House, code: str) -> None:
    """Refuse a set of which no drawer has taken chips back, whatever the books have of it. Raises Unprocessable
    unknown_chip_set, Conflict chip_set_not_withdrawn, chip_set_retired."""
    chip_sets.of(house, code)
    found = ChipSet.objects.get(house=house, code=code)
    if found.retired_at is not None:
        raise Conflict(f"Chip set {code} is retired.", code="chip_set_retired")
    if found.withdrawn_at is None:
        raise Conflict(f"Chip set {code} was not withdrawn.", code="chip_set_not_withdrawn")
