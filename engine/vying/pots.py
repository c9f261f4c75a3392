"""Main pot and side pots of a showdown with short stacks (table stakes).

Each pot is one layer of the stakes: what lies between one active seat's stake and the next larger one. Whoever
has staked that much competes for it; what folded seats have staked falls into the layers it reaches. The rules
texts know no short stacks, so this follows what poker rooms do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
