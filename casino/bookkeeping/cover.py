"""Cash cover: whether the house's cash is as much as can be claimed of it at once.

Source: shared requirements of a card room's balance (cash held against chips in use and players' deposits). What can be
claimed is what is owed to players, and what lies in the trays: the house may have to pay that out without getting cash
for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import CHIP_LIABILITIES, face_value, places_of
from casino.houses.models import House
from ledger.models import Account as LedgerAccount

#: Cash, wherever it is.
CASH = (
    Account.VAULT_CASH, Account.CASH_IN_TRANSIT, Account.DRAWER_CASH, Account.CLEARING, Account.DROP_CASH,
    Account.BANK_ACCOUNT,
)  # fmt: skip
#: What is owed to players.
OWED = (
    Account.CHIPS_OUTSTANDING, Account.CHIPS_UNATTRIBUTED, Account.SEAT_STACK, Account.POT, Account.CUKASSZA,
    Account.BANK, Account.TRONC, Account.TRONC_POOL, Account.DISPUTED_POT, Account.CARRY_HELD, Account.HELD_PAYOUTS,
    Account.WINNINGS_WITHHELD, Account.PLAYER_DEPOSITS, Account.UNCLAIMED,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cover:
    """What is held and what can be claimed at one moment, in minor units."""

    cash: int
    owed: int
    trays: int

    @property
    def free(self) -> int:
        """Cash beyond what can be claimed; below zero where it does not cover that."""
        return self.cash - self.owed - self.trays

    def as_json(self) -> dict[str, int]:
        """As events have it."""
        return {"cash": self.cash, "owed": self.owed, "trays": self.trays}


#: Cash that is in the house: in the vault, in drawers, in the drop boxes of tables.
_IN_HOUSE = (Account.VAULT_CASH, Account.DRAWER_CASH, Account.DROP_CASH)


def house_covers_chips(house: House) -> bool:
    """Whether the cash that is in the house, not at the bank, is as much as the chips that are out."""
    cash = owed = 0
    for code, _, balance in _held(house, (*_IN_HOUSE, *CHIP_LIABILITIES)):
        own = code.partition("/")[0]
        cash, owed = (cash + balance, owed) if own in _IN_HOUSE else (cash, owed + balance)
    return cash >= owed


def cover(house: House) -> Cover:
    """The cash cover of now, all of it as of one moment."""
    return of(reading(house))


def reading(house: House) -> QuerySet[Any, tuple[str, str, int]]:
    """What `cover` reads, for who reads it with something else; `of` takes what it has found."""
    return _held(house, (Account.TRAY, *CASH, *OWED))


def of(found: Iterable[tuple[str, str, int]]) -> Cover:
    """The cash cover, by what `reading` has found."""
    cash = owed = trays = 0
    for code, commodity, balance in found:
        own = code.partition("/")[0]
        if own == Account.TRAY:
            trays += face_value(commodity) * balance
        elif own in CASH:
            cash += balance
        else:
            owed += balance
    return Cover(cash, owed, trays)


def _held(house: House, numbers: Sequence[Account]) -> QuerySet[Any, tuple[str, str, int]]:
    rows = LedgerAccount.objects.filter(places_of(numbers), book=house.id).exclude(balance=0)
    return rows.values_list("code", "commodity", "balance")
