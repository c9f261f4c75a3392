"""How often each kind of hand occurs among all hands of four cards, and among all pairs of hands that share no card.

Both are counted, not estimated: 35,960 hands of a pack of 32, and for the pairs, hand by hand, how many hands of each
kind share no card with it. With S running over the sets of its cards, these are the sum of (-1)**|S| times the hands of
the kind that hold all of S (inclusion and exclusion).

>>> from engine.vying.ranking import ferbli_ranking
>>> found = frequencies(ferbli_ranking())
>>> found.names[-1], found.counts[-1], sum(found.counts)
('four of a kind', 8, 35960)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb
from types import MappingProxyType

from engine.vying.ranking import Ranking, card_bits, is_forty_one, ranking_of

HAND = 4
"""Cards of a hand."""

RANKED = frozenset({"ferbli", "faerbeln"})
"""Games that rank hands of four cards."""

WATCHED: Mapping[str, Mapping[str, Callable[[int], bool]]] = MappingProxyType(
    {"faerbeln": MappingProxyType({"41 in one suit": is_forty_one})}
)
"""Hands that are watched by themselves, because the house may owe a bonus for them: by game, and by the key of its
plain ranking."""


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Exact counts. ``names``: the kinds from the lowest to the highest; ``counts``: how many of the ``total`` hands
    are of each; ``pairs[a][b]``: ordered pairs of hands without a common card, the first of kind a, the other of b;
    ``watched``: how many hands are such that are watched by themselves, by name."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    pairs: tuple[tuple[int, ...], ...]
    watched: Mapping[str, int]
    cards: int

    @property
    def total(self) -> int:
        """All hands of the pack."""
        return comb(self.cards, HAND)

    @property
    def total_pairs(self) -> int:
        """All ordered pairs of hands that share no card."""
        return self.total * comb(self.cards - HAND, HAND)


@cache
def frequencies(ranking: Ranking) -> Frequencies:
    """Of every kind of hand of one ranking; the first call for a ranking takes about a second."""
    kinds = len(ranking.names)
    counts = [0] * kinds
    for key in ranking.keys.values():
        counts[key // 100] += 1
    watched = {name: sum(map(is_one, ranking.keys.values())) for name, is_one in WATCHED.get(ranking.game, {}).items()}
    return Frequencies(
        names=ranking.names, counts=tuple(counts), pairs=_pairs(ranking, kinds), watched=MappingProxyType(watched),
        cards=len(ranking.pack.cards),
    )  # fmt: skip


def frequencies_of(game: str, cards: Iterable[str]) -> tuple[Ranking, Frequencies] | None:
    """The plain ranking of a game that ranks hands of four cards, with its frequencies, for the pack of these cards;
    None where the game does not rank them, or ranks those of another pack. Raises ``UnknownGame`` for no game."""
    pack = tuple(cards)
    if game not in RANKED:
        return None
    ranking = ranking_of(game, pack)
    return (ranking, frequencies(ranking)) if ranking.pack.cards == pack else None


def _pairs(ranking: Ranking, kinds: int) -> tuple[tuple[int, ...], ...]:
    bits = tuple(card_bits(ranking.pack).values())
    holding: dict[int, list[int]] = {}
    hands = [(hand, ranking.keys[sum(hand)] // 100) for hand in combinations(bits, HAND)]
    for hand, kind in hands:
        for part in _parts(hand):
            holding.setdefault(part, [0] * kinds)[kind] += 1
    found = [[0] * kinds for _ in range(kinds)]
    for hand, kind in hands:
        row = found[kind]
        for part in _parts(hand):
            sign = -1 if part.bit_count() % 2 else 1
            for other, count in enumerate(holding[part]):
                row[other] += sign * count
    return tuple(map(tuple, found))


def _parts(hand: tuple[int, ...]) -> list[int]:
    """Every set of cards of a hand as the sum of their bits, the empty one first."""
    parts = [0]
    for card in hand:
        parts += [part | card for part in parts]
    return parts
