"""The second round of Ferbli: besszer and charging ("Second round of betting")."""

from __future__ import annotations

from typing import ClassVar

from engine.errors import WrongCount, WrongTarget
from engine.kernel.grammar import Action
from engine.kernel.legal import Legal, Range, Target
from engine.kernel.setup import Setup
from engine.vying.ferbli_first import FirstRound
from engine.vying.ferbli_rules import FerbliRules
from engine.vying.state import ANY_TWO, Places

BOTH = 2
"""The third and the fourth card, where each is charged for by itself."""

FIRST_TWO: Places = ((0, 1),)
FIRST_OR_SECOND_TWO: Places = ((0, 1), (2, 3))


class SecondRound(FirstRound):
    """The first player's besszer, and the charges of the last player and of the trace-horse."""

    __slots__ = ("besszered", "charger", "chargers", "charges", "last", "target")

    FRESH: ClassVar[frozenset[str]] = FirstRound.FRESH | {"chargers", "charges"}

    def __init__(self, setup: Setup, rules: FerbliRules) -> None:
        FirstRound.__init__(self, setup, rules)
        self.besszered = 0  # who made the besszer
        self.last = 0  # the "last player" of the second round
        self.charger = 0  # who may charge: the last player, later the trace-horse
        self.chargers: set[int] = set()  # who has charged
        self.target = 0  # who is to be charged, or answers a charge
        self.charges: dict[int, int] = {}  # how often each seat was charged

    # -- besszer ---------------------------------------------------------------------------------------------

    def open_second(self) -> None:
        """The first player is asked whether the deal should go on; with side pots, if that seat could raise at all."""
        if self.decides(1):
            self.enter("besszer", 1)
        else:
            self.deal_rest()

    def go_on(self, action: Action) -> None:
        """No besszer: the second batch is dealt and nobody else may raise."""
        self.deal_rest()

    def besszer(self, action: Action) -> None:
        """The first player stakes more: with the usual limit one or two vizi, with another as many as it says."""
        self.require_bet(action, self.bet_range())
        self.raise_by(action.actor, action.amount)
        self.besszered = action.actor
        self.begin_answers("besszer_answer", self.after(action.actor), SecondRound.open_charging)

    # -- charging --------------------------------------------------------------------------------------------

    def open_charging(self) -> None:
        """The last player who matched may charge, beginning with the first active seat."""
        self.last = self.charger = self.active[-1]
        self.next_charge()

    def next_charge(self) -> None:
        """Ask the charger about the next charge, or deal the rest if there is none to decide on.

        The last player charges seat after seat up to the trace-horse (the active seat before it), who is
        charged card by card. A trace-horse that was charged twice and is still in may then charge the last
        player. A seat that became trace-horse by folds after its own charge has nothing left to be charged
        for, and no such right.
        """
        if self.charger == self.last:
            for seat in self.active[:-1]:
                if len(self.cards[seat]) < 4:
                    self.ask_charge(seat)
                    return
            horse = self.active[-2]
            if self.charges.get(horse) == 2:
                self.charger = horse
        if self.charger != self.last and self.last in self.active and len(self.cards[self.last]) < 4:
            self.ask_charge(self.last)
        else:
            self.deal_rest()

    def ask_charge(self, target: int) -> None:
        """The charger decides whether ``target`` has to pay for its next card or cards; with side pots, if it has
        chips for it and somebody to answer."""
        if self.decides(self.charger):
            self.target = target
            self.enter("charge", self.charger)
        else:
            self.deal_rest()

    def cards_charged(self) -> int:
        """One card for the trace-horse and for the last player, two for the others."""
        return 1 if self.target in self.active[-2:] else 2

    def charge(self, action: Action) -> None:
        """The stake goes in, then the charged seat gets its cards, and answers before the others."""
        target = self.target
        if action.target != target:
            raise WrongTarget(f"p{target} is the one to charge, not p{action.target}", target=target)
        self.require_bet(action, self.bet_range())
        count = self.cards_charged()
        self.raise_by(action.actor, action.amount)
        self.chargers.add(action.actor)
        self.charges[target] = self.charges.get(target, 0) + 1
        self.deal_next([(target, count)], SecondRound.open_charge_answers)

    def open_charge_answers(self) -> None:
        """The charged seat first, then the other active seats in play order from it, wrapping round."""
        order = [self.target, *(seat for seat in self.after(self.target) if seat != self.charger)]
        self.begin_answers("charge_answer", order, SecondRound.next_charge)

    def decline(self, action: Action) -> None:
        """A charge declined ends all charging: the rest is dealt free."""
        self.deal_rest()

    def look_at_charged(self, action: Action) -> None:
        """Only the charged seat may look before it answers; the others decide without ("Second round"). What it may
        look at is what it is charged for, so a third card still unseen may stay so."""
        seat = action.actor
        if seat != self.target:
            raise self.not_legal(action)
        if not self.may_skip_third():
            self.look(action)
        elif action.amount == 1:
            self.seen[seat] += 1
            self.third_skipped.add(seat)
        elif action.amount == BOTH:
            self.seen[seat] += BOTH
        else:
            what = f"p{seat} looks at its fourth card or at both, not at {action.amount}"
            raise WrongCount(what, count=BOTH, min=1, max=BOTH, step=1)

    def may_skip_third(self) -> bool:
        """Whether the seat to answer is charged for its fourth card and has not looked at its third either."""
        return self.charges[self.target] == BOTH == self.unseen(self.target)

    # -- the rest of the cards -------------------------------------------------------------------------------

    def deal_rest(self) -> None:
        """Seats with fewer than four cards get the rest, in play order."""
        short = [(seat, 4 - len(self.cards[seat])) for seat in self.active if len(self.cards[seat]) < 4]
        self.deal_next(short, SecondRound.complete)

    def complete(self) -> None:
        """Every active seat has four cards; after a besszer some tables turn two of them up ("Variations")."""
        if self.rules.show_two and self.besszered:
            self.begin_turning_up()
        else:
            self.open_third()

    def turns_up(self) -> bool:
        """Only where two cards are shown after a besszer."""
        return self.rules.show_two

    def may_turn_up(self, seat: int) -> Places:
        """Cards that the seat has seen; if it has made the besszer or a charge, its first two or its second two."""
        if self.seen[seat] == 2:
            return FIRST_TWO
        if seat == self.besszered or seat in self.chargers:
            return FIRST_TWO if self.seen[seat] < 4 else FIRST_OR_SECOND_TWO
        return tuple(pair for pair in ANY_TWO if {*pair} <= {*self.places_seen(seat)})

    def all_turned_up(self) -> None:
        """The third round follows."""
        self.open_third()

    def open_third(self) -> None:
        """Everything is dealt: the third round follows."""
        raise TypeError(f"{type(self).__name__} has no third round")

    # -- limits ----------------------------------------------------------------------------------------------

    def bet_range(self) -> tuple[int, int]:
        """Smallest and largest bet, charge or raise now (none if the first exceeds the second).

        From one vizi to twice the largest bet of this deal (or what the table's ``limit`` says): money carried in
        does not count ("Deal and Betting"). In the second round the largest bet is still the vizi when the first
        player speaks, so a besszer is one or two.
        """
        factor = self.rules.factor
        return self.limited(self.vizi, None if factor is None else factor * self.largest)

    # -- what may be done ------------------------------------------------------------------------------------

    def offer_charge(self) -> Legal | None:
        """The charge that is open, if the stacks allow one."""
        low, high = self.bet_range()
        if high < low:
            return None
        return self.offer("ks", Range(low, high, self.bet_step), Target(self.target, self.cards_charged()))

    def offer_look_at_charged(self) -> Legal | None:
        """Looking, which in the second round only the charged seat may."""
        if self.phase != "charge_answer":
            return self.offer_look()
        if self.turn != self.target:
            return None
        return self.offer("lk", Range(1, BOTH, name="count")) if self.may_skip_third() else self.offer_look()
