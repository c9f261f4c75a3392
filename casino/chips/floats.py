"""Chips out of the vault."""

from collections.abc import Mapping
from typing import Any

from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.chips import selectors
from casino.core import denominations
from casino.core.denominations import Chips
from casino.core.errors import Conflict
from casino.houses.models import House

VAULT = Account.VAULT_CHIPS


def from_vault(house: House, *, amount: int | None, pieces: Mapping[Any, int] | None) -> Chips:
    """Chips that the vault can give: these pieces, worth `amount` where both are given, or a spread of denominations
    worth `amount`. They are locked until the transaction ends.

    Raises InsufficientFunds when the vault holds less, Conflict no_exact_change, Unprocessable for wrong pieces.
    """
    [held] = selectors.lock_chip_set(house, chart.holding_all(house, VAULT))
    chips = selectors.in_use(house)
    vault = chart.held_in(house, chips.code, held)
    if pieces is not None:
        named = denominations.parse(chips, pieces)
        if amount is not None:
            denominations.worth(named, amount)
        if (vault - named).shortage:
            books.require(house, VAULT, vault.value, named.value)
            raise _cannot_make(named.value)
        return named
    wanted = amount or 0
    books.require(house, VAULT, vault.value, wanted)
    chips.require_payable(wanted, "A float")
    try:
        return denominations.spread(wanted, vault)
    except Conflict:
        raise _cannot_make(wanted) from None


def _cannot_make(amount: int) -> Conflict:
    """A refusal that does not name what the vault holds: those who draw on it count it without knowing."""
    return Conflict(
        "The amount cannot be made exactly of the chips that are available.", code="no_exact_change", amount=amount
    )
