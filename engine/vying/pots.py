"""Main pot and side pots of a showdown with short stacks (table stakes).

Each pot is one layer of the stakes: what lies between one active seat's stake and the next larger one. A seat that
has staked that much competes for it; what folded seats have staked falls into the layers it reaches. The rules
texts know no short stacks, so this follows what poker rooms do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise


@dataclass(frozen=True, slots=True)
class Pot:
    """``amount`` in minor units, and the active seats that compete for it in play order."""

    amount: int
    seats: tuple[int, ...]


def split_pots(stakes: Sequence[int], active: Sequence[int]) -> list[Pot]:
    """Main pot first. ``stakes`` by seat (place 0 unused), with nothing left in it that nobody matched.

    >>> split_pots([0, 700, 1200, 1200, 200], [1, 2, 3])
    [Pot(amount=2300, seats=(1, 2, 3)), Pot(amount=1000, seats=(2, 3))]
    """
    pots, floor = [], 0
    for level in sorted({stakes[seat] for seat in active}):
        amount = sum([min(stake, level) - min(stake, floor) for stake in stakes])
        pots.append(Pot(amount, tuple([seat for seat in active if stakes[seat] >= level])))
        floor = level
    return pots


def tax_shares(amounts: Sequence[int], tax_on: Callable[[int], int]) -> list[int]:
    """What each pot, main pot first, bears of the tax on all of them together.

    A pot bears what the tax grows by when it is added to those below it, so a cap spares the side pots first. Tax grows
    by whole chips: what a pot is too small for falls to the one below.

    >>> tax_shares([993, 32], lambda money: money // 20 // 50 * 50)
    [18, 32]
    """
    totals = [tax_on(total) for total in accumulate(amounts)]
    shares = [upper - lower for lower, upper in pairwise([0, *totals])]
    for place in range(len(shares) - 1, 0, -1):
        excess = max(shares[place] - amounts[place], 0)
        shares[place] -= excess
        shares[place - 1] += excess
    return shares
