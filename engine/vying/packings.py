"""Counting deals of hands that share no card, for any number of seats, with NumPy (the extra ``batch``).

Let a(X) be how many hands of a list lie within the set X of cards. Picking a hand for each seat from within X, shared
cards or not, can be done in the product of the a(X) ways. The picks whose cards together are exactly some set Y are
the sum of those products over the subsets X of Y, with alternating sign; when Y has four cards a seat, they share
none. Summed over all such Y, a set X of x cards out of m counts ``(-1)**x * comb(m - x, 4 * seats - x)`` times.

So every set of cards is looked at once: 2**28 with a full pack, in blocks of 2**20 that take turns in one place in
memory. Nothing is rounded: sums are kept modulo 2**64, and where a count may be larger also modulo a small prime.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise ImportError("counting deals to many seats needs NumPy: install the extra 'batch'") from error

_LOW, _MIDDLE = 5, 15
"""A set of cards is the bits of three groups of cards: high (a block each), middle (a row each), low."""

_WRAP = 1 << 64
_PRIME = 251  # its cube times a block's sets is far below 2**63

Counts = NDArray[np.uint16]
Words = NDArray[np.uint64]


class _Within:
    """How many hands of a list lie within each set of cards, block by block."""

    def __init__(self, cards: int, hands: Sequence[int]) -> None:
        self.middle = min(_MIDDLE, cards - _LOW)
        self.high = cards - _LOW - self.middle
        # A hand has at most four cards in the middle: only these rows hold hands before they are added up.
        self._rows = np.array([row for row in range(1 << self.middle) if row.bit_count() <= 4])
        place = np.zeros(1 << self.middle, dtype=np.intp)
        place[self._rows] = np.arange(len(self._rows))
        held = np.array(hands, dtype=np.int64)
        rows = place[held >> _LOW & ((1 << self.middle) - 1)]
        self._sparse = np.zeros((1 << self.high, len(self._rows), 1 << _LOW), dtype=np.uint16)
        self._sparse[held >> (_LOW + self.middle), rows, held & ((1 << _LOW) - 1)] = 1
        _add_subsets(self._sparse, self.high, len(self._rows) << _LOW)
        _add_subsets(self._sparse, _LOW, 1)
        self._block = np.zeros((1 << self.middle, 1 << _LOW), dtype=np.uint16)

    def block(self, high: int) -> Counts:
        """The counts for the sets with these high cards; valid until the next block is asked for."""
        self._block.fill(0)
        self._block[self._rows] = self._sparse[high]
        _add_subsets(self._block, self.middle, 1 << _LOW)
        return self._block.reshape(-1)


def _add_subsets(counts: Counts, bits: int, width: int) -> None:
    """Add to each set's count those of its subsets, in place; ``width`` numbers lie between the first bit's two."""
    for bit in range(bits):
        pairs = counts.reshape(-1, 2, width << bit)
        pairs[:, 1] += pairs[:, 0]


def count_deals(cards: int, seats: Sequence[tuple[list[int], int]]) -> int:
    """Ways to deal hands of four out of ``cards`` cards so that none shares a card with another.

    ``seats``: lists of different hands, as bits below ``1 << cards``, each with the number of seats that get a hand
    of the list. Right for at least five cards, as many as the seats need, and up to 28, which take some 250 MB.
    """
    lists = [(_Within(cards, hands), count) for hands, count in seats if count]
    used = 4 * sum(count for _, count in lists)
    signed = [(-1) ** held * comb(cards - held, used - held) if held <= used else 0 for held in range(cards + 1)]
    sums = [_Sum(signed, _WRAP)]
    if factorial(cards) // factorial(cards - used) // 24 ** (used // 4) >= _WRAP:
        sums.append(_SmallSum(signed, _PRIME, comb(cards, 4), [count for _, count in lists]))
    for high in range(1 << lists[0][0].high):
        if high.bit_count() <= used:
            blocks = [(within.block(high), count) for within, count in lists]
            for one in sums:
                one.add(blocks, high.bit_count())
    return _joined(*[one.total for one in sums])


def _joined(wrapped: int, remainder: int | None = None) -> int:
    """The number below ``_WRAP * _PRIME`` with these remainders by the two, or the one below ``_WRAP``."""
    if remainder is None:
        return wrapped
    return wrapped + (remainder - wrapped) * pow(_WRAP, -1, _PRIME) % _PRIME * _WRAP


class _Sum:
    """The sum over all sets of weight times product, modulo 2**64: machine words that may wrap."""

    def __init__(self, signed: Sequence[int], modulus: int) -> None:
        self.total = 0
        self._modulus = modulus
        self._by_size = np.array([weight % modulus for weight in signed], dtype=np.uint64)
        self._weights: dict[int, Words] = {}

    def add(self, blocks: Sequence[tuple[Counts, int]], high: int) -> None:
        """Add one block of each list, its counts to the power of the list's seats; ``high`` cards are common."""
        product = self._power(*blocks[0])
        for counts, power in blocks[1:]:
            product *= self._power(counts, power)
        weights = self._weights.get(high)
        if weights is None:
            sizes = np.bitwise_count(np.arange(len(product), dtype=np.uint32))
            weights = self._weights[high] = self._by_size[sizes + high]
        self.total = (self.total + int(np.dot(product, weights))) % self._modulus

    def _power(self, counts: Counts, power: int) -> Words:
        base = counts.astype(np.uint64)
        product = base if power == 1 else base * base
        for _ in range(power - 2):
            product *= base
        return product


class _SmallSum(_Sum):
    """The same modulo a small prime, which keeps every number of a block's sum far below 2**64."""

    def __init__(self, signed: Sequence[int], modulus: int, most: int, powers: Sequence[int]) -> None:
        super().__init__(signed, modulus)
        self._powers = {
            power: np.array([pow(count, power, modulus) for count in range(most + 1)], dtype=np.uint64)
            for power in powers
        }

    def _power(self, counts: Counts, power: int) -> Words:
        return self._powers[power][counts]
