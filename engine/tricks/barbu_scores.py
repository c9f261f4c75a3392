"""Barbu's points: what tricks, cards and going out are worth, side bets, and who owes what to whom.

Points of seats stand in tuples, p1 first; contracts go by the names that the log uses. Sections are those of the Barbu
rules text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from engine.kernel.cards import FRENCH52
from engine.tricks.masks import masks_of

CONTRACTS = ("notricks", "queens", "lasttwo", "hearts", "king", "trumps", "dominoes", "ravage")
"""Every contract, in the order of "The Seven Contracts", with the extra one last."""
POSITIVE = frozenset({"trumps", "dominoes"})
NEGATIVE = frozenset(CONTRACTS) - POSITIVE
SEATS, TRICKS = 4, 13
"""Seats, and tricks of a deal that is played out."""

CARDS = masks_of(FRENCH52)
QUEENS = CARDS.ranks["Q"]
HEARTS = CARDS.suits["h"]
ACE_OF_HEARTS = CARDS.bits["Ah"]
KING_OF_HEARTS = CARDS.bits["Kh"]

Doubles = Sequence[Sequence[int]]
"""By seat from 1 (place 0 unused): the seats that it has doubled, or redoubled."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What things are worth, in points. ``trick``, ``queen``, ``heart``, ``ace`` and ``king`` (of hearts): each one
    taken in its negative contract; ``last``: the last trick, the last but one being half of it; ``trump``: a trick in
    Trumps; ``out``: going out of dominoes first, second, third, and not at all."""

    trick: int
    queen: int
    heart: int
    ace: int
    king: int
    out: tuple[int, int, int, int]
    last: int = -20
    trump: int = 5


SCALES: Mapping[str, Scale] = {
    "pagat": Scale(trick=-2, queen=-6, heart=-2, ace=-6, king=-20, out=(45, 20, 5, -5)),
    "fifteen": Scale(trick=-2, queen=-6, heart=-2, ace=-6, king=-15, out=(40, 20, 10, -10)),
    "lagosz": Scale(trick=-2, queen=-6, heart=-2, ace=-6, king=-15, out=(30, 20, 10, 0)),
    "brader": Scale(trick=-5, queen=-15, heart=-4, ace=-12, king=-25, out=(40, 20, 0, -20)),
}
"""The scorings of "The Seven Contracts", "Fantan (Dominoes)" and "Variations", "Scoring"."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What the play came to. ``cards``: the mask of those in each seat's tricks, by seat from 1 (place 0 unused);
    ``winners``: of each trick in order; ``out``: the seats that went out of dominoes, in order."""

    cards: Sequence[int]
    winners: Sequence[int]
    out: Sequence[int]


@dataclass(frozen=True)
class Points:
    """A table's scoring: the scale, and what ravage city costs (0 without it)."""

    scale: Scale
    ravage: int

    @cached_property
    def totals(self) -> Mapping[str, int]:
        """Contract -> what all seats score together."""
        scale = self.scale
        return {
            "notricks": TRICKS * scale.trick,
            "queens": 4 * scale.queen,
            "lasttwo": scale.last + scale.last // 2,
            "hearts": 12 * scale.heart + scale.ace,
            "king": scale.king,
            "trumps": TRICKS * scale.trump,
            "dominoes": sum(scale.out),
            "ravage": -self.ravage,
        }

    def sum_of(self, contracts: Sequence[str]) -> int:
        """What all seats score together in these contracts."""
        return sum(map(self.totals.__getitem__, contracts))

    def raw(self, contract: str, taken: Taken) -> tuple[int, ...]:
        """The basic scores of a deal that was played."""
        scale = self.scale
        if contract == "notricks":
            return _each(scale.trick, map(taken.winners.count, range(1, SEATS + 1)))
        if contract == "trumps":
            return _each(scale.trump, map(taken.winners.count, range(1, SEATS + 1)))
        if contract == "queens":
            return _each(scale.queen, ((cards & QUEENS).bit_count() for cards in taken.cards[1:]))
        if contract == "king":
            return _each(scale.king, ((cards & KING_OF_HEARTS).bit_count() for cards in taken.cards[1:]))
        if contract == "hearts":
            return tuple(
                (cards & HEARTS & ~ACE_OF_HEARTS).bit_count() * scale.heart
                + (cards & ACE_OF_HEARTS).bit_count() * scale.ace
                for cards in taken.cards[1:]
            )
        if contract == "lasttwo":
            return self._last_two(*taken.winners[-2:])
        return self._dominoes(taken.out) if contract == "dominoes" else self._ravage(taken.cards[1:])

    def _last_two(self, last_but_one: int, last: int) -> tuple[int, ...]:
        worth = self.scale.last
        return tuple((seat == last) * worth + (seat == last_but_one) * worth // 2 for seat in range(1, SEATS + 1))

    def _dominoes(self, out: Sequence[int]) -> tuple[int, ...]:
        worth = dict(zip(out, self.scale.out, strict=False))
        return tuple(worth.get(seat, self.scale.out[-1]) for seat in range(1, SEATS + 1))

    def _ravage(self, cards: Sequence[int]) -> tuple[int, ...]:
        """The most cards in one suit cost; seats that share the lead share the cost ("Extra contract")."""
        longest = [max((taken & suit).bit_count() for suit in CARDS.suits.values()) for taken in cards]
        worst = max(longest)
        return tuple(-(self.ravage // longest.count(worst)) if length == worst else 0 for length in longest)

    def not_played(self, contract: str, declarer: int) -> tuple[int, ...]:
        """The scores of a negative contract that nobody doubled: a third each to the nearest point, the rest to the
        declarer ("Doubles and Redoubles")."""
        total = self.totals[contract]
        third = -((2 * -total + 3) // 6)  # no total is an odd multiple of one and a half, so none is just between
        return tuple(total - 3 * third if seat == declarer else third for seat in range(1, SEATS + 1))

    def worst(self, contract: str) -> int:
        """The most points that a seat can lose in the deal, the basic scores paid by the declarer.

        Negative: it takes all and has doubles both ways with all three others. Dominoes: the declarer goes out last,
        Trumps: takes nothing, and has doubles both ways with all. An opponent bets with nobody else there, so loses
        less.
        """
        total = self.totals[contract]
        if contract in NEGATIVE:
            return -7 * total
        own = self.scale.out[-1] if contract == "dominoes" else 0
        return total - own + 2 * (total - own - 3 * own)


def _each(worth: int, counts: Iterable[int]) -> tuple[int, ...]:
    return tuple(worth * count for count in counts)


# -- side bets ---------------------------------------------------------------------------------------------------------


def stakes(doubles: Doubles) -> list[tuple[int, int, int]]:
    """The pairs of seats with a side bet: (seat, later seat, how many doubles there are between them)."""
    found = []
    for one, other in combinations(range(1, SEATS + 1), 2):
        if count := (other in doubles[one]) + (one in doubles[other]):
            found.append((one, other, count))
    return found


def with_side_bets(raw: Sequence[int], doubles: Doubles) -> tuple[int, ...]:
    """The scores as they go on the sheet: of each pair with a double the difference goes from the worse to the better,
    twice if each has doubled the other ("Scoring")."""
    score = list(raw)
    for one, other, count in stakes(doubles):
        difference = count * (raw[one - 1] - raw[other - 1])
        score[one - 1] += difference
        score[other - 1] -= difference
    return tuple(score)


def payments(raw: Sequence[int], doubles: Doubles, declarer: int) -> list[tuple[int, int, int]]:
    """What is paid at the end of a deal with chips: (payer, seat that is paid, points), negative the other way.

    The declarer pays every other seat its basic score, and pairs with a double the difference besides ("Barbu with
    Chips"); all that goes between two seats is one payment.
    """
    counts = {(one, other): count for one, other, count in stakes(doubles)}
    found = []
    for one, other in combinations(range(1, SEATS + 1), 2):
        points = counts.get((one, other), 0) * (raw[other - 1] - raw[one - 1])
        if declarer in (one, other):
            points += raw[other - 1] if declarer == one else -raw[one - 1]
        found.append((one, other, points))
    return found


def settled(amounts: Sequence[int]) -> list[tuple[int, int, int]]:
    """Payments that settle what the seats have won or lost, which sums to 0: (payer, seat that is paid, amount).

    The first seat that lost pays the first that won as much as it can, and so on, at most once for each pair.
    """
    owed = list(amounts)
    found = []
    for payer, lost in enumerate(amounts, 1):
        for winner in range(1, SEATS + 1):
            paid = min(-owed[payer - 1], owed[winner - 1])
            if lost < 0 < paid:
                owed[payer - 1] += paid
                owed[winner - 1] -= paid
                found.append((payer, winner, paid))
    return found
