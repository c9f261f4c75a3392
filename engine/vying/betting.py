"""Stakes, rounds of answers and the limits of a bet, for games in which stakes are raised by explicit amounts.

:class:`StakeState` is what all these games share: raising, giving up, winning alone, main and side pots.
:class:`BettingState` adds rounds of answers (seats in order match the level or fold; what follows when the last
one has answered is the game's) and bets of a free amount.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from engine.errors import AmountOutOfRange
from engine.kernel.grammar import Action
from engine.kernel.purse import Why
from engine.kernel.setup import Setup
from engine.vying.pots import split_pots, tax_shares
from engine.vying.state import VyingState
from engine.vying.turns import PotRules


class StakeRules(PotRules, Protocol):
    """What a stake needs of a game's rules."""

    @property
    def short_stack(self) -> str:
        """``cap_bet`` or ``side_pot``."""


class BetRules(StakeRules, Protocol):
    """What a bet needs of a game's rules."""

    @property
    def table_max(self) -> int | None:
        """Largest single bet, if the table has one."""


class StakeState(VyingState):
    """Adds stakes that are raised, given up and won to the bare table."""

    __slots__ = ("table_stakes",)

    rules: StakeRules

    def __init__(self, setup: Setup, rules: StakeRules) -> None:
        VyingState.__init__(self, setup, rules)
        self.table_stakes = rules.short_stack == "side_pot"

    # -- who is asked, and what it owes ----------------------------------------------------------------------

    def decides(self, seat: int) -> bool:
        """With side pots, a seat without chips is not asked, nor one that owes nothing and has nobody to bet
        with."""
        if not self.table_stakes:
            return True
        return self.stacks[seat] > 0 and (self.owed(seat) > 0 or self.has_opponent(seat))

    def has_opponent(self, seat: int) -> bool:
        """Whether another active seat has chips left to answer a raise with."""
        return any(self.stacks[other] for other in self.active if other != seat)

    def owed(self, seat: int) -> int:
        """What ``seat`` must pay to stay in: with side pots, at most all it has left."""
        owed = self.level - self.stakes[seat]
        return min(owed, self.stacks[seat]) if self.table_stakes else owed

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
        """Pay main pot and side pots, each to the highest of ``keys`` (by seat, in play order) that competes for
        it, and end the hand; of equals the first in play order wins.

        Money that is no seat's stake, such as a cukassza, belongs to the main pot. The house taxes what was won in
        all, once; the winner of the main pot pays first. The result names that seat.
        """
        top = max(keys, key=self.stakes.__getitem__)
        self.return_uncalled(top)
        matched = list(self.stakes)
        matched[top] = min(matched[top], max(stake for seat, stake in enumerate(matched) if seat != top))
        pots = split_pots(matched, list(keys))
        amounts = [pot.amount for pot in pots]
        amounts[0] += self.pot - sum(matched)
        shares = tax_shares(amounts, self.rules.tax_on)
        tax = sum(shares)
        for pot, amount, share in zip(pots, amounts, shares, strict=True):
            winner = max(pot.seats, key=keys.__getitem__)
            self.from_pot(winner, amount - share, Why.AWARD)
        self.to_house(tax)
        self.finish(ending, max(pots[0].seats, key=keys.__getitem__), tax=tax, bonus=bonus)

    # -- raises ----------------------------------------------------------------------------------------------

    def reach(self) -> int:
        """The largest raise of the seat whose turn it is: what the poorest active seat could still match; with side
        pots what it has itself beyond what it owes, if another seat has chips to answer with."""
        if self.table_stakes:
            seat = self.turn
            return self.stacks[seat] + self.stakes[seat] - self.level if self.has_opponent(seat) else 0
        # All that a seat has lost so far it has staked, so it could stake in all what it began with.
        return min(map(self.start_stacks.__getitem__, self.active)) - self.level

    def raise_by(self, seat: int, amount: int) -> None:
        """Stake what is owed and ``amount`` more, which all others then owe."""
        self.stake(seat, self.level - self.stakes[seat] + amount)
        self.level += amount


class BettingState(StakeState):
    """Adds rounds of answers, and bets of an amount that the player chooses within limits."""

    __slots__ = ("answered", "bet_step", "largest", "matchers")

    FRESH: ClassVar[frozenset[str]] = StakeState.FRESH | {"matchers"}

    FIRST_ROUND: ClassVar[tuple[str, ...]] = ()
    """Phases in which the last seat left does not win."""

    rules: BetRules

    def __init__(self, setup: Setup, rules: BetRules) -> None:
        StakeState.__init__(self, setup, rules)
        self.bet_step = 1  # every bet is a multiple of this
        self.largest = 0  # largest single bet of this deal
        self.answered: Callable[[Any], None] | None = None  # what follows once all have answered
        self.matchers: list[int] = []  # who has matched the bet being answered, the last one last

    # -- answers ---------------------------------------------------------------------------------------------

    def begin_answers(self, phase: str, order: list[int], answered: Callable[[Any], None]) -> None:
        """The seats of ``order`` answer one after another, those without chips excepted; then ``answered`` goes
        on."""
        self.queue = order[::-1]
        if self.table_stakes:
            self.queue = [seat for seat in self.queue if self.stacks[seat]]
        self.answered = answered
        self.matchers = []
        self.enter(phase, self.queue[-1])

    def call(self, action: Action) -> None:
        """``cc N``: pay exactly what is owed."""
        seat = action.actor
        owed = self.owed(seat) if self.table_stakes else self.level - self.stakes[seat]
        if action.amount != owed:
            self.refuse_amount(action, owed)
        self.stake(seat, owed)
        self.matchers.append(seat)
        self.next_answer()

    def next_answer(self) -> None:
        """The next seat answers; after the last one either a single seat is left and wins, or the game goes
        on."""
        if self.pass_on():
            return
        if len(self.active) == 1 and self.phase not in self.FIRST_ROUND:
            self.win_alone()
        elif self.answered is not None:
            self.answered(self)

    # -- limits ----------------------------------------------------------------------------------------------

    def limited(self, low: int, high: int | None) -> tuple[int, int]:
        """``low`` to ``high`` (None: no limit) within the table's maximum and what the stacks allow."""
        cap = self.reach()
        if high is not None and high < cap:
            cap = high
        if self.rules.table_max is not None and self.rules.table_max < cap:
            cap = self.rules.table_max
        return low, cap - cap % self.bet_step

    def require_bet(self, action: Action, allowed: tuple[int, int]) -> None:
        """Refuse an amount outside the range or off the step."""
        low, high = allowed
        step = self.bet_step
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
