"""Rankings of four-card hands: Ferbli's with its variants, and Färbeln's.

A hand's key is ``100 * category + strength``: a higher key wins, equal keys tie. Cards outside the ranking
combination do not count. :meth:`Ranking.rank` follows the rules step by step (:mod:`engine.vying.kinds`);
:meth:`Ranking.key` looks its result up in a table of all 35,960 hands that is built on first use. Keys of different
rankings must not be compared: a variant may have more kinds of hand.

>>> santa = ferbli_ranking(wild=["Oa"])
>>> santa.rank(("Ah", "Kh", "Xh", "Oa")).text
'banda, 42 in hearts'
>>> santa.key(("Ah", "Kh", "Xh", "Oa")) > santa.key(("Ab", "Kb", "Ob", "Ub"))
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from itertools import combinations
from typing import TypeVar

from engine.errors import CardAlreadyDealt, CardNotInPack, CardUnknown, UnknownGame, WrongCount
from engine.kernel.cards import FRENCH32, TELL32, UNKNOWN, Pack, require_in_pack
from engine.vying.kinds import FAERBELN, FERBLI, NO_POINTS, FerbliKinds, Found, best_of_faerbeln

__all__ = [
    "FAERBELN", "FERBLI", "Rank", "Ranking", "card_numbers", "faerbeln_key", "faerbeln_ranking", "ferbli_ranking",
    "is_forty_one", "prepare", "ranking_of",
]  # fmt: skip

_NO_CLASS = 255
"""Two pairs of cards that have one in common; there are far fewer classes of hands."""

_Cell = TypeVar("_Cell")


@dataclass(frozen=True, slots=True)
class Rank:
    """What a hand is worth. ``points``: value of the cards of the combination, which ``text`` names."""

    category: str
    points: int
    key: int
    text: str


@dataclass(frozen=True, eq=False)
class Ranking:
    """One way to rank hands; get it from :func:`ferbli_ranking` or :func:`faerbeln_ranking`.

    ``names`` are the kinds of hand from the lowest to the highest; ``key // 100`` is the place of a hand's kind.
    """

    game: str
    pack: Pack
    names: tuple[str, ...]
    wild: tuple[str, ...]
    grigare: str
    find: Callable[[Sequence[str]], Found]
    """The best combination in four different cards of the pack, which it does not check."""
    grigare_wild: str = "natural"

    def rank(self, cards: Sequence[str]) -> Rank:
        """Rank four different cards of the pack (``??`` or another number of cards is refused)."""
        require_hand(cards, self.pack)
        key, points, text = self.find(cards)
        return Rank(self.names[key // 100], points, key, text)

    def key(self, cards: Sequence[str]) -> int:
        """The key of :meth:`rank`, from the table; refuses the same."""
        classes, rows, pairs = self.table
        try:
            first, second, third, fourth = cards
            return classes[rows[first][second][pairs[third][fourth]]]
        except (KeyError, IndexError, ValueError):
            require_hand(cards, self.pack)
            raise

    def keys_of(self, hands: Sequence[Sequence[str]]) -> list[int]:
        """The keys of many hands, faster than one by one; refuses the same."""
        classes, rows, pairs = self.table
        try:
            return [classes[rows[one][two][pairs[three][four]]] for one, two, three, four in hands]
        except (KeyError, IndexError, ValueError):
            for hand in hands:
                require_hand(hand, self.pack)
            raise

    def keys_of_numbers(self, cards: bytes) -> list[int]:
        """The keys of many hands, each four bytes: the places of its cards in the pack (:func:`card_numbers`).

        Half as fast again as :meth:`keys_of`. A card that occurs twice in a hand, a number above 31 or a number of
        bytes that is no multiple of four is refused.
        """
        if len(cards) % 4:
            raise WrongCount("a hand is four bytes", step=4)
        classes, rows, pairs = self._numbered
        numbers = iter(cards)
        hands = zip(numbers, numbers, numbers, numbers, strict=True)
        try:
            return [classes[rows[one][two][pairs[three][four]]] for one, two, three, four in hands]
        except IndexError:
            if max(cards) > 31:
                raise CardNotInPack("a card's number is its place in the pack", min=0, max=31) from None
            raise CardAlreadyDealt("a card occurs twice in one hand") from None

    @cached_property
    def keys(self) -> dict[int, int]:
        """Every hand as the sum of its cards' bits (``1 << `` place in the pack) -> key, in the order of
        ``combinations(pack.cards, 4)``."""
        find, bits = self.find, card_bits(self.pack)
        return {sum([bits[card] for card in hand]): find(hand)[0] for hand in combinations(self.pack.cards, 4)}

    @cached_property
    def table(self) -> tuple[list[int], dict[str, dict[str, bytes]], dict[str, dict[str, int]]]:
        """A hand is two pairs of cards. The first leads to a row of bytes, the second to a place in it, and the
        byte there is the class of the hand; the classes' keys come first.

        A card that occurs twice, or is none of the pack, has no entry or a class that does not exist. With 250 KB
        of rows in place of dictionaries of every hand it stays in the processor's cache.
        """
        cards, pairs = card_bits(self.pack), _pairs(self.pack)
        rows, places = self._rows, {pair: place for place, pair in enumerate(pairs)}
        return self._classes, _by_two_cards(cards, rows), _by_two_cards(cards, places)

    @cached_property
    def _classes(self) -> list[int]:
        """The keys that occur, from the lowest to the highest."""
        return sorted(set(self.keys.values()))

    @cached_property
    def _rows(self) -> dict[int, bytes]:
        """Each pair as the sum of its bits -> the classes of the hands that it makes with every pair."""
        place = {key: at for at, key in enumerate(self._classes)}
        classes = {hand: place[key] for hand, key in self.keys.items()}
        pairs = _pairs(self.pack)
        return {
            pair: bytes([_NO_CLASS if pair & other else classes[pair | other] for other in pairs]) for pair in pairs
        }

    @cached_property
    def _numbered(self) -> tuple[list[int], list[list[bytes]], list[list[int]]]:
        """The table with lists in place of dictionaries: a card's place in the pack is its place in the list."""
        classes, rows, pairs = self.table
        deck = self.pack.cards
        none = len(deck) ** 2  # beyond every row
        return (
            classes,
            [[rows[one].get(two, b"") for two in deck] for one in deck],
            [[pairs[one].get(two, none) for two in deck] for one in deck],
        )


