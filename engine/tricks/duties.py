"""Hands kept as masks, and the duties that say which of their cards may be played.

Duties are sets of cards in the order of their weight, such as "the suit that was led, else a trump that heads the
trick": a seat plays a card of the first of them that it holds any card of, and any card where it holds none.

In physical mode the house may not know the cards (``??``). A card may then be played unless all that is known rules it
out: the named cards of the hand, those that lie elsewhere, and what each seat has shown to be without. All of this is
weighed together: a line stands if, and only if, some deal of the unknown cards makes the whole log legal.
"""

from __future__ import annotations

from typing import Any, ClassVar

from engine.errors import CardMismatch, VerbNotLegal
from engine.kernel.cards import UNKNOWN
from engine.kernel.grammar import Action
from engine.kernel.setup import Setup
from engine.tricks.masks import Masks, can_be_dealt
from engine.tricks.state import TrickState

Duties = tuple[int, ...]


def before(duties: Duties, bit: int) -> int:
    """The cards of which a hand must hold none if it may play this one."""
    found = 0
    for duty in duties:
        if bit & duty:
            break
        found |= duty
    return found


class DutyState(TrickState):
    """Adds the hands as masks, and what hands with unknown cards have shown to be without."""

    MASKS: ClassVar[Masks]
    """The masks of the pack."""

    __slots__ = ("blind", "duties", "gone", "hands", "lacks")

    FRESH: ClassVar[frozenset[str]] = TrickState.FRESH | {"hands"}

    def __init__(self, setup: Setup, rules: Any) -> None:
        super().__init__(setup, rules)
        places = setup.seats + 1
        self.hands = [0] * places  # the cards of each hand that are known
        self.duties: Duties = ()  # of the seat to play
        self.gone = 0  # cards that have been played
        self.blind = False  # some card was dealt unknown
        self.lacks: tuple[int, ...] = (0,) * places  # what no unknown card of the seat can be

    def take_up(self) -> None:
        """The hands are dealt."""
        self.hands = list(map(self.MASKS.mask, self.cards))
        self.blind = self.deck is None and any(UNKNOWN in cards for cards in self.cards)

    # -- playing a card ----------------------------------------------------------------------------------------------

    def leave_hand(self, action: Action) -> int:
        """Take the card that a seat plays to a trick out of its hand; returns its bit.

        Raises a ``CardError`` if the seat cannot hold it, ``VerbNotLegal`` if it may not play it.
        """
        seat, card = action.actor, action.cards[0]
        bit = self.MASKS.bits.get(card, 0)
        hand = self.hands[seat]
        if self.blind or not bit & hand:
            self.require_possible(action, bit)
        else:
            for duty in self.duties:
                if hand & duty:
                    if not bit & duty:
                        raise self.not_playable(action)
                    break
        self.put_down(seat, card, bit)
        return bit

    def put_down(self, seat: int, card: str, bit: int) -> None:
        """The card leaves the hand."""
        held = self.cards[seat]
        if self.hands[seat] & bit:
            place = held.index(card)
            self.hands[seat] ^= bit
        else:
            place = held.index(UNKNOWN)
            self.known.add(card)
        self.cards[seat] = held[:place] + held[place + 1 :]
        self.gone |= bit

    def playable(self, seat: int) -> int:
        """The cards that the seat may play to the trick; of a hand that is not known, those that it may hold."""
        held = self.hands[seat]
        if self.blind:
            candidates = held | self.free() & ~self.lacks[seat]
            bits = map(self.MASKS.bits.__getitem__, self.MASKS.cards(candidates))
            return sum(bit for bit in bits if self.may_lie(seat, bit, self.lacks_after(seat, bit)))
        return next((held & duty for duty in self.duties if held & duty), held)

    def not_playable(self, action: Action) -> VerbNotLegal:
        """The refusal of a card that is held. It goes to the sender of the line, so it names no other card."""
        return VerbNotLegal(f"p{action.actor} may not play {action.cards[0]} now", phase=self.phase, verbs=["pl"])

    # -- cards that are not known ------------------------------------------------------------------------------------

    def require_possible(self, action: Action, bit: int) -> None:
        """:meth:`require_playable` of a card that is not known to be held, or among hands that are not all known;
        what the play reveals of them is kept."""
        self.require_held(action.actor, action.cards[0], bit)
        lacks = self.lacks_after(action.actor, bit)
        if not self.may_lie(action.actor, bit, lacks):
            raise self.not_playable(action)
        self.lacks = lacks

    def require_held(self, seat: int, card: str, bit: int) -> None:
        """Raise a ``CardError`` for a card that the seat cannot hold."""
        self.place_in_hand(seat, card)
        if not self.may_lie(seat, bit, self.lacks):
            raise CardMismatch(f"p{seat} cannot hold {card}")

    def lacks_after(self, seat: int, bit: int) -> tuple[int, ...]:
        """What the seats are without if this one may play this card."""
        return self.also_without({seat: before(self.duties, bit)})

    def also_without(self, cards: dict[int, int]) -> tuple[int, ...]:
        """:attr:`lacks` with some more of them, by seat."""
        return tuple(lack | cards.get(seat, 0) for seat, lack in enumerate(self.lacks))

    def free(self) -> int:
        """The cards that lie nobody knows where."""
        known = self.gone
        for held in self.hands:
            known |= held
        return self.MASKS.every & ~known

    def may_lie(self, seat: int, cards: int, lacks: tuple[int, ...]) -> bool:
        """Whether the seat may hold all of these cards (0: any) while all seats lack what ``lacks`` says."""
        if any(held & lack for held, lack in zip(self.hands, lacks, strict=True)):
            return False
        counts = [cards.count(UNKNOWN) for cards in self.cards]
        free = self.free()
        unknown = cards & ~self.hands[seat]
        if unknown:
            counts[seat] -= unknown.bit_count()
            if counts[seat] < 0 or unknown & ~(free & ~lacks[seat]):
                return False
            free &= ~unknown
        return self.can_lie(counts, free, lacks)

    def can_lie(self, counts: list[int], free: int, lacks: tuple[int, ...]) -> bool:
        """Whether the free cards can lie so that each seat, by number, holds so many of them and none that it lacks."""
        return can_be_dealt(counts, free, lacks)
