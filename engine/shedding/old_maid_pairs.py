"""Pairs of Old Maid: which of a hand go out, and which may where the house does not know the hand.

Two cards of a rank are a pair, but the Unter of bells is in none. All pairs go out at once, rank by rank; of three
cards of a rank the first two by suit.

>>> pairs_in(("Kh", "9b", "Kl", "Ub", "9a", "Ka", "Ul"))
('Ka', 'Kl', '9a', '9b')
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from engine.kernel.cards import TELL32
from engine.kernel.legal import Parts
from engine.tricks.masks import masks_of

MASKS = masks_of(TELL32)
SINGLE = "Ub"
"""The card that makes no pair."""
UNTERS = ("Ua", "Ul", "Uh")
"""One of these goes out of play before the deal."""

_BITS = dict(MASKS.bits) | {SINGLE: 0}
_RANKS = [tuple(card for card in MASKS.cards(MASKS.ranks[rank]) if card != SINGLE) for rank in TELL32.ranks]
_WIDTH = len(TELL32.ranks)
_SUIT = (1 << _WIDTH) - 1
_RANK_MASKS = [sum(_BITS[card] for card in cards) for cards in _RANKS]


def _pairs_of_rank(cards: tuple[str, ...]) -> tuple[str, ...]:
    """Of cards of a rank, in the order of their suits, those that go out."""
    return cards[: len(cards) // 2 * 2]


_PAIRS = {
    sum(map(_BITS.__getitem__, some)): _pairs_of_rank(some)
    for cards in _RANKS
    for size in range(2, 5)
    for some in combinations(cards, size)
}
"""Mask of two cards of a rank or more -> the pairs of them."""


def pairs_in(held: Iterable[str]) -> tuple[str, ...]:
    """The pairs of these cards; unknown ones count for nothing."""
    mask = sum(map(_BITS.__getitem__, held))
    # The masks of the suits lie side by side, so a rank that two of them share shows at once; most hands have none.
    first, second, third, fourth = mask & _SUIT, mask >> _WIDTH & _SUIT, mask >> 2 * _WIDTH & _SUIT, mask >> 3 * _WIDTH
    if not first & second | (first | second) & third | (first | second | third) & fourth:
        return ()
    found: tuple[str, ...] = ()
    for rank in _RANK_MASKS:
        some = mask & rank
        if some & (some - 1):
            found += _PAIRS[some]
    return found


def pairings(named: Iterable[str], free: Iterable[str], unknown: int) -> Parts:
    """Every choice of pairs that may go out of a hand with ``unknown`` cards that may be any of ``free``: all pairs of
    the ``named`` ones, and what the unknown ones may add."""
    held, others = set(named), set(free)
    parts = []
    for cards in _RANKS:
        own = [card for card in cards if card in held]
        more = [card for card in cards if card in others]
        choices = []
        for count in range(len(more) + 1):
            for added in combinations(more, count):
                row = _pairs_of_rank(tuple(card for card in cards if card in own or card in added))
                if set(added) <= set(row):
                    choices.append(("".join(row), count))
        parts.append(tuple(choices))
    return Parts(tuple(parts), unknown)