@cache
def _pairs(pack: Pack) -> list[int]:
    """Every two cards of the pack, as the sum of their bits."""
    return [one | other for one, other in combinations(card_bits(pack).values(), 2)]


def _by_two_cards(bits: dict[str, int], pairs: dict[int, _Cell]) -> dict[str, dict[str, _Cell]]:
    """What is filed under the bits of a pair, by its cards in either order."""
    return {
        one: {other: pairs[bit | more] for other, more in bits.items() if other != one} for one, bit in bits.items()
    }


@cache
def card_bits(pack: Pack) -> dict[str, int]:
    """Each card of the pack as a single bit."""
    return {card: 1 << at for at, card in enumerate(pack.cards)}


def card_numbers(hands: Sequence[Sequence[str]], pack: Pack = TELL32) -> bytes:
    """Hands of four cards as four bytes each, the places of the cards in the pack; a hand that is none is
    refused."""
    places = {card: at for at, card in enumerate(pack.cards)}
    for hand in hands:
        require_hand(hand, pack)
    return bytes([places[card] for hand in hands for card in hand])


def require_hand(cards: Sequence[str], pack: Pack) -> None:
    """Refuse what is not four different, known cards of the pack."""
    if len(cards) != 4:
        raise WrongCount(f"a hand has four cards, not {len(cards)}", count=4)
    require_cards(cards, pack, "in one hand")


def require_cards(cards: Sequence[str], pack: Pack, where: str) -> None:
    """Refuse cards outside the pack, unknown ones, and one that occurs twice ``where``."""
    require_in_pack(cards, pack)
    if UNKNOWN in cards:
        raise CardUnknown("a card must be named here")
    if len(set(cards)) != len(cards):
        raise CardAlreadyDealt(f"a card occurs twice {where}")


def ferbli_ranking(wild: Iterable[str] = (), grigare: str = "off", grigare_wild: str = "natural") -> Ranking:
    """Ferbli with any set of ``wild`` cards and ``grigare`` ``off``, ``general`` or ``kis_nagy`` ("Variations").

    ``grigare_wild``: in a grigáré a wild card is only itself (``natural``), or any needed card (``substitute``).

    The order of the wild cards is of no account; one that is not of the pack or occurs twice is refused. The last
    rankings asked for are kept with their tables, so asking again costs little.
    """
    cards = tuple(wild)
    require_cards(cards, TELL32, "among the wild ones")
    return _ferbli_ranking(frozenset(cards), grigare, grigare_wild)


@lru_cache(maxsize=16)  # tables may name any wild cards: what is kept has to end somewhere
def _ferbli_ranking(wild: frozenset[str], grigare: str, grigare_wild: str) -> Ranking:
    kinds = FerbliKinds(wild, grigare, grigare_wild)
    in_order = tuple(card for card in TELL32.cards if card in wild)
    return Ranking("ferbli", TELL32, kinds.names, in_order, grigare, kinds, grigare_wild)


def faerbeln_ranking(pack: Pack = TELL32, *, points: bool = True) -> Ranking:
    """Färbeln with the Tell or the Piquet pack, with or without the combination Points."""
    return _faerbeln_ranking(pack, points)


@cache
def _faerbeln_ranking(pack: Pack, points: bool) -> Ranking:
    names = FAERBELN if points else NO_POINTS
    return Ranking("faerbeln", pack, names, (), "off", partial(best_of_faerbeln, pack=pack, points=points))


_PLAIN = ferbli_ranking()


def ranking_of(game: str, cards: Sequence[str]) -> Ranking:
    """The plain ranking of ``game`` for the pack that the cards are of; a game without four-card hands raises
    :class:`UnknownGame`."""
    if game == "ferbli":
        return _PLAIN
    if game == "faerbeln":
        return faerbeln_ranking(TELL32 if all(card in TELL32.members for card in cards) else FRENCH32)
    raise UnknownGame(f"{game!r} does not rank hands", games=["faerbeln", "ferbli"])


def faerbeln_key(cards: Sequence[str], pack: Pack, *, points: bool = True) -> int:
    """The key in Färbeln of cards of ``pack`` (Tell or Piquet), from the table; with or without the combination
    Points."""
    return _faerbeln_ranking(pack, points).key(cards)


def is_forty_one(key: int) -> bool:
    """Whether a key of Färbeln is that of 41 points in one suit, the best four-card flush ("Card
    combinations")."""
    return key == 100 * FAERBELN.index("four-card flush") + 41


def prepare() -> None:
    """Build the plain tables now instead of at the first showdown; processes forked afterwards share them."""
    for ranking in (_PLAIN, faerbeln_ranking(TELL32), faerbeln_ranking(FRENCH32)):
        _ = ranking.table
