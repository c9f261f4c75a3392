"""Sets of cards as whole numbers: one bit a card, the first card of the pack's printed order being the lowest.

So the cards of a hand that follow suit are one ``&`` away, and the first of them in the fixed order is the lowest bit.
What a game asks of a card again and again (its suit, what beats it) is worked out once for each pack.

>>> from engine.kernel.cards import FRENCH52
>>> tables = masks_of(FRENCH52)
>>> tables.cards(tables.suits["h"] & tables.ranks["Q"] | tables.bits["Ac"])
('Ac', 'Qh')
>>> tables.cards(tables.higher["Jd"])
('Ad', 'Kd', 'Qd')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from engine.kernel.cards import UNKNOWN, Pack


@dataclass(frozen=True, slots=True)
class Masks:
    """The masks of one pack.

    ``bits``: of each card, 0 for ``??``; ``every``: of all cards; ``suits`` and ``ranks``: of those of a suit or a
    rank; ``suit_of``: of the cards of a card's suit, ``higher``: of those of them that rank above it, as the pack is
    printed.
    """

    pack: Pack
    bits: Mapping[str, int]
    every: int
    suits: Mapping[str, int]
    ranks: Mapping[str, int]
    suit_of: Mapping[str, int]
    higher: Mapping[str, int]

    def mask(self, cards: Iterable[str]) -> int:
        """The mask of the cards, each of which stands once; unknown ones count for nothing."""
        return sum(map(self.bits.__getitem__, cards))

    def cards(self, mask: int) -> tuple[str, ...]:
        """The cards of a mask in the printed order of the pack."""
        return tuple(card for at, card in enumerate(self.pack.cards) if mask >> at & 1)


def higher_in(pack: Pack, ranks: str) -> Mapping[str, int]:
    """Of each card of the pack, the mask of the cards of its suit that rank above it, ``ranks`` being their order from
    the highest down where the pack is printed in another.

    >>> from engine.kernel.cards import TELL32
    >>> masks_of(TELL32).cards(higher_in(TELL32, "AXKOU987")["Ol"])
    ('Al', 'Kl', 'Xl')
    """
    bits = {card: 1 << at for at, card in enumerate(pack.cards)}
    return {card: sum(bits[one + card[1]] for one in ranks[: ranks.index(card[0])]) for card in pack.cards}


@cache
def masks_of(pack: Pack) -> Masks:
    """The masks of a pack."""
    bits = {card: 1 << at for at, card in enumerate(pack.cards)}
    suits = {suit: sum(bit for card, bit in bits.items() if card[1] == suit) for suit in pack.suits}
    ranks = {rank: sum(bit for card, bit in bits.items() if card[0] == rank) for rank in pack.ranks}
    suit_of = {card: suits[card[1]] for card in pack.cards}
    higher = {card: suits[card[1]] & (bit - 1) for card, bit in bits.items()}
    return Masks(pack, bits | {UNKNOWN: 0}, sum(bits.values()), suits, ranks, suit_of, higher)


def can_be_dealt(counts: Sequence[int], free: int, lacks: Sequence[int]) -> bool:
    """Whether the ``free`` cards can lie so that seat i holds ``counts[i]`` of them, and none of ``lacks[i]``.

    They can, unless some group of seats holds more cards than there are for them (Hall's theorem).
    """
    groups = [(0, 0)]
    for count, lack in zip(counts, lacks, strict=True):
        if count:
            joined = [(size + count, cards | free & ~lack) for size, cards in groups]
            if any(size > cards.bit_count() for size, cards in joined):
                return False
            groups += joined
    return True
