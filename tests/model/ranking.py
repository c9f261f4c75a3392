"""The worth of four cards, found by trying everything.

Rules text, "Players, Cards and Ranking of Hands": four of a kind, banda, three of a kind, three-card ferbli, two aces,
two-card ferbli, one card of each suit. "Variations": a wild card stands for any other, and is worth eleven among cards
of one suit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product

WORTH = {"A": 11, "K": 10, "O": 10, "U": 10, "X": 10, "9": 9, "8": 8, "7": 7}
UPWARDS = "789XUOKA"
SUITS = "albh"
PACK = tuple(rank + suit for suit in SUITS for rank in reversed(UPWARDS))
KIS = {"7a", "8l", "9b", "Xh"}
NAGY = {"Ua", "Ol", "Kb", "Ah"}

FOUR, BANDA, GRIGARE, THREE, FERBLI3, ACES, FERBLI2, RAINBOW = 8, 7, 6, 5, 4, 3, 2, 1
NAMES = {FOUR: "four_of_a_kind", BANDA: "banda", GRIGARE: "grigare", THREE: "three_of_a_kind", FERBLI3: "ferbli_3"}

Strength = tuple[int, int]
Face = tuple[str, str, int]  # rank or "", suit or "", points in a suit


def cut(text: str) -> list[str]:
    """The cards of a text such as ``Kl8b``."""
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def faces(card: str, wild: frozenset[str]) -> list[Face]:
    """Everything that a card may stand for: itself, or, if it is wild, any rank or 11 points of any suit."""
    if card not in wild:
        return [(card[0], card[1], WORTH[card[0]])]
    return [(card[0], card[1], 11), *((rank, "", 0) for rank in UPWARDS), *(("", suit, 11) for suit in SUITS)]


def combinations_in(shown: Sequence[Face]) -> Iterator[Strength]:
    """Every ranking combination that some of these four faces make."""
    for size in (1, 2, 3, 4):
        for group in combinations(shown, size):
            ranks, suits = {rank for rank, _, _ in group}, {suit for _, suit, _ in group}
            total = sum(points for _, _, points in group)
            if size == 1:
                yield RAINBOW, total
            elif len(suits) == 1 and "" not in suits:
                yield {2: FERBLI2, 3: FERBLI3, 4: BANDA}[size], total
            if size == 2 and ranks == {"A"}:
                yield ACES, 0
            elif size > 2 and len(ranks) == 1 and "" not in ranks:
                yield {3: THREE, 4: FOUR}[size], UPWARDS.index(group[0][0])


def grigare_in(cards: Sequence[str], grigare: str) -> Iterator[Strength]:
    """The sequences: general ones below banda, or only kis and nagy above everything, kis highest.

    ``cards`` are those that count as what is printed on them; whatever they lack of four, wild cards stand for.
    """
    if grigare == "kis_nagy":
        if set(cards) <= KIS:
            yield FOUR + 2, 0
        if set(cards) <= NAGY:
            yield FOUR + 1, 0
    elif grigare == "general" and len({card[1] for card in cards}) == len(cards) == len({card[0] for card in cards}):
        for top in range(3, len(UPWARDS)):
            if all(top - 3 <= UPWARDS.index(card[0]) <= top for card in cards):
                yield GRIGARE, top


@lru_cache(maxsize=200_000)
def _strength(cards: tuple[str, ...], wild: frozenset[str], grigare: str, grigare_wild: str) -> Strength:
    """A combination has one rank or one suit, so it is enough to let all wild cards stand for the same thing."""
    printed = [card for card in cards if grigare_wild == "natural" or card not in wild]
    best = max(grigare_in(printed, grigare), default=(0, 0))
    stand_for = [faces(card, wild) for card in cards]
    for role in range(max(map(len, stand_for))):
        best = max(best, *combinations_in([some[role if len(some) > 1 else 0] for some in stand_for]))
    return best


def every_substitution(cards: Sequence[str], wild: frozenset[str]) -> Strength:
    """The same without that thought (and without grigáré): every wild card stands for anything on its own."""
    return max(max(combinations_in(shown)) for shown in product(*(faces(card, wild) for card in cards)))


def strength(
    cards: Sequence[str], wild: frozenset[str] = frozenset(), grigare: str = "off", grigare_wild: str = "natural"
) -> Strength:
    """What four cards are worth: the greater, the better; equal ones go by position."""
    return _strength(tuple(sorted(cards)), wild, grigare, grigare_wild)


def beaten_by_any(
    mark: Strength, cards: Sequence[str], wild: frozenset[str], grigare: str, grigare_wild: str = "natural"
) -> bool:
    """Whether some four of ``cards`` are worth more than ``mark``."""
    if mark >= (FOUR, UPWARDS.index("A")) and grigare != "kis_nagy":
        return False
    return any(strength(four, wild, grigare, grigare_wild) > mark for four in combinations(cards, 4))
