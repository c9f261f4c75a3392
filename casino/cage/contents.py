"""What lies in a drawer or in the vault: as somebody has counted it, and by the books."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import VAULT, Account
from casino.cage.models import Drawer
from casino.chips import selectors as chip_sets
from casino.core import denominations
from casino.core.denominations import Chips
from casino.houses.models import House


@dataclass(frozen=True, slots=True)
class Contents:
    """What lies in a drawer or in the vault: cash in minor units, chips of the house, chips of other houses at face
    value. The difference of two may be below zero."""

    cash: int
    chips: Chips
    foreign: int

    def as_json(self) -> dict[str, Any]:
        """As rows and events have a count."""
        return {"cash": self.cash, "pieces": self.chips.as_json(), "foreign": self.foreign}

    def less(self, other: "Contents") -> "Contents":
        """How much more this is, or below zero less."""
        return Contents(self.cash - other.cash, self.chips - other.chips, self.foreign - other.foreign)

    def difference(self, other: "Contents") -> int:
        """How far two counts are apart, in minor units. Cash over does not make up for chips short, nor one
        denomination for another."""
        chips = self.chips - other.chips
        apart = chips.surplus.value + chips.shortage.value
        return abs(self.cash - other.cash) + abs(self.foreign - other.foreign) + apart


def named(house: House, cash: int, pieces: Mapping[Any, int], foreign: int) -> Contents:
    """As somebody has counted it. Raises Unprocessable for wrong pieces."""
    return Contents(cash, denominations.parse(chip_sets.in_use(house), pieces), foreign)


def stored(house: House, counted: Any) -> Contents:
    """A count as the shift's row has it."""
    return named(house, counted["cash"], counted["pieces"], counted["foreign"])


def by_the_books(drawer: Drawer) -> Contents:
    """What the drawer must hold by the books."""
    codes = [drawer.account(Account.DRAWER_CASH), drawer.account(Account.FOREIGN_CHIPS)]
    cash, foreign = map(chart.balances(drawer.house, codes).__getitem__, codes)
    return Contents(cash, chip_sets.rack(drawer.house, drawer.account(Account.CAGE_CHIPS)), foreign)


#: Where the books have what lies in the vault.
_VAULT_MONEY = (Account.VAULT_CASH, f"{Account.FOREIGN_CHIPS}/{VAULT}")


def in_the_vault(house: House) -> Contents:
    """What the vault must hold by the books: all of it as of one moment, for others post to it meanwhile."""
    chip_set = chip_sets.in_use(house).code
    (cash, foreign), rack = chart.contents(house, _VAULT_MONEY, Account.VAULT_CHIPS, chip_set)
    return Contents(cash, rack, foreign)
