"""Hands that are played card by card, and the cards that an unknown hand may still hold.

In physical mode the house may not know the cards (``??``). A line is then legal where nothing that is known rules it
out: an unknown card may be any card that lies nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import ClassVar

from engine.errors import CardAlreadyDealt, CardMismatch, CardUnknown
from engine.kernel.cards import UNKNOWN, Pack, require_in_pack
from engine.kernel.events import Event, Played
from engine.kernel.grammar import DEALER, Action, Argument
from engine.kernel.legal import Legal, Rows
from engine.kernel.setup import Viewer
from engine.kernel.zones import CardState


@cache
def order_of(pack: Pack) -> Mapping[str, int]:
    """Card -> its place in the printed order of the pack: the fixed order of cards."""
    return {card: place for place, card in enumerate(pack.cards)}


class HandsState(CardState):
    """``cards`` are those still in hand."""

    BY_PERSON: ClassVar[bool] = True

    __slots__ = ()

    # -- cards out of the hand ---------------------------------------------------------------------------------------

    def place_in_hand(self, seat: int, card: str) -> int:
        """Where the card lies in the seat's hand, the first unknown card standing for one that lies nowhere else.

        Raises a ``CardError`` where the seat cannot hold it. Nothing changes.
        """
        held = self.cards[seat]
        if card == UNKNOWN:
            raise CardUnknown("a card that is played must be named")
        if card in held:
            return held.index(card)
        require_in_pack((card,), self.pack)
        if UNKNOWN not in held:
            # Whether another hand holds it is not for the seat to know.
            raise CardMismatch(f"p{seat} does not hold {card}")
        if card in self.known:
            raise CardAlreadyDealt(f"{card} lies somewhere already", card=card)
        return held.index(UNKNOWN)

    def drop(self, seat: int, place: int, card: str) -> None:
        """The card leaves the hand from this place."""
        held = self.cards[seat]
        if held[place] == UNKNOWN and card != UNKNOWN:
            self.known.add(card)
        self.cards[seat] = held[:place] + held[place + 1 :]

    def may_hold(self, seat: int, wanted: Callable[[str], bool]) -> bool:
        """Whether some card of the seat's hand is, or may be, a wanted one."""
        return any(wanted(card) for card in self.candidates(seat))

    def candidates(self, seat: int) -> Iterable[str]:
        """The cards that the seat holds or may hold, for all that is known; in no particular order."""
        held = self.cards[seat]
        if UNKNOWN not in held:
            return held
        free = (card for card in self.pack.cards if card not in self.known)
        return (*(card for card in held if card != UNKNOWN), *free)

    def in_fixed_order(self, cards: Iterable[str]) -> tuple[str, ...]:
        """Cards in the printed order of the pack."""
        return tuple(sorted(cards, key=order_of(self.pack).__getitem__))

    # -- who may know what -------------------------------------------------------------------------------------------

    def laid_open(self, seat: int) -> list[str]:
        """The cards of a hand that is shown to others: in fixed order, unknown ones last."""
        held = self.cards[seat]
        known = self.in_fixed_order(card for card in held if card != UNKNOWN)
        return [*known, *(UNKNOWN,) * held.count(UNKNOWN)]

    def dealt_to(self, seat: int) -> tuple[str, ...]:
        """All cards dealt to the seat, played ones included."""
        dealt = (self.GRAMMAR.parse(line) for line in self.log if line.startswith("d dh "))
        return tuple(card for action in dealt if action.target == seat for card in action.cards)

    def events(self, action: Action) -> list[Event]:
        """A card that is played lies face up."""
        if action.verb == "pl":
            return [Played(action.actor, action.cards[0])]
        return super().events(action)

    # -- what may be done --------------------------------------------------------------------------------------------

    def sees_choice(self, declared: Argument, viewer: Viewer) -> bool:
        """Not if the house does not know the seat's hand: then the choice would show which cards it knows elsewhere."""
        return super().sees_choice(declared, viewer) and UNKNOWN not in self.cards[self.turn]

    def offer_cards(self, verb: str, cards: Iterable[str]) -> Legal:
        """One of these cards; where the hand is not known, those that it may hold."""
        return self.offer(verb, Rows(self.in_fixed_order(cards)))

    def automatic(self) -> tuple[str, str | None]:
        """As in every game; a seat with an unknown hand names the card itself."""
        verb, line = super().automatic()
        if self.turn != DEALER and self.GRAMMAR.verb(self.turn, verb).cards and UNKNOWN in self.cards[self.turn]:
            return verb, None
        return verb, line
