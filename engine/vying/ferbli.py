"""Classic Limited Ferbli, phase by phase. Sections in quotes are those of the Ferbli rules text.

The options that settle what the text leaves open are in :mod:`engine.vying.ferbli_rules`. Phases:

==================  ===========  =============================================================================
phase               verbs        who acts, and what for
==================  ===========  =============================================================================
``post``            po           p1 pays the compulsory vizi
``deal``            dh           the dealer deals what is due
``vizi``            cc f         p2 ... pn match the vizi or drop out ("First round of betting")
``besszer``         k rb         p1 lets the deal go on or raises ("Second round of betting")
``besszer_answer``  cc f         the others match the besszer or fold
``charge``          k ks         the last player, later the trace-horse, charges or declines
``charge_answer``   lk cc f      the charged seat, then the others; only the charged seat may look
``open``            lk k rb      third round: check or bet ("Third betting round")
``answer``          lk cc f br   the others match or fold; a blind seat may raise a blind bet
``last_word``       lk rb st     the last matcher raises or stands; after a blind bet he must raise
``showdown``        sm           the active seats show in play order
==================  ===========  =============================================================================

A seat whose turn it is always speaks, even where short stacks leave it only ``k`` or ``st`` to say.
"""

from __future__ import annotations

from typing import ClassVar

from engine.actions import Action
from engine.cards import TELL32
from engine.errors import WrongTarget
from engine.events import MoveKind
from engine.game import Game, Hand, Legal, Setup
from engine.vying.betting import BettingState, require_stacks
from engine.vying.ferbli_rules import FerbliRules
from engine.vying.hand import VyingHand, parse_rules
from engine.vying.ranking import ferbli_key
from engine.vying.state import Handler, Offer, VyingState

VERBS = {
    "po": "p1 posts the compulsory vizi",
    "dh": "the dealer deals face down",
    "cc": "pay what is owed: the vizi, a besszer, a charge, a bet",
    "f": "fold",
    "k": "go on (second round), decline to charge, or check (third round)",
    "rb": "besszer, bet or raise by N",
    "ks": "charge seat M with N for its next card or cards (kóstáltatás)",
    "lk": "look at the N face-down cards",
    "br": "a blind seat answers a blind bet by paying what it owes and raising by N",
    "st": "the last matcher lets the bet stand",
    "sm": "show all four cards",
}


