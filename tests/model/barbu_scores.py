"""Points and money of Barbu: what the tricks and the order of going out are worth, side bets, and what is paid.

Points are those of the contract lists of the rules; an amount of money is points times ``unit`` (minor units).
Lists of four stand in seat order, p1 first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

SEATS = (1, 2, 3, 4)
SUITS = "cdhs"
CONTRACTS = ("notricks", "queens", "lasttwo", "hearts", "king", "trumps", "dominoes", "ravage")
POSITIVE = ("trumps", "dominoes")
WORST = {"pagat": 240, "fifteen": 270, "lagosz": 210, "brader": 455}
WORST_WITH_RAVAGE_36 = 252


@dataclass(frozen=True)
class Scale:
    """Points of one way of scoring; penalties are negative, ``out`` is in the order of going out."""

    trick: int = -2
    queen: int = -6
    heart: int = -2
    ace: int = -6
    king: int = -20
    out: tuple[int, int, int, int] = (45, 20, 5, -5)


LAST_TWO = (-10, -20)
TRUMP_TRICK = 5
SCALES = {
    "pagat": Scale(),
    "fifteen": Scale(king=-15, out=(40, 20, 10, -10)),
    "lagosz": Scale(king=-15, out=(30, 20, 10, 0)),
    "brader": Scale(trick=-5, queen=-15, heart=-4, ace=-12, king=-25, out=(40, 20, 0, -20)),
}


@dataclass(frozen=True)
class Trick:
    """A finished trick: the seat that took it, and its four cards."""

    winner: int
    cards: tuple[str, ...]


@dataclass(frozen=True)
class Points:
    """The scoring of a table: the scale and what ravage city costs (0: it is not played)."""

    scale: Scale
    ravage: int

    def total(self, contract: str) -> int:
        """What all four seats score together in the contract."""
        scale = self.scale
        totals = {
            "notricks": 13 * scale.trick,
            "queens": 4 * scale.queen,
            "lasttwo": sum(LAST_TWO),
            "hearts": 12 * scale.heart + scale.ace,
            "king": scale.king,
            "trumps": 13 * TRUMP_TRICK,
            "dominoes": sum(scale.out),
            "ravage": -self.ravage,
        }
        return totals[contract]

    def set_total(self) -> int:
        """The sum over all the contracts of one declarer."""
        return sum(self.total(contract) for contract in contracts(self.ravage))

    def of_card(self, contract: str, card: str) -> int:
        """What a card costs the player who takes it in a trick."""
        if contract == "queens":
            return self.scale.queen if card[0] == "Q" else 0
        if contract == "king":
            return self.scale.king if card == "Kh" else 0
        if contract == "hearts" and card[1] == "h":
            return self.scale.ace if card == "Ah" else self.scale.heart
        return 0

    def of_tricks(self, contract: str, tricks: Sequence[Trick]) -> list[int]:
        """The raw score of each seat in a contract played in tricks."""
        if contract == "ravage":
            return longest_suits(tricks, self.ravage)
        raw = dict.fromkeys(SEATS, 0)
        each = {"notricks": self.scale.trick, "trumps": TRUMP_TRICK}.get(contract, 0)
        for trick in tricks:
            raw[trick.winner] += each + sum(self.of_card(contract, card) for card in trick.cards)
        if contract == "lasttwo":
            for trick, points in zip(tricks[-2:], LAST_TWO, strict=True):
                raw[trick.winner] += points
        return list(raw.values())

    def of_dominoes(self, gone_out: Sequence[int]) -> list[int]:
        """The raw scores, from the seats in the order of going out, the last one included."""
        points = dict(zip(gone_out, self.scale.out, strict=True))
        return [points[seat] for seat in SEATS]

    def unplayed(self, contract: str, declarer: int) -> list[int]:
        """The raw scores of a negative contract that nobody doubled, where such are not played.

        Each opponent scores a third of the total, rounded to the nearest integer; the declarer scores the rest.
        """
        cost = -self.total(contract)
        third = -((2 * cost + 3) // 6)
        return [-cost - 3 * third if seat == declarer else third for seat in SEATS]

    def worst(self, scoring: str) -> int:
        """The worst loss of a seat in one deal, in points: the figures stated for the scorings (gaps, item 16)."""
        return max(WORST[scoring], WORST_WITH_RAVAGE_36 if self.ravage == 36 else 0)


def contracts(ravage: int) -> list[str]:
    """The contracts of a declarer, in their order; ravage city is the eighth where it is played."""
    return [contract for contract in CONTRACTS if ravage or contract != "ravage"]


def longest_suits(tricks: Iterable[Trick], cost: int) -> list[int]:
    """Ravage city: the seats with the most cards of one suit in their tricks share the cost."""
    taken = {seat: Counter[str]() for seat in SEATS}
    for trick in tricks:
        taken[trick.winner].update(card[1] for card in trick.cards)
    most = {seat: max((taken[seat][suit] for suit in SUITS), default=0) for seat in SEATS}
    losers = [seat for seat in SEATS if most[seat] == max(most.values())]
    return [-cost // len(losers) if seat in losers else 0 for seat in SEATS]


def with_side_bets(raw: Sequence[int], doubled: Mapping[int, Iterable[int]]) -> list[int]:
    """The scores on paper: the difference of each pair's raw scores once per double between the two.

    ``doubled`` shows for each seat whom it has doubled or redoubled.
    """
    score = list(raw)
    for one, whom in doubled.items():
        for other in whom:
            difference = raw[one - 1] - raw[other - 1]
            score[one - 1] += difference
            score[other - 1] -= difference
    return score
