"""Turn and money of one hand: who acts, which handler answers, how chips move between stacks, pot and house.

Only the modules of this package touch it; the rest of the house holds a :class:`engine.vying.hand.VyingHand`.
Every handler checks everything first and changes things after, so a refusal leaves no trace. Lists indexed by
seat have an unused place 0, seats count from 1 in play order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import sub
from typing import Any, ClassVar, NoReturn, Protocol

from engine.errors import AmountOutOfRange, HandIsOver, NotYourTurn, VerbNotLegal
from engine.kernel.events import MoveKind
from engine.kernel.game import Legal, Result, Setup, Viewer
from engine.kernel.grammar import Action, actor_name

NOBODY = -1
"""The turn when the hand is over."""

# Looking an enumeration's member up takes longer than moving the money.
STAKE, AWARD, TAX = MoveKind.STAKE, MoveKind.AWARD, MoveKind.TAX

Handler = Callable[[Any, Action], None]
Offer = Callable[[Any], Legal | None]


class PotRules(Protocol):
    """What the pot needs of a game's rules."""

    def tax_on(self, pot: int) -> int:
        """House tax on a pot that is won."""


class TurnState:
    """Whose turn it is, what may be said, and what lies in the pot; a game adds its phases."""

    HANDLERS: ClassVar[Mapping[str, Mapping[str, Handler]]]
    """phase -> verb -> handler; a verb that the phase does not list is not legal in it."""
    OFFERS: ClassVar[Mapping[str, Offer]]
    """verb -> what may be done with it now, or None; the same for every phase that lists the verb."""

    __slots__ = (
        "active",
        "carry",
        "level",
        "log",
        "moves",
        "phase",
        "pot",
        "queue",
        "result",
        "seats",
        "stacks",
        "stakes",
        "start_stacks",
        "turn",
        "verbs",
    )

    def __init__(self, setup: Setup) -> None:
        seats = setup.seats
        self.seats = seats
        self.start_stacks = (0, *setup.stacks)
        self.stacks = [0, *setup.stacks]
        self.stakes = [0] * (seats + 1)
        self.level = 0  # what an active seat must have staked to owe nothing
        self.pot = self.carry = setup.carry
        self.active = list(range(1, seats + 1))  # in play order
        self.queue: list[int] = []  # seats still to speak, the next one last
        self.moves: list[tuple[MoveKind, int, int]] = [(MoveKind.CARRY_IN, 0, self.carry)] if self.carry else []
        self.log: list[str] = []
        self.result: Result | None = None
        self.phase = ""
        self.turn = NOBODY
        self.verbs: Mapping[str, Handler] = {}

    # -- turn ------------------------------------------------------------------------------------------------

    def enter(self, phase: str, turn: int) -> None:
        """Go to ``phase`` with ``turn`` to act."""
        self.phase = phase
        self.turn = turn
        self.verbs = self.HANDLERS[phase]

    def pass_on(self) -> bool:
        """Give the turn to the next seat of the queue; whether there is one."""
        self.queue.pop()
        if not self.queue:
            return False
        self.turn = self.queue[-1]
        return True

    def refuse_actor(self, action: Action) -> NoReturn:
        """The refusal of an actor whose turn it is not."""
        if self.turn == NOBODY:
            raise HandIsOver(f"the hand is over, {action.text!r} comes too late")
        raise NotYourTurn(
            f"{actor_name(self.turn)} is to act, not {actor_name(action.actor)}", actor=actor_name(self.turn)
        )

    def not_legal(self, action: Action) -> VerbNotLegal:
        """The refusal of a verb that is not on offer."""
        offers = [offer.verb for offer in self.legal()]
        return VerbNotLegal(f"{action.text!r} is not legal now", phase=self.phase, verbs=offers)

    def legal(self) -> list[Legal]:
        """Every kind of action that would be accepted now."""
        offers = (self.OFFERS[verb](self) for verb in self.verbs)
        return [offer for offer in offers if offer is not None]

    def legal_for(self, viewer: Viewer) -> list[Legal]:
        """:meth:`legal`, as far as ``viewer`` may know it."""
        return self.legal()

    def offer(self, verb: str, **what: Any) -> Legal:
        """A legal action of the seat (or dealer) whose turn it is; ``what`` as in :class:`Legal`."""
        return Legal(actor_name(self.turn), verb, **what)

    def after(self, seat: int) -> list[int]:
        """The other active seats, in play order after ``seat``."""
        at = self.active.index(seat)
        return self.active[at + 1 :] + self.active[:at]

    # -- money -----------------------------------------------------------------------------------------------

    def stake(self, seat: int, amount: int) -> None:
        """Move ``amount`` from a stack to the pot."""
        self.stacks[seat] -= amount
        self.stakes[seat] += amount
        self.pot += amount
        self.moves.append((STAKE, seat, amount))

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
        uncalled = self.stakes[winner] - others
        if uncalled > 0:
            self.pot -= uncalled
            self.stacks[winner] += uncalled
            self.moves.append((MoveKind.RETURNED, winner, uncalled))

    def award(self, winner: int, rules: PotRules, ending: str, bonus: tuple[int, ...] = ()) -> None:
        """Pay the pot to ``winner``, less the house's tax, and end the hand."""
        tax = rules.tax_on(self.pot)
        self.stacks[winner] += self.pot - tax
        if self.pot > tax:
            self.moves.append((AWARD, winner, self.pot - tax))
        if tax:
            self.moves.append((TAX, 0, tax))
        self.finish(tax, 0, ending, winner, bonus)

    def carry_on(self, ending: str) -> None:
        """Leave the pot on the table for the next hand and end this one."""
        carried = self.pot
        self.moves.append((MoveKind.CARRY_OUT, 0, carried))
        self.finish(0, carried, ending, 0)

    def finish(self, tax: int, carry_out: int, ending: str, winner: int, bonus: tuple[int, ...] = ()) -> None:
        """Close the hand: the pot is empty and the result stands. ``bonus``: what the house pays each seat, if
        it pays any."""
        self.pot = 0
        for seat, amount in enumerate(bonus, 1):
            if amount:
                self.stacks[seat] += amount
                self.moves.append((MoveKind.BONUS, seat, amount))
        net = tuple(map(sub, self.stacks[1:], self.start_stacks[1:]))
        self.result = Result(net, tax, bonus or (0,) * self.seats, carry_out, ending, winner, self.series(ending))
        self.enter("over", NOBODY)

    def series(self, ending: str) -> Mapping[str, int]:
        """What the table's next hand must be told of this one."""
        return {}
