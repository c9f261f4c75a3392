"""Tricks in which suits are followed: who wins them, with or without trumps, and what each seat has taken.

A game says what a seat that does not lead must play (:meth:`FollowState.to_follow`), when the play is over before the
last card (:meth:`FollowState.goes_on`), and what it all comes to (:meth:`FollowState.played_out`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.kernel.grammar import Action
from engine.kernel.legal import Legal, Rows
from engine.kernel.setup import Setup
from engine.tricks.duties import Duties, DutyState


class FollowState(DutyState):
    """Adds the trick as it stands, and the tricks that were taken."""

    HIGHER: ClassVar[Mapping[str, int]]
    """Of each card, those of its suit that rank above it."""

    __slots__ = ("beating", "cleared", "lead", "suit", "taken", "trump", "winners", "winning")

    FRESH: ClassVar[frozenset[str]] = DutyState.FRESH | {"taken", "winners"}

    def __init__(self, setup: Setup, rules: Any) -> None:
        super().__init__(setup, rules)
        self.trump = 0  # the trumps
        self.lead: Duties = ()  # of the seat that leads
        self.suit = 0  # the suit that was led
        self.beating = 0  # what would win the trick now
        self.winning = 0  # the seat that wins it as it stands
        self.cleared = 0  # the cards of all tricks that are over
        self.taken = [0] * (setup.seats + 1)  # the cards in each seat's tricks
        self.winners: list[int] = []  # of each trick

    def tricks_of(self, seat: int) -> int:
        """How many tricks the seat has taken."""
        return self.winners.count(seat)

    def play(self, action: Action) -> None:
        """``pl CARD`` to a trick; after the last seat the winner leads."""
        bit = self.leave_hand(action)
        seat, card = action.actor, action.cards[0]
        trick = self.trick
        if not trick:
            self.suit = self.MASKS.suit_of[card]
            self.beating = self.suit
        if bit & self.beating:
            self.winning = seat
            self.beating = self.HIGHER[card] if bit & self.trump else self.HIGHER[card] | self.trump
        trick.append((seat, card))
        if len(trick) == self.seats:
            self.take_trick()
            return
        self.duties = self.to_follow()
        self.turn = seat % self.seats + 1

    def take_trick(self) -> None:
        """The trick lies before its winner, who leads to the next one, if there is one."""
        winner = self.winning
        self.taken[winner] |= self.gone ^ self.cleared
        self.cleared = self.gone
        self.winners.append(winner)
        self.trick.clear()
        if self.goes_on():
            self.duties = self.lead
            self.turn = winner
        else:
            self.played_out()

    def to_follow(self) -> Duties:
        """The duties of a seat that does not lead: to follow suit, and no other."""
        return (self.suit,)

    def goes_on(self) -> bool:
        """Whether another trick is played after the one that was taken just now: as long as there are cards."""
        return bool(self.cards[self.winning])

    def played_out(self) -> None:
        """The play is over."""
        raise TypeError(f"{type(self).__name__} has no scores")

    def offer_play(self) -> Legal:
        """A card to the trick."""
        return self.offer("pl", Rows(self.MASKS.cards(self.playable(self.turn))))
