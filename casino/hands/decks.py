"""The cards of hands that are over in the order in which they came off the pack, for statistics of the deal.

An electronic hand has the whole deck, whatever of it was dealt. A pack in the dealer's hands shows only what was dealt;
of that, only the first cards are taken, those that are dealt before any seat may act, and only where all of them were
known as they fell: which cards come later, and which become known later, depends on how good they are.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from casino.core.errors import SealedUnreadable
from casino.hands import deals, face_down
from casino.hands.models import Mode
from casino.hands.snapshot import HandSnapshot
from engine.errors import EngineError
from engine.kernel.cards import PACKS, UNKNOWN, Pack
from engine.kernel.grammar import Role
from engine.registry import rules_version
from engine.vying.frequencies import HAND, WATCHED, Frequencies, frequencies_of
from engine.vying.ranking import Ranking

__all__ = ["HAND", "Dealt", "Frequencies", "Kinds", "dealt", "kinds"]


class Dealt(NamedTuple):
    """The first cards off a pack as places in its printed order, from 0; `size`: cards of the whole pack. No places
    where they are not all known, and `problem` where that is an error."""

    pack: str
    size: int
    places: tuple[int, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Kinds:
    """How a game ranks hands of four cards, with the exact frequencies of its kinds."""

    frequencies: Frequencies
    ranking: Ranking

    def of(self, hands: bytes) -> list[int]:
        """The keys of hands, each four bytes: places of its cards in the pack."""
        return self.ranking.keys_of_numbers(hands)

    def watched(self, key: int) -> list[str]:
        """Names of what is watched by itself that a hand of this key is."""
        return [name for name, is_one in WATCHED.get(self.ranking.game, {}).items() if is_one(key)]


def kinds(game: str, pack: str) -> Kinds | None:
    """Of a game with a pack, by their names; None where it ranks no hands of four cards."""
    found = frequencies_of(game, PACKS[pack].cards)
    return None if found is None else Kinds(found[1], found[0])


def dealt(hand: HandSnapshot, lines: list[str]) -> Dealt:
    """The first cards of a hand that is over; `lines` as `hands_log` stores them."""
    pack = rules_version(hand.rules).pack_for(hand.options)
    try:
        cards = deals.deck(hand) if hand.mode == Mode.ELECTRONIC else _first_cards(hand, lines)
    except face_down.CardsAltered as altered:
        return Dealt(pack.name, len(pack.cards), problem=altered.problem)
    except SealedUnreadable:
        return Dealt(pack.name, len(pack.cards), problem="the sealed seed does not open")
    except EngineError as error:
        return Dealt(pack.name, len(pack.cards), problem=error.code)
    order = _places(pack)
    places = () if not cards or UNKNOWN in cards else tuple(order[card] for card in cards)
    return Dealt(pack.name, len(pack.cards), places)


def _first_cards(hand: HandSnapshot, lines: list[str]) -> tuple[str, ...]:
    """Cards of the first lines that deal, which follow each other."""
    grammar, cards = rules_version(hand.rules).grammar, list[str]()
    for number, line in enumerate(lines, start=1):
        action = grammar.parse(face_down.seen(line))
        if grammar.role(action) is not Role.DEALT:
            if cards:
                break
            continue
        cards += grammar.parse(face_down.log(hand, [line], number)[0]).cards
    return tuple(cards)


@cache
def _places(pack: Pack) -> dict[str, int]:
    return {card: place for place, card in enumerate(pack.cards)}
