"""Stakes, rounds of answers and the limits of a bet, for games in which stakes are raised by explicit amounts.

:class:`StakeState` is what all these games share: raising, giving up, winning alone, main and side pots.
:class:`BettingState` adds rounds of answers (seats in order match the level or fold; what follows when the last
one has answered is the game's) and bets of a free amount.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from engine.actions import Action
from engine.errors import AmountOutOfRange, StackTooShort
from engine.events import MoveKind
from engine.game import Setup
from engine.vying.pots import split_pots
from engine.vying.state import PotRules, VyingState


class BetRules(PotRules, Protocol):
    """What a bet needs of a game's rules."""

    @property
    def step(self) -> int:
        """Every bet is a multiple of this."""

    @property
    def table_max(self) -> int | None:
        """Largest single bet, if the table has one."""


class StakeState(VyingState):
    """Adds stakes that are raised, given up and won to the bare table."""

    __slots__ = ("rules",)

    rules: PotRules

    def __init__(self, setup: Setup, rules: PotRules) -> None:
        super().__init__(setup)
        self.rules = rules

    # -- giving up and winning -------------------------------------------------------------------------------

    def fold(self, action: Action) -> None:
        """``f``: drop out; the money staked stays in the pot and the cards stay hidden."""
        self.active.remove(action.actor)
        self.next_answer()

    def next_answer(self) -> None:
        """The seat has spoken: the game goes on."""
        raise TypeError(f"{type(self).__name__} does not say who speaks next")

    def win_alone(self) -> None:
        """The only seat left gets back what nobody matched and wins the rest, showing nothing."""
        winner = self.active[0]
        self.return_uncalled(winner)
        self.award(winner, self.rules, "uncontested")

    def award_pots(self, keys: Mapping[int, int], ending: str, bonus: tuple[int, ...] = ()) -> None:
        """Pay main pot and side pots, each to the highest of ``keys`` (by active seat) that competes for it, and
        end the hand; of equals the first in play order wins.

        The house taxes what was won in all, once; the winner of the main pot pays first. The result names him.
        """
        top = max(self.active, key=self.stakes.__getitem__)
        self.return_uncalled(top)
        matched = list(self.stakes)
        matched[top] = min(matched[top], max(stake for seat, stake in enumerate(matched) if seat != top))
        pots = split_pots(matched, self.active)
        tax = total = 0
        for pot in pots:
            total += pot.amount
            share = min(self.rules.tax_on(total) - tax, pot.amount)
            tax += share
            winner = max(pot.seats, key=keys.__getitem__)
            self.stacks[winner] += pot.amount - share
            if pot.amount > share:
                self.moves.append((MoveKind.AWARD, winner, pot.amount - share))
        if tax:
            self.moves.append((MoveKind.TAX, 0, tax))
        self.finish(tax, 0, ending, max(pots[0].seats, key=keys.__getitem__), bonus)

    # -- raises ----------------------------------------------------------------------------------------------

    def reach(self) -> int:
        """The largest raise that the poorest active seat could still match."""
        return min([self.stacks[seat] + self.stakes[seat] for seat in self.active]) - self.level

    def raise_by(self, seat: int, amount: int) -> None:
        """Stake what is owed and ``amount`` more, which all others then owe."""
        self.stake(seat, self.level - self.stakes[seat] + amount)
        self.level += amount


class BettingState(StakeState):
    """Adds rounds of answers, and bets of an amount that the player chooses within limits."""

    __slots__ = ("answered", "largest", "last_matcher")

    rules: BetRules

    def __init__(self, setup: Setup, rules: BetRules) -> None:
        super().__init__(setup, rules)
        self.largest = 0  # largest single bet of this deal
        self.answered: Callable[[Any], None] | None = None  # what follows once all have answered
        self.last_matcher = 0  # who was the last to match the bet being answered

    # -- answers ---------------------------------------------------------------------------------------------

    def begin_answers(self, phase: str, bettor: int, answered: Callable[[Any], None]) -> None:
        """The other active seats answer ``bettor`` in play order, then ``answered`` goes on."""
        self.queue = self.after(bettor)[::-1]
        self.answered = answered
        self.last_matcher = 0
        self.enter(phase, self.queue[-1])

    def call(self, action: Action) -> None:
        """``cc N``: pay exactly what is owed."""
        self.take_exactly(action, self.level - self.stakes[action.actor])
        self.last_matcher = action.actor
        self.next_answer()

    def next_answer(self) -> None:
        """The next seat answers; after the last one either a single seat is left and wins, or the game goes
        on."""
        self.queue.pop()
        if self.queue:
            self.turn = self.queue[-1]
        elif len(self.active) == 1 and self.phase != "vizi":
            self.win_alone()
        elif self.answered is not None:
            self.answered(self)

    # -- limits ----------------------------------------------------------------------------------------------

    def limited(self, low: int, high: int) -> tuple[int, int]:
        """``low`` to ``high`` within the table's maximum and what the poorest active seat could still
        match."""
        cap = self.reach()
        if cap < high:
            high = cap
        if self.rules.table_max is not None and self.rules.table_max < high:
            high = self.rules.table_max
        return low, high - high % self.rules.step

    def require_bet(self, action: Action, allowed: tuple[int, int]) -> None:
        """Refuse an amount outside the range or off the step."""
        low, high = allowed
        step = self.rules.step
        if high < low:
            raise self.not_legal(action)
        if not low <= action.amount <= high or action.amount % step:
            raise AmountOutOfRange(
                f"{action.amount} is not from {low} to {high} in steps of {step}",
                min=low,
                max=high,
                step=step,
            )

    def raise_by(self, seat: int, amount: int) -> None:
        """As in every game, and remember the largest."""
        super().raise_by(seat, amount)
        if amount > self.largest:
            self.largest = amount


def require_stacks(stacks: Sequence[int], least: int) -> None:
    """Raise ``StackTooShort`` for the first seat that could not pay ``least``, its forced payments; p1 first."""
    for seat, stack in enumerate(stacks, 1):
        if stack < least:
            raise StackTooShort(f"p{seat} has {stack}, it may have to pay {least}", seat=seat, min=least)
