"""What changing cards is worth in Ramsli: every draw counted, none sampled.

A hand of four lays some cards away and draws as many; four of them bring a fifth card, and eins auf is one card more
("Further Deals"): of five cards the weakest goes. Which cards are laid away is not asked: the weakest are. A card is
*stronger* the more cards it beats: a trump than any other card, then by rank; a hand is *better* by its strongest card
that differs. Cards of plain suits count alike: whose suit is led nobody knows yet.

Draws are not enumerated card by card: cards of the same strength are counted together.

>>> odds = draw_odds(("Ab", "Kl", "8h", "7a"), "9b", 2)
>>> odds.away, odds.total, odds.trumps
(('7a', '8h'), 351, (0, 210, 126, 15, 0))
>>> odds.better, odds.equal, odds.share
(346, 4, '346/351')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

from engine.errors import CardAlreadyDealt, CardUnknown, OptionOutOfRange, WrongCount
from engine.kernel.cards import TELL32, UNKNOWN, require_in_pack
from engine.tricks.ramsli_cards import HAND, NEW_HAND
from engine.vying.equity import reduced

UP = "up"
"""Eins auf: one card is drawn face up, and one of five laid away."""
DRAWS: tuple[int | str, ...] = (1, 2, 3, HAND, UP)
RANKS = TELL32.ranks[::-1]


@dataclass(frozen=True, slots=True)
class DrawOdds:
    """Of ``total`` draws, all equally likely: how many give a hand of 0, 1, ... 4 ``trumps``, and how many one that is
    ``better`` than the hand before, or ``equal`` to it. ``away``: what was laid away first, the weakest card first."""

    away: tuple[str, ...]
    total: int
    trumps: tuple[int, ...]
    better: int
    equal: int

    @property
    def share(self) -> str:
        """Better hands out of all as a reduced fraction, such as ``3/7``, or ``0`` or ``1``."""
        return reduced(self.better, self.total)


def strength(card: str, trump: str) -> int:
    """From 0, the seven of a plain suit, to 15, the ace of trumps."""
    return RANKS.index(card[0]) + (len(RANKS) if card[1] == trump else 0)


def draw_odds(hand: Sequence[str], trump_card: str, draw: int | str, *, dead: Sequence[str] = ()) -> DrawOdds:
    """Count the draws of so many cards (1 to 4, or :data:`UP`) by a hand of four.

    ``trump_card`` lies there for trump, or is in the hand; ``dead`` cards are known to be elsewhere. All other cards
    are in the pack or in hands that nobody knows, and as likely to be drawn as each other. Refused: no hand of four,
    cards that occur twice, other draws, and fewer cards left than are drawn.
    """
    _require_cards(hand, trump_card, dead)
    if draw not in DRAWS:
        raise OptionOutOfRange(f"{draw!r} cards are not drawn", choices=list(DRAWS))
    trump = trump_card[1]
    gone = {*hand, *dead, trump_card}
    rest = [strength(card, trump) for card in TELL32.cards if card not in gone]
    count = 0 if isinstance(draw, str) else draw
    away = tuple(sorted(hand, key=lambda card: (strength(card, trump), TELL32.cards.index(card)))[:count])
    kept = [strength(card, trump) for card in hand if card not in away]
    taken = 1 if draw == UP else NEW_HAND if count == HAND else count
    if len(rest) < taken:
        raise WrongCount("too few cards are left to be drawn", min=taken)
    before = sorted((strength(card, trump) for card in hand), reverse=True)
    trumps, compared = [0] * (HAND + 1), Counter[int]()
    for drawn, ways in _draws(sorted(Counter(rest).items()), taken):
        after = sorted([*kept, *drawn], reverse=True)[:HAND]
        trumps[sum(one >= len(RANKS) for one in after)] += ways
        compared[(after > before) - (after < before)] += ways
    return DrawOdds(away, comb(len(rest), taken), tuple(trumps), compared[1], compared[0])


def _draws(kinds: Sequence[tuple[int, int]], count: int) -> Iterator[tuple[list[int], int]]:
    """Every draw of so many cards by strengths, with the number of ways to draw it; ``kinds``: how many cards there are
    of each strength."""
    if not count:
        yield [], 1
    elif kinds:
        (one, there), *others = kinds
        for taken in range(min(there, count) + 1):
            for drawn, ways in _draws(others, count - taken):
                yield [one] * taken + drawn, ways * comb(there, taken)


def _require_cards(hand: Sequence[str], trump_card: str, dead: Sequence[str]) -> None:
    named = [*hand, *dead, *([] if trump_card in hand else [trump_card])]
    require_in_pack(named, TELL32)
    if UNKNOWN in named:
        raise CardUnknown("every card must be named")
    if len(hand) != HAND:
        raise WrongCount(f"a hand has {HAND} cards, not {len(hand)}", count=HAND)
    if len(set(named)) < len(named):
        twice = next(card for card in named if named.count(card) > 1)
        raise CardAlreadyDealt(f"{twice} occurs twice", card=twice)
