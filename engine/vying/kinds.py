"""What the best combination in four cards is: Ferbli's ("Players, Cards and Ranking of Hands", "Variations") and
Färbeln's ("Card combinations").

This reads like the rules and is as slow as it looks; :mod:`engine.vying.ranking` makes tables of it. Nothing here
checks its cards: four different ones of one pack are taken for granted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations

from engine.errors import OptionOutOfRange
from engine.kernel.cards import TELL32, Pack

Found = tuple[int, int, str]
"""A combination: its key (``100 * category + strength``), the points of its cards, and its text."""

VALUES = {"A": 11, "9": 9, "8": 8, "7": 7} | dict.fromkeys("KOUQJXT", 10)
"""Point values of the ranks, those of the French pack included."""

WILD_VALUE = 11
"""What a wild card is worth among cards of one suit ("Variations": sánta, and all other wild cards)."""

FERBLI = (
    "one of each suit",
    "two-card ferbli",
    "two aces",
    "three-card ferbli",
    "three of a kind",
    "banda",
    "four of a kind",
)
"""Kinds of hand in Ferbli from the lowest to the highest; a hand's category is its place here."""

GRIGARE = {
    "off": FERBLI,
    "general": (*FERBLI[:5], "grigáré", *FERBLI[5:]),
    "kis_nagy": (*FERBLI, "nagy grigáré", "kis grigáré"),
}
"""The kinds of hand with each way to play grigáré ("Variations"): not at all, any sequence in four suits (below
banda, above three of a kind), or two hands only, both above four of a kind and the small one the highest."""

FAERBELN = ("points", "three-card flush", "prial", "four-card flush", "quartet")
"""Kinds of hand in Färbeln from the lowest to the highest."""

NO_POINTS = ("no combination", *FAERBELN[1:])
"""The same in the traditional version, which lacks Points ("Rules")."""

SUIT_NAMES = {
    "a": "acorns", "l": "leaves", "b": "bells", "h": "hearts", "c": "clubs", "d": "diamonds", "s": "spades",
}  # fmt: skip
RANK_NAMES = {
    "A": "aces", "K": "kings", "O": "overs", "U": "unders", "Q": "queens", "J": "jacks", "X": "tens",
    "T": "tens", "9": "nines", "8": "eights", "7": "sevens",
}  # fmt: skip

GRIGARE_WILD = ("natural", "substitute")
"""What a wild card counts as in a grigáré: itself only, or any needed card."""

_KIS = ("7a", "8l", "9b", "Xh")
_NAGY = ("Ua", "Ol", "Kb", "Ah")


class FerbliKinds:
    """Ferbli with ``wild`` cards, one way to play ``grigare`` and one of what a wild card is in it; calling it finds a
    hand's best combination."""

    def __init__(self, wild: frozenset[str], grigare: str, grigare_wild: str = "natural") -> None:
        if grigare not in GRIGARE:
            raise OptionOutOfRange("grigáré is played in one of three ways", choices=sorted(GRIGARE))
        if grigare_wild not in GRIGARE_WILD:
            raise OptionOutOfRange("a wild card counts in a grigáré in one of two ways", choices=list(GRIGARE_WILD))
        self.names = names = GRIGARE[grigare]
        self.wild = wild
        self._alike = {3: names.index("three of a kind"), 4: names.index("four of a kind")}
        self._suited = [0, 0, 1, 3, names.index("banda")]  # by the number of cards in the suit
        self._sequences = _sequences(grigare, names)
        self._stands_in = grigare_wild == "substitute"
        if self._stands_in:
            self._sequences = _parts(self._sequences)

    def __call__(self, cards: Sequence[str]) -> Found:
        """The best of three views of a hand: its ranks, its suits, and the four cards as a sequence.

        A wild card counts as the card that helps most in the first two, where being itself would never be worth
        more; in a sequence each card is only itself, unless the table lets wild cards be the missing card there too.
        """
        held = [card for card in cards if card not in self.wild]
        best = max(self._by_rank(held, 4 - len(held)), self._by_suit(held, 4 - len(held)), key=_key)
        sequence = self._sequences.get(frozenset(held if self._stands_in else cards)) if self._sequences else None
        return best if sequence is None else max(best, sequence, key=_key)

    def _by_rank(self, held: Sequence[str], wild: int) -> Found:
        """Three or four alike, or two aces: wild cards join the commonest rank, of equals the highest."""
        ranks = [card[0] for card in held]
        rank = min(ranks, key=lambda name: (-ranks.count(name), TELL32.ranks.index(name))) if ranks else "A"
        same = ranks.count(rank) + wild
        if same >= 3:
            return _of_a_kind(self.names, self._alike[same], TELL32, rank, same)
        if ranks.count("A") + wild == 2:
            return 222, 22, "two aces"
        return -1, 0, ""

    def _by_suit(self, held: Sequence[str], wild: int) -> Found:
        """Two to four cards of one suit by their total; with one of each suit the highest card alone counts."""
        suit, values = _best_suit(held) if held else ("a", [])
        count, points = len(values) + wild, sum(values) + WILD_VALUE * wild
        category = self._suited[count]
        place = f" in {SUIT_NAMES[suit]}" if category else ""
        return 100 * category + points, points, f"{self.names[category]}, {points}{place}"


