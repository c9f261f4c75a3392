"""The layout of dominoes: four rows of cards that grow from one rank to both sides ("The Seven Contracts").

Sets of cards are masks (:mod:`engine.tricks.masks`).

>>> CARDS.cards(FOLLOWERS["high", "9"]["9h"]), CARDS.cards(FOLLOWERS["high", "9"]["Th"])
(('Th', '8h'), ('Jh',))
>>> CARDS.cards(FOLLOWERS["low", "9"]["2h"]), CARDS.cards(FOLLOWERS["high", "9"]["2h"])
(('Ah',), ())
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.kernel.cards import FRENCH52
from engine.tricks.barbu_scores import CARDS

RANKS: Mapping[str, str] = {"high": FRENCH52.ranks, "low": FRENCH52.ranks[1:] + FRENCH52.ranks[0]}
"""The ranks in the order of the rows, from one end to the other: the ace goes next to the king, or to the two."""


def _followers(ranks: str, start: str) -> dict[str, int]:
    """Card -> the cards that fit as soon as it lies."""
    found = {}
    first = ranks.index(start)
    for suit in FRENCH52.suits:
        for at, rank in enumerate(ranks):
            above = ranks[at - 1] + suit if 0 < at <= first else None
            below = ranks[at + 1] + suit if first <= at < len(ranks) - 1 else None
            found[rank + suit] = CARDS.mask(card for card in (above, below) if card)
    return found


FOLLOWERS: Mapping[tuple[str, str], Mapping[str, int]] = {
    (ace, start): _followers(ranks, start) for ace, ranks in RANKS.items() for start in ranks
}
"""(Where the ace goes, the rank that the rows start from) -> card -> the mask of the cards that fit because of it."""


def rows(laid: int, ace: str) -> dict[str, list[str]]:
    """The layout: suit -> its cards that have been laid, in the order of the row; suits without any are left out."""
    found = {}
    for suit in FRENCH52.suits:
        row = [rank + suit for rank in RANKS[ace] if laid & CARDS.bits[rank + suit]]
        if row:
            found[suit] = row
    return found
