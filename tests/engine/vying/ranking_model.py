"""Another model of the variants of Ferbli: it tries everything and shares nothing with the engine.

Wild cards are tried as every choice of cards of the pack, every choice of one to four cards of the hand is looked at,
and the best wins. A worth is a tuple that compares: the place of the kind, then what decides within the kind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache
from itertools import combinations

RANKS = "789XUOKA"
SUITS = "albh"
PACK = [rank + suit for suit in SUITS for rank in RANKS]
HANDS = list(combinations(PACK, 4))

COMMON = ["lone", "two suited", "two aces", "three suited", "three alike", "banda", "four alike"]
KINDS = {
    "off": COMMON,
    "general": [*COMMON[:5], "grigare", *COMMON[5:]],
    "kis_nagy": [*COMMON, "nagy", "kis"],
}

Slot = tuple[str, str, int]
"""Rank, suit and what the card is worth among cards of its suit."""
Worth = tuple[int, int]

OWN: dict[str, Slot] = {card: (card[0], card[1], {"A": 11, "9": 9, "8": 8, "7": 7}.get(card[0], 10)) for card in PACK}
STAND_INS: list[Slot] = [(rank, suit, 11) for rank in RANKS for suit in SUITS]
"""A wild card in the place of each card, its own among them: 11 is never less than that card's own value."""


@cache
def together(slots: tuple[Slot, ...]) -> Worth:
    """What these cards, all of them, are together; (-1, 0) for nothing."""
    ranks, suits, value = {slot[0] for slot in slots}, {slot[1] for slot in slots}, sum(slot[2] for slot in slots)
    size = len(slots)
    if size == 1:
        return COMMON.index("lone"), value
    if len(suits) == 1:
        return COMMON.index(("two suited", "three suited", "banda")[size - 2]), value
    if len(ranks) == 1 and size > 2:
        return COMMON.index(("three alike", "four alike")[size - 3]), RANKS.index(slots[0][0])
    if ranks == {"A"} and size == 2:
        return COMMON.index("two aces"), 22
    return -1, 0


@cache
def best_choice(held: tuple[Slot, ...], wild: int) -> Worth:
    """The most that these cards and so many wild ones can be made to be, sequences apart."""
    best = (-1, 0)
    for stand_ins in combinations(STAND_INS, wild):
        slots = held + stand_ins
        for size in (1, 2, 3):
            for chosen in combinations(slots, size):
                best = max(best, together(chosen))
        best = max(best, together.__wrapped__(slots))
    return best


def sequence(cards: Collection[str], grigare: str) -> tuple[str, int] | None:
    """Four cards as they stand, wild or not."""
    if grigare == "kis_nagy":
        hands = {"7a 8l 9b Xh": ("kis", 0), "Ah Kb Ol Ua": ("nagy", 0)}
        return hands.get(" ".join(sorted(cards)))
    if grigare == "general" and len({card[1] for card in cards}) == 4:
        places = sorted(RANKS.index(card[0]) for card in cards)
        if places == list(range(places[0], places[0] + 4)):
            return "grigare", places[3]
    return None


@cache
def best_sequence(held: tuple[str, ...], wild: int, grigare: str) -> tuple[str, int] | None:
    """The best sequence that these cards make with so many others of the pack, whichever they are."""
    free = [card for card in PACK if card not in held] if grigare != "off" else []
    found = (sequence((*held, *stand_ins), grigare) for stand_ins in combinations(free, wild))
    return max(filter(None, found), key=lambda kind: (KINDS[grigare].index(kind[0]), kind[1]), default=None)


def worth(cards: Collection[str], wild: Iterable[str], grigare: str, grigare_wild: str = "natural") -> Worth:
    """What a hand is worth."""
    held = tuple(sorted(OWN[card] for card in cards if card not in wild))
    place, strength = best_choice(held, 4 - len(held))
    kinds = KINDS[grigare]
    found = kinds.index(COMMON[place]), strength
    special = sequence(cards, grigare)
    if grigare_wild == "substitute":
        named = tuple(sorted(card for card in cards if card not in wild))
        special = best_sequence(named, 4 - len(named), grigare)
    if special:
        found = max(found, (kinds.index(special[0]), special[1]))
    return found
