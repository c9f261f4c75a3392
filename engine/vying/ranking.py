"""Ranking of four-card hands: Ferbli's ("Players, Cards and Ranking of Hands") and Färbeln's ("Card
combinations").

A hand's key is ``100 * category + strength``: a higher key wins, equal keys tie. Cards outside the ranking
combination do not count. :func:`rank_ferbli` reads like the rules; :func:`ferbli_key` looks its result up in
a table of all 35,960 hands that is built on first use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from engine.cards import FRENCH32, TELL32, UNKNOWN, Pack, require_in_pack
from engine.errors import CardAlreadyDealt, CardUnknown, UnknownGame, WrongCount

VALUES = {"A": 11, "9": 9, "8": 8, "7": 7} | dict.fromkeys("KOUQJXT", 10)
"""Point values of the ranks, those of the French pack included."""

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

FAERBELN = ("points", "three-card flush", "prial", "four-card flush", "quartet")
"""Kinds of hand in Färbeln from the lowest to the highest."""

SUIT_NAMES = {
    "a": "acorns", "l": "leaves", "b": "bells", "h": "hearts", "c": "clubs", "d": "diamonds", "s": "spades",
}  # fmt: skip
RANK_NAMES = {
    "A": "aces", "K": "kings", "O": "overs", "U": "unders", "Q": "queens", "J": "jacks", "X": "tens",
    "T": "tens", "9": "nines", "8": "eights", "7": "sevens",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rank:
    """What a hand is worth. ``points``: value of the cards of the combination, which ``text`` names."""

    category: str
    points: int
    key: int
    text: str


def rank_hand(game: str, cards: Sequence[str]) -> Rank:
    """Rank a hand by the rules of ``game``; a game without four-card hands raises :class:`UnknownGame`."""
    if game not in _RANKINGS:
        raise UnknownGame(f"{game!r} does not rank hands", games=sorted(_RANKINGS))
    return _RANKINGS[game](cards)


def rank_ferbli(cards: Sequence[str]) -> Rank:
    """Rank four different cards of the Tell pack (``??`` or another number of cards is refused)."""
    _require_hand(cards, TELL32)
    rank, same = Counter(card[0] for card in cards).most_common(1)[0]
    suit, held = _best_suit(cards)
    if same == 4:
        return _alike(FERBLI, 6, TELL32, rank, 4)
    if len(held) == 4:
        return _suited(FERBLI, 5, suit, held)
    if same == 3:
        return _alike(FERBLI, 4, TELL32, rank, 3)
    if len(held) == 3:
        return _suited(FERBLI, 3, suit, held)
    if sum(card[0] == "A" for card in cards) == 2:
        return Rank(FERBLI[2], 22, 222, "two aces")
    if len(held) == 2:
        return _suited(FERBLI, 1, suit, held)
    best = max(VALUES[card[0]] for card in cards)
    return Rank(FERBLI[0], best, best, f"one of each suit, {best}")


def rank_faerbeln(cards: Sequence[str]) -> Rank:
    """Rank four different cards of the Tell or the Piquet pack; a hand without pair or suit counts its
    highest card."""
    pack = TELL32 if all(card in TELL32.members for card in cards) else FRENCH32
    _require_hand(cards, pack)
    (rank, same), *_ = Counter(card[0] for card in cards).most_common(1)
    suit, held = _best_suit(cards)
    if same == 4:
        return _alike(FAERBELN, 4, pack, rank, 4)
    if len(held) == 4:
        return _suited(FAERBELN, 3, suit, held)
    if same == 3:
        return _alike(FAERBELN, 2, pack, rank, 3)
    if len(held) == 3:
        return _suited(FAERBELN, 1, suit, held)
    ranks = Counter(card[0] for card in cards)
    pairs = [2 * VALUES[name] for name, count in ranks.items() if count == 2]
    points = max([*pairs, _value(held)])
    return Rank(FAERBELN[0], points, points, f"{points} points")


def _best_suit(cards: Sequence[str]) -> tuple[str, list[str]]:
    """The suit with the most cards, of equals the one worth more, and the ranks held in it."""
    suits: dict[str, list[str]] = {}
    for card in cards:
        suits.setdefault(card[1], []).append(card[0])
    suit = max(suits, key=lambda name: (len(suits[name]), _value(suits[name])))
    return suit, suits[suit]


def _value(ranks: Sequence[str]) -> int:
    return sum(VALUES[rank] for rank in ranks)


def _alike(names: Sequence[str], category: int, pack: Pack, rank: str, count: int) -> Rank:
    """Three or four of a kind: ordered by rank, although kings to tens are all worth ten."""
    strength = len(pack.ranks) - pack.ranks.index(rank)
    text = f"{names[category]}, {RANK_NAMES[rank]}"
    return Rank(names[category], count * VALUES[rank], 100 * category + strength, text)


def _suited(names: Sequence[str], category: int, suit: str, ranks: Sequence[str]) -> Rank:
    """Two to four cards of one suit: ordered by their total value."""
    points = _value(ranks)
    text = f"{names[category]}, {points} in {SUIT_NAMES[suit]}"
    return Rank(names[category], points, 100 * category + points, text)


def _require_hand(cards: Sequence[str], pack: Pack) -> None:
    if len(cards) != 4:
        raise WrongCount(f"a hand has four cards, not {len(cards)}", count=4)
    require_in_pack(cards, pack)
    if UNKNOWN in cards:
        raise CardUnknown("a hand with an unknown card has no rank")
    if len(set(cards)) != 4:
        raise CardAlreadyDealt("a card stands twice in one hand")


_RANKINGS: dict[str, Callable[[Sequence[str]], Rank]] = {"ferbli": rank_ferbli, "faerbeln": rank_faerbeln}

_BITS = {card: 1 << at for at, card in enumerate(TELL32.cards)}
_FRENCH_BITS = {card: 1 << at for at, card in enumerate(FRENCH32.cards)}


@cache
def _keys(game: str) -> dict[int, int]:
    """Set of four cards, as the sum of their bits -> key. Both packs are laid out alike, so one table serves
    either."""
    rank = _RANKINGS[game]
    return {sum(_BITS[card] for card in hand): rank(hand).key for hand in combinations(TELL32.cards, 4)}


def ferbli_key(cards: Sequence[str]) -> int:
    """The key of :func:`rank_ferbli`, from the table."""
    first, second, third, fourth = cards
    return _keys("ferbli")[_BITS[first] | _BITS[second] | _BITS[third] | _BITS[fourth]]


def faerbeln_key(cards: Sequence[str], pack: Pack) -> int:
    """The key of :func:`rank_faerbeln` for cards of ``pack`` (Tell or Piquet), from the table."""
    bits = _BITS if pack is TELL32 else _FRENCH_BITS
    first, second, third, fourth = cards
    return _keys("faerbeln")[bits[first] | bits[second] | bits[third] | bits[fourth]]


def is_forty_one(key: int) -> bool:
    """Whether a key of Färbeln is that of 41 points in one suit, the best four-card flush ("Card
    combinations")."""
    return key == 100 * FAERBELN.index("four-card flush") + 41


def prepare() -> None:
    """Build both tables now instead of at the first showdown; processes forked afterwards share them."""
    for game in ("ferbli", "faerbeln"):
        _keys(game)
