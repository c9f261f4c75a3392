"""What every vying game has: seats that are still in, what each has staked, and a pot that is won or carried on."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Protocol

from engine.errors import AmountOutOfRange
from engine.kernel.grammar import Action
from engine.kernel.legal import Legal, Range
from engine.kernel.purse import POT, Why
from engine.kernel.setup import Setup
from engine.kernel.zones import CardState

# Looking an enumeration's member up takes longer than moving the money.
_STAKE = Why.STAKE


class PotRules(Protocol):
    """What the pot needs of a game's rules."""

    def tax_on(self, pot: int) -> int:
        """House tax on a pot that is won."""


class PotState(CardState):
    """Who is in, who speaks next, and what lies in the pot."""

    __slots__ = ("active", "level", "queue", "stakes")

    FRESH: ClassVar[frozenset[str]] = CardState.FRESH | {"active", "queue", "stakes"}
    AUTOMATIC: ClassVar[tuple[str, ...]] = ("k", "st", "f", "cu")
    """Check, go on or stand where that is possible, else fold; where both are ruled out the least amount or the first
    cards. Laying one's hand open (``cu``) costs nothing, so it goes before a bet."""
    NOT_AN_ACT: ClassVar[frozenset[str]] = frozenset({"lk"})

    def __init__(self, setup: Setup, rules: Any) -> None:
        CardState.__init__(self, setup, rules)
        self.stakes = [0] * (self.seats + 1)
        self.level = 0  # what an active seat must have staked to owe nothing
        self.active = list(range(1, self.seats + 1))  # in play order
        self.queue: list[int] = []  # seats still to speak, the next one last

    # -- turn --------------------------------------------------------------------------------------------------------

    def pass_on(self) -> bool:
        """Give the turn to the next seat of the queue; whether there is one."""
        self.queue.pop()
        if not self.queue:
            return False
        self.turn = self.queue[-1]
        return True

    def after(self, seat: int) -> list[int]:
        """The other active seats, in play order after ``seat``."""
        at = self.active.index(seat)
        return self.active[at + 1 :] + self.active[:at]

    # -- money -------------------------------------------------------------------------------------------------------

    def stake(self, seat: int, amount: int) -> None:
        """Move ``amount`` from a stack to the pot."""
        self.stacks[seat] -= amount
        self.stakes[seat] += amount
        self.pot += amount
        self.moves.append((seat, POT, amount, _STAKE))

    def staked(self) -> tuple[int, ...]:
        """What each seat has put into the pot by its own actions, p1 first."""
        return tuple(self.stakes[1:])

    def owed(self, seat: int) -> int:
        """What ``seat`` must pay to be level."""
        return self.level - self.stakes[seat]

    def take_exactly(self, action: Action, amount: int) -> None:
        """Stake ``amount``, which the action must name."""
        if action.amount != amount:
            self.refuse_amount(action, amount)
        self.stake(action.actor, amount)

    def refuse_amount(self, action: Action, owed: int) -> NoReturn:
        """The refusal of another amount than the one owed."""
        raise AmountOutOfRange(f"p{action.actor} owes {owed}, not {action.amount}", min=owed, max=owed, step=owed)

    def return_uncalled(self, winner: int) -> None:
        """Give back what the last seat left has staked beyond every other seat: nobody matched it, it is not
        won."""
        others = max(stake for seat, stake in enumerate(self.stakes) if seat != winner)
        self.from_pot(winner, max(self.stakes[winner] - others, 0), Why.RETURNED)

    def award(self, winner: int, rules: PotRules, ending: str, bonus: tuple[int, ...] = ()) -> None:
        """Pay the pot to ``winner``, less the house's tax, and end the hand."""
        tax = rules.tax_on(self.pot)
        self.from_pot(winner, self.pot - tax, Why.AWARD)
        self.to_house(tax)
        self.finish(ending, winner, tax=tax, bonus=bonus)

    def carry_on(self, ending: str) -> None:
        """Leave the pot on the table for the next hand and end this one."""
        self.finish(ending, 0, carry_out=self.carry_pot())

    # -- what may be done --------------------------------------------------------------------------------------------

    def offer_owed(self, verb: str = "cc") -> Legal:
        """The seat pays exactly what it owes."""
        owed = self.owed(self.turn)
        return self.offer(verb, Range(owed, owed, owed))