class FerbliState(BettingState):
    """One hand of Ferbli."""

    PACK = TELL32
    BOTTOM_IS_PUBLIC = True
    __slots__ = ("blind_bet", "blind_over", "charger", "charges", "last", "raises", "target")

    rules: FerbliRules

    def __init__(self, setup: Setup, rules: FerbliRules) -> None:
        super().__init__(setup, rules)
        self.last = 0  # the "last player" of the second round
        self.charger = 0  # who may charge: the last player, later the trace-horse
        self.target = 0  # who is to be charged, or answers a charge
        self.charges = [0] * (self.seats + 1)  # how often each seat was charged
        self.raises = 0  # bets and raises of the third round
        self.blind_bet = False  # the bet being answered is blind
        self.blind_over = False  # a seat that had seen all four cards has bet in the third round
        self.enter("post", 1)

    # -- first round -----------------------------------------------------------------------------------------

    def post(self, action: Action) -> None:
        """The first player pays the vizi before the deal ("Deal and Betting")."""
        self.take_exactly(action, self.rules.vizi)
        self.level = self.largest = self.rules.vizi
        self.deal_next([(seat, 2) for seat in self.active], FerbliState.open_vizi)

    def open_vizi(self) -> None:
        """Everyone else matches the vizi or drops out, from the first player's right."""
        self.begin_answers("vizi", 1, FerbliState.close_vizi)

    def close_vizi(self) -> None:
        """Enough players: the first player may raise. Too few, even if only he is left: cukassza."""
        if len(self.active) < self.rules.needed(self.seats):
            self.cukassza("cukassza")
        else:
            self.enter("besszer", 1)

    def cukassza(self, ending: str) -> None:
        """Whoever has no vizi in the pot pays one now, and the pot stays for the next deal."""
        vizi = self.rules.vizi
        for seat in range(1, self.seats + 1):
            if not self.stakes[seat]:
                self.stacks[seat] -= vizi
                self.pot += vizi
                self.moves.append((MoveKind.PENALTY, seat, vizi))
        self.carry_on(ending)

    # -- second round: besszer and charging ------------------------------------------------------------------

    def go_on(self, action: Action) -> None:
        """No besszer: the second batch is dealt and nobody else may raise."""
        self.deal_rest()

    def besszer(self, action: Action) -> None:
        """The first player stakes one to two vizi more."""
        self.require_bet(action, self.bet_range())
        self.raise_by(action.actor, action.amount)
        self.begin_answers("besszer_answer", action.actor, FerbliState.open_charging)

    def open_charging(self) -> None:
        """The last player who matched may charge, beginning with the first active seat."""
        self.last = self.charger = self.active[-1]
        self.next_charge()

    def next_charge(self) -> None:
        """Ask the charger about the next charge, or deal the rest if there is none to decide on.

        The last player charges seat after seat up to the trace-horse (the active seat before him), who is
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
            if self.charges[horse] == 2:
                self.charger = horse
        if self.charger != self.last and self.last in self.active and len(self.cards[self.last]) < 4:
            self.ask_charge(self.last)
        else:
            self.deal_rest()

    def ask_charge(self, target: int) -> None:
        """The charger decides whether ``target`` has to pay for its next card or cards."""
        self.target = target
        self.enter("charge", self.charger)

    def cards_charged(self) -> int:
        """One card for the trace-horse and for the last player, two for the others."""
        return 1 if self.target in self.active[-2:] else 2

    def charge(self, action: Action) -> None:
        """The stake goes in, then the charged seat gets its cards, and answers before the others."""
        if action.target != self.target:
            raise WrongTarget(f"p{self.target} is the one to charge, not p{action.target}", target=self.target)
        self.require_bet(action, self.bet_range())
        count = self.cards_charged()
        self.raise_by(action.actor, action.amount)
        self.charges[self.target] += 1
        self.deal_next([(self.target, count)], FerbliState.open_charge_answers)

    def open_charge_answers(self) -> None:
        """The charged seat first, then the other active seats in play order from it, wrapping round."""
        self.begin_answers("charge_answer", self.charger, FerbliState.next_charge)
        order = [self.target, *(seat for seat in self.after(self.target) if seat != self.charger)]
        self.queue = order[::-1]
        self.turn = self.target

    def decline(self, action: Action) -> None:
        """A charge declined ends all charging: the rest is dealt free."""
        self.deal_rest()

    def look_at_charged(self, action: Action) -> None:
        """Only the charged seat may look before it answers; the others decide without ("Second round")."""
        if action.actor != self.target:
            raise self.not_legal(action)
        self.look(action)

    def deal_rest(self) -> None:
        """Whoever is short of four cards gets the rest, in play order."""
        short = [(seat, 4 - len(self.cards[seat])) for seat in self.active if len(self.cards[seat]) < 4]
        self.deal_next(short, FerbliState.open_third)

    # -- third round -----------------------------------------------------------------------------------------

    def open_third(self) -> None:
        """Check or bet, from the first active seat in play order."""
        self.queue = self.active[::-1]
        self.enter("open", self.queue[-1])

    def check(self, action: Action) -> None:
        """A check; if all have checked, nobody wins and the pot stays."""
        self.queue.pop()
        if self.queue:
            self.turn = self.queue[-1]
        else:
            self.cukassza("all_checked")

    def is_blind(self, seat: int) -> bool:
        """A seat is blind while it has looked at its first two cards only."""
        return self.seen[seat] == 2

    def bet(self, action: Action) -> None:
        """``rb N`` of the third round: an opening bet, or the last matcher's raise."""
        self.require_bet(action, self.free_range())
        self._put(action)

    def blind_raise(self, action: Action) -> None:
        """``br N``: a blind seat answers a blind bet by raising it; all others, matchers included, answer
        anew."""
        if not (self.blind_bet and self.is_blind(action.actor)):
            raise self.not_legal(action)
        self.require_bet(action, self.free_range())
        self._put(action)

    def _put(self, action: Action) -> None:
        """The bet stands. It is blind if its maker is, as long as nobody has bet with all four cards seen.

        A seat that has seen three cards is not blind, yet its bet does not end the blind betting of others:
        the text ends it only when a player who has looked at all four bets ("Blind betting").
        """
        seat = action.actor
        self.raise_by(seat, action.amount)
        self.raises += 1
        if not self.unseen(seat):
            self.blind_over = True
        self.blind_bet = self.is_blind(seat) and not self.blind_over
        self.begin_answers("answer", seat, FerbliState.give_last_word)

    def give_last_word(self) -> None:
        """The last seat that matched, and only it, may raise."""
        self.enter("last_word", self.last_matcher)

    def must_raise(self) -> bool:
        """After a blind bet the last matcher has to raise, unless no raise is possible any more."""
        low, high = self.free_range()
        return self.blind_bet and low <= high

    def stand(self, action: Action) -> None:
        """``st``: no further raise, the cards are shown."""
        if self.must_raise():
            raise self.not_legal(action)
        self.begin_showdown()

    def showdown(self) -> None:
        """The best hand wins; of equal hands the one that was shown first ("The Showdown")."""
        # max() keeps the first of equals, and the active seats stand in the order of showing.
        winner = max(self.active, key=lambda seat: ferbli_key(self.cards[seat]))
        self.award(winner, self.rules, "showdown")

    # -- limits ----------------------------------------------------------------------------------------------

    def bet_range(self) -> tuple[int, int]:
        """Smallest and largest bet, charge or raise now (none if the first exceeds the second).

        From one vizi to twice the largest bet of this deal: money carried in does not count ("Deal and
        Betting"). In the second round the largest bet is still the vizi when the first player speaks, so a
        besszer is one or two.
        """
        return self.limited(self.rules.vizi, 2 * self.largest)

    def free_range(self) -> tuple[int, int]:
        """As :meth:`bet_range`, in the third round, whose number of raises may be capped."""
        low, high = self.bet_range()
        if self.rules.raise_cap is not None and self.raises >= self.rules.raise_cap:
            high = 0
        return low, high

    def offer_charge(self) -> Legal | None:
        """The charge that is open, if the stacks allow one."""
        low, high = self.bet_range()
        if high < low:
            return None
        return self.offer("ks", min=low, max=high, step=self.rules.step, target=self.target, count=self.cards_charged())

    def offer_look_at_charged(self) -> Legal | None:
        """Looking, which in the second round only the charged seat may."""
        if self.phase == "charge_answer" and self.turn != self.target:
            return None
        return self.offer_look()

    def offer_post(self) -> Legal:
        """The compulsory vizi."""
        vizi = self.rules.vizi
        return self.offer("po", min=vizi, max=vizi, step=vizi)

    def offer_bet(self) -> Legal | None:
        """A bet or raise, if the stacks allow one."""
        low, high = self.bet_range() if self.phase == "besszer" else self.free_range()
        return self.offer("rb", min=low, max=high, step=self.rules.step) if low <= high else None

    def offer_blind_raise(self) -> Legal | None:
        """A blind raise in mid-order, if the bet and the seat are blind."""
        if not (self.blind_bet and self.is_blind(self.turn)):
            return None
        low, high = self.free_range()
        return self.offer("br", min=low, max=high, step=self.rules.step) if low <= high else None

    def offer_stand(self) -> Legal | None:
        """Standing, unless the raise is compulsory."""
        return None if self.must_raise() else self.offer("st")

    HANDLERS: ClassVar[dict[str, dict[str, Handler]]] = {
        "post": {"po": post},
        "deal": {"dh": VyingState.deal},
        "vizi": {"cc": BettingState.call, "f": BettingState.fold},
        "besszer": {"k": go_on, "rb": besszer},
        "besszer_answer": {"cc": BettingState.call, "f": BettingState.fold},
        "charge": {"k": decline, "ks": charge},
        "charge_answer": {"lk": look_at_charged, "cc": BettingState.call, "f": BettingState.fold},
        "open": {"lk": VyingState.look, "k": check, "rb": bet},
        "answer": {
            "lk": VyingState.look,
            "cc": BettingState.call,
            "f": BettingState.fold,
            "br": blind_raise,
        },
        "last_word": {"lk": VyingState.look, "rb": bet, "st": stand},
        "showdown": {"sm": VyingState.show},
        "over": {},
    }
    OFFERS: ClassVar[dict[str, Offer]] = {
        "po": offer_post,
        "dh": VyingState.offer_deal,
        "lk": offer_look_at_charged,
        "cc": VyingState.offer_owed,
        "f": lambda state: state.offer("f"),
        "k": lambda state: state.offer("k"),
        "rb": offer_bet,
        "br": offer_blind_raise,
        "ks": offer_charge,
        "st": offer_stand,
        "sm": VyingState.offer_show,
    }


def _begin(setup: Setup) -> Hand:
    """A hand at its first action; every stack must cover the vizi that its seat may be forced to pay."""
    rules = parse_rules(FerbliRules, setup)
    require_stacks(setup.stacks, rules.least_stack)
    return VyingHand(setup, rules, FerbliState(setup, rules))


GAME = Game("ferbli", FerbliRules.RULES_ID, FerbliRules, TELL32, 2, 7, _begin, VERBS, {"vizi": 100})
