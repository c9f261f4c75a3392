"""The money of a hand, kept beside it: added up from the events alone and compared after every line."""

from __future__ import annotations

from random import Random

from engine.kernel.events import Event
from engine.kernel.hand import Hand
from engine.kernel.purse import Move, Why
from engine.kernel.setup import Setup
from engine.registry import start
from tests.engine.chance import Players


class Book:
    """What every seat, the pot, the house and the next hand hold, by the events so far."""

    def __init__(self, hand: Hand) -> None:
        self.setup = hand.setup
        self.total = sum(hand.setup.stacks) + hand.setup.carry
        self.stacks = list(hand.setup.stacks)
        self.bonus = [0] * hand.setup.seats
        self.pot = self.tax = self.carried = 0
        self.enter(hand.opening_events)

    def enter(self, events: tuple[Event, ...]) -> None:
        """Post what happened."""
        for event in events:
            if isinstance(event, Move):
                assert event.amount > 0
                self._post(event)

    def _post(self, move: Move) -> None:
        amount, at = move.amount, move.seat - 1
        if move.why in (Why.STAKE, Why.PENALTY):
            self.stacks[at] -= amount
            self.pot += amount
        elif move.why is Why.CARRY_IN:
            self.pot += amount
        elif move.why is Why.BONUS:  # the house's own money
            self.bonus[at] += amount
            self.stacks[at] += amount
        else:
            self.pot -= amount
            if move.why in (Why.RETURNED, Why.AWARD):
                self.stacks[at] += amount
            self.tax += amount if move.why is Why.TAX else 0
            self.carried += amount if move.why is Why.CARRY_OUT else 0

    def compare(self, hand: Hand) -> None:
        """The hand says the same; nothing is owed, nothing is lost."""
        assert (tuple(self.stacks), self.pot) == (hand.stacks, hand.pot)
        assert min(self.stacks) >= 0 and self.pot >= 0
        assert sum(self.stacks) + self.pot + self.tax + self.carried == self.total + sum(self.bonus)

    def close(self, hand: Hand) -> None:
        """The result is what was posted."""
        assert hand.result and self.pot == 0
        result = hand.result
        assert (result.tax, result.carry_out, result.bonus) == (self.tax, self.carried, tuple(self.bonus))
        assert result.net == tuple(now - then for now, then in zip(self.stacks, self.setup.stacks, strict=True))


def play_out(setup: Setup, random: Random) -> Hand:
    """Play at random to the end, checking the money after every line."""
    hand = start(setup)
    watch_money(hand, Players(random))
    return hand


def watch_money(hand: Hand, players: Players, most: int = 10_000) -> None:
    """Play a fresh hand to its end; more than ``most`` lines fail."""
    book = Book(hand)
    book.compare(hand)
    while not hand.over:
        book.enter(players.play_on(hand))
        book.compare(hand)
        assert len(hand.log) <= most, "the hand does not end"
    book.close(hand)