def best_of_faerbeln(cards: Sequence[str], pack: Pack, points: bool = True) -> Found:
    """Färbeln's best combination; a hand without pair or suit counts its highest card, which the text leaves
    open. Without ``points`` all hands below the three-card flush are equal."""
    ranks = [card[0] for card in cards]
    rank = max(ranks, key=ranks.count)
    same = ranks.count(rank)
    suit, values = _best_suit(cards)
    total = sum(values)
    if same == 4:
        return _of_a_kind(FAERBELN, 4, pack, rank, 4)
    if len(values) == 4:
        return 300 + total, total, _suited_text(FAERBELN[3], suit, total)
    if same == 3:
        return _of_a_kind(FAERBELN, 2, pack, rank, 3)
    if len(values) == 3:
        return 100 + total, total, _suited_text(FAERBELN[1], suit, total)
    if not points:
        return 0, 0, NO_POINTS[0]
    pairs = [2 * VALUES[name] for name in ranks if ranks.count(name) == 2]
    total = max([*pairs, total])
    return total, total, f"{total} points"


def _key(found: Found) -> int:
    return found[0]


def _best_suit(cards: Sequence[str]) -> tuple[str, list[int]]:
    """The suit with the most cards, of equals the one worth more, and the values held in it."""
    suits: dict[str, list[int]] = {}
    for card in cards:
        suits.setdefault(card[1], []).append(VALUES[card[0]])
    return max(suits.items(), key=_length_and_value)


def _length_and_value(suit: tuple[str, list[int]]) -> tuple[int, int]:
    return len(suit[1]), sum(suit[1])


def _of_a_kind(names: Sequence[str], category: int, pack: Pack, rank: str, count: int) -> Found:
    """Three or four of a kind: ordered by rank, although kings to tens are all worth ten."""
    strength = len(pack.ranks) - pack.ranks.index(rank)
    return 100 * category + strength, count * VALUES[rank], f"{names[category]}, {RANK_NAMES[rank]}"


def _suited_text(name: str, suit: str, points: int) -> str:
    return f"{name}, {points} in {SUIT_NAMES[suit]}"


def _sequences(grigare: str, names: Sequence[str]) -> Mapping[frozenset[str], Found]:
    """The hands that are a grigáré, each with what it is.

    General ones are ordered by their top card alone: the text does not order them, so equal ones go by the
    seat as all equal hands do.
    """
    if grigare == "kis_nagy":
        return {
            frozenset(cards): (100 * names.index(name), _value(cards), name)
            for name, cards in (("nagy grigáré", _NAGY), ("kis grigáré", _KIS))
        }
    found: dict[frozenset[str], Found] = {}
    if grigare == "general":
        category = names.index("grigáré")
        for top in range(5):
            ranks, name = TELL32.ranks[top : top + 4], RANK_NAMES[TELL32.ranks[top]].removesuffix("s")
            for suits in permutations(TELL32.suits):
                cards = [rank + suit for rank, suit in zip(ranks, suits, strict=True)]
                key = 100 * category + len(TELL32.ranks) - top
                found[frozenset(cards)] = key, _value(cards), f"grigáré, {name} high"
    return found


def _parts(sequences: Mapping[frozenset[str], Found]) -> Mapping[frozenset[str], Found]:
    """What cards come to with wild cards as the rest of the sequence: every part of a sequence, the best one for it.

    Wild cards replace any card that is needed ("Variations": sánta), and the text excepts no kind of hand.
    """
    found: dict[frozenset[str], Found] = {}
    for cards, sequence in sequences.items():
        for held in range(5):
            for part in map(frozenset, combinations(cards, held)):
                found[part] = max(found.get(part, sequence), sequence, key=_key)
    return found


def _value(cards: Sequence[str]) -> int:
    return sum(VALUES[card[0]] for card in cards)
