"""What four cards are worth against unknown hands: every deal counted, none sampled.

The opponents' hands must not share a card. Deals in which they do are taken away by inclusion and exclusion over the
cards they share, so the hands need never be paired off one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial, gcd

from engine.errors import OptionOutOfRange, WrongCount
from engine.vying.ranking import Ranking, card_bits, require_cards, require_hand

MAX_OPPONENTS = 6
"""Both games have at most seven players."""


@dataclass(frozen=True, slots=True)
class Equity:
    """Deals of four cards to each opponent, seat by seat, in which the hand wins, loses, and all of them."""

    wins: int
    losses: int
    total: int

    @property
    def share(self) -> str:
        """Wins out of all deals as a reduced fraction, such as ``3/7``, or ``0`` or ``1``."""
        return reduced(self.wins, self.total)


def reduced(part: int, whole: int) -> str:
    """A part of a whole as a reduced fraction, such as ``3/7``, or ``0`` or ``1``."""
    common = gcd(part, whole)
    above, below = part // common, whole // common
    return str(above) if below == 1 else f"{above}/{below}"


def equity(
    ranking: Ranking, hand: Sequence[str], opponents: int, *, dead: Sequence[str] = (), before: int = 0
) -> Equity:
    """Count the deals of the rest of the pack in which ``hand`` beats all ``opponents``.

    ``dead`` cards are known to be elsewhere. ``before`` opponents show their cards before the hand does: of equal
    hands the one shown first wins ("The Showdown"; Färbeln: the one nearest to forehand), so a tie is lost to
    these and won against the others. Three opponents and more are counted with NumPy (the extra ``batch``), at most
    in some seconds. Refused: cards that are no hand or occur twice, more opponents than the pack has hands for,
    and what :class:`OptionOutOfRange` names.
    """
    require_hand(hand, ranking.pack)
    require_cards([*hand, *dead], ranking.pack, "in the hand and the dead cards")
    rest = [card for card in ranking.pack.cards if card not in hand and card not in dead]
    if len(rest) < 4:
        raise WrongCount("too few cards are left for another hand", min=4)
    _require_count("opponents", opponents, 1, min(MAX_OPPONENTS, len(rest) // 4))
    _require_count("before", before, 0, opponents)
    lower, equal = _beaten(ranking, ranking.key(hand), rest)
    # Hands that must be lower for each opponent who shows first, hands that may be equal for each of the others.
    wins = _deals(len(rest), [(lower, before), (lower + equal, opponents - before)])
    total = factorial(len(rest)) // factorial(len(rest) - 4 * opponents) // 24**opponents
    return Equity(wins, total - wins, total)


def _require_count(name: str, value: int, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise OptionOutOfRange(f"{name} must be a whole number from {low} to {high}", min=low, max=high)


def _beaten(ranking: Ranking, key: int, rest: Sequence[str]) -> tuple[list[int], list[int]]:
    """The hands in ``rest`` that are lower than ``key``, and those that equal it, as bits of places in ``rest``."""
    keys, bits = ranking.keys, card_bits(ranking.pack)
    lower: list[int] = []
    equal: list[int] = []
    cards = [(bits[card], 1 << at) for at, card in enumerate(rest)]
    for (a, w), (b, x), (c, y), (d, z) in combinations(cards, 4):
        found = keys[a | b | c | d]
        if found < key:
            lower.append(w | x | y | z)
        elif found == key:
            equal.append(w | x | y | z)
    return lower, equal


def _deals(cards: int, seats: Sequence[tuple[list[int], int]]) -> int:
    """Ways to deal disjoint hands of four out of ``cards``: for each list, to so many seats a hand of the list."""
    lists = [hands for hands, count in seats for _ in range(count)]
    if len(lists) == 1:
        return len(lists[0])
    if len(lists) == 2:
        return _disjoint_pairs(*lists)
    try:
        from engine.vying.packings import count_deals
    except ImportError as error:
        raise OptionOutOfRange(
            "more than two opponents are counted with NumPy, which is not installed", min=1, max=2
        ) from error
    return count_deals(cards, seats)


def _disjoint_pairs(one: list[int], other: list[int]) -> int:
    """Pairs of hands, one of each list, that share no card.

    Each set of cards counts the pairs that both contain it, with alternating sign by its size: a pair that shares
    anything cancels out.
    """
    first = _containing(one)
    second = first if one is other else _containing(other)
    return sum((-1) ** held.bit_count() * count * second[held] for held, count in first.items() if held in second)


def _containing(hands: list[int]) -> Counter[int]:
    """Each set of up to four cards -> how many of the hands contain it."""
    sets: Counter[int] = Counter()
    for hand in hands:
        held = hand
        while held:  # every non-empty part of the hand
            sets[held] += 1
            held = (held - 1) & hand
    sets[0] = len(hands)
    return sets
