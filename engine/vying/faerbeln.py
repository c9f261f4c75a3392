"""Färbeln or Einundvierzig, phase by phase. Sections in quotes are those of the Färbeln rules text.

The options that settle what the text leaves open are in :mod:`engine.vying.faerbeln_rules`. p1 is forehand, play
is clockwise. Phases:

=============  ============  ===============================================================================
phase          verbs         who acts, and what for
=============  ============  ===============================================================================
``ante``       po            every seat in order pays the ante ("Ante")
``post``       po            forehand stakes the lower limit ("Ante")
``deal``       dh            the croupier deals two cards a seat, later two more to the active seats
``round1``     cc f k rb     the seats from forehand's left hold the stake, raise it or fold ("First round")
``up``         up            every active seat turns up two of its four cards ("Second round")
``round2``     cc f k rb     the active seats from forehand on ("Second round")
``showdown``   sm            the active seats show in order ("Show down")
``reveal``     sm k          a seat left alone may show a 41, where the table pays for it (``bonus41_for``)
=============  ============  ===============================================================================

Each seat decides which two cards it turns up before it sees those of others. The log has one line for each seat, but
views and events show the cards only when all lines are in.
"""

from __future__ import annotations

from typing import ClassVar

from engine.errors import AmountOutOfRange
from engine.kernel.cards import TELL32
from engine.kernel.game import Game, Policy, require_no_carry, require_nothing_carried, require_stacks
from engine.kernel.grammar import HOUSE, SEAT, Action, Grammar, Role, Seen, Verb, amount, cards, seat
from engine.kernel.legal import Legal, Range
from engine.kernel.setup import Setup
from engine.kernel.state import Handler, Offer
from engine.vying.betting import StakeState
from engine.vying.faerbeln_rules import PACKS, TERMS, FaerbelnRules
from engine.vying.pot_rules import WEIGHTS, most_tax, tax_on
from engine.vying.ranking import faerbeln_key, is_forty_one, prepare
from engine.vying.state import VyingState

GRAMMAR = Grammar(
    Verb("po", SEAT, (amount(),), "pay the ante; p1 then stakes the lower limit", label="Ante", key="A"),
    Verb("dh", HOUSE, (seat(), cards(Role.DEALT, Seen.HAND)), "the croupier deals face down", label="Deal", key="D"),
    Verb(
        "cc",
        SEAT,
        (amount(),),
        "hold the stake: pay what is owed",
        label="Hold",
        key="C",
        only="The seat owes something.",
    ),
    Verb("f", SEAT, (), "fold", leaves=True, label="Fold", key="X"),
    Verb(
        "k",
        SEAT,
        (),
        "owing nothing, leave the stake as it is; having won alone, show nothing",
        label="Leave it",
        key="P",
        only="The seat owes nothing; where the table knows no waiting, no bet is possible.",
    ),
    Verb(
        "rb",
        SEAT,
        (amount(),),
        "pay what is owed and raise by one unit N",
        label="Raise",
        key="R",
        only="The round has raises left, every seat can hold the stake, and no call has ended the betting.",
    ),
    Verb("up", SEAT, (cards(Role.TURNED, Seen.TOGETHER),), "turn up two of the four cards", label="Turn up", key="U"),
    Verb("sm", SEAT, (cards(Role.SHOWN, Seen.ALL),), "show all four cards", label="Show", key="S"),
)


class FaerbelnState(StakeState):
    """One hand of Färbeln."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    PICKED_UP = 4  # "Second round": the later cards are inspected too
    __slots__ = ("closing", "raises", "unit")

    rules: FaerbelnRules

    def __init__(self, setup: Setup, rules: FaerbelnRules) -> None:
        super().__init__(setup, rules)
        self.pack = rules.cards
        self.unit = rules.lower  # of a raise in this round
        self.raises = 0  # in this round
        self.closing = False  # a call has ended the raising (showdown "any_call")
        self.queue = self.active[::-1]
        self.enter("ante", 1)

    def unused(self) -> frozenset[str]:
        """A seat left alone shows a 41 only where it is paid for it."""
        return frozenset() if self.rules.bonus41_for == "uncontested" and self.rules.bonus41 else frozenset({"reveal"})

    # -- before the cards ------------------------------------------------------------------------------------

    def pay_ante(self, action: Action) -> None:
        """Each player pays the ante."""
        self.take_exactly(action, self.rules.ante)
        if not self.pass_on():
            self.level = self.rules.ante
            self.enter("post", 1)

    def post(self, action: Action) -> None:
        """Forehand stakes the lower limit before seeing a card."""
        self.take_exactly(action, self.rules.lower)
        self.level += self.rules.lower
        self.deal_next([(seat, 2) for seat in self.active], FaerbelnState.open_first)

    # -- rounds of betting -----------------------------------------------------------------------------------

    def open_first(self) -> None:
        """From the player left of forehand; forehand comes last if it may raise its own stake."""
        self.open_round("round1", [*self.after(1), 1] if self.rules.forehand_option else self.after(1))

    def open_second(self) -> None:
        """From the first active seat, forehand if still in."""
        self.unit = self.rules.second_unit
        self.open_round("round2", self.active)

    def open_round(self, phase: str, order: list[int]) -> None:
        """The seats of ``order`` speak, and after a raise all others again."""
        self.raises = 0
        self.queue = order[::-1]
        self.enter(phase, order[0])
        self.ask()

    def close_first(self) -> None:
        """All who chose to stay get two more cards, and turn two of their four up."""
        self.deal_next([(seat, 2) for seat in self.active], FaerbelnState.begin_turning_up)

    def next_answer(self) -> None:
        """The seat has spoken: on to the next."""
        self.queue.pop()
        self.ask()

    def ask(self) -> None:
        """Ask the next seat that has something to decide; without any the round is over. The last seat left wins
        at once, even with its own decision before it."""
        if len(self.active) == 1:
            self.win_alone()
            return
        while self.queue and not self.decides(self.queue[-1]):
            self.queue.pop()
        if self.queue:
            self.turn = self.queue[-1]
        elif self.phase == "round1":
            self.close_first()
        else:
            self.begin_showdown()

    def hold(self, action: Action) -> None:
        """``cc N``: hold the stake of the player before."""
        owed = self.owed(action.actor)
        if not owed:
            raise self.not_legal(action)
        ends_raising = self.rules.showdown == "any_call" and self.phase == "round2" and self.may_raise()
        self.take_exactly(action, owed)
        self.closing |= ends_raising
        self.next_answer()

    def wait(self, action: Action) -> None:
        """``k``: nothing is owed and nothing raised."""
        if not self.may_wait(action.actor):
            raise self.not_legal(action)
        self.next_answer()

    def lift(self, action: Action) -> None:
        """``rb N``: raise by the unit of the round; all others answer."""
        if not self.may_raise():
            raise self.not_legal(action)
        unit = self.unit
        if action.amount != unit:
            raise AmountOutOfRange(f"a raise is {unit}, not {action.amount}", min=unit, max=unit, step=unit)
        self.raise_by(action.actor, unit)
        self.raises += 1
        self.queue = self.after(action.actor)[::-1]
        self.ask()

    def may_raise(self) -> bool:
        """Fewer raises than the cap, none ruled out by a call, and the stacks allow one."""
        return self.raises < self.rules.cap(len(self.active)) and not self.closing and self.can_pay_raise()

    def can_pay_raise(self) -> bool:
        """The poorest active seat could match a raise; with side pots, the seat itself can pay it and another can
        answer."""
        return self.reach() >= self.unit

    def may_wait(self, seat: int) -> bool:
        """Owing nothing, a seat may wait; where the table says bet or drop out, only if no bet is possible."""
        if self.owed(seat):
            return False
        return self.rules.check_allowed or self.phase == "round1" or not self.may_raise()

    # -- cards up, and the end -------------------------------------------------------------------------------

    def turns_up(self) -> bool:
        """Two up, two down."""
        return True

    def all_turned_up(self) -> None:
        """The second round of betting follows."""
        self.open_second()

    def showdown(self) -> None:
        """The highest hand wins, of equal ones the nearest to forehand; the house pays for every 41 shown."""
        if self.phase == "reveal":
            self.award_alone()
            return
        points = self.rules.points
        keys = {seat: faerbeln_key(self.cards[seat], self.pack, points=points) for seat in self.active}
        self.award_pots(keys, "showdown", self.bonus())

    def bonus(self) -> tuple[int, ...]:
        """The house's payment to each seat, p1 first; () if it pays nothing."""
        paid = self.rules.bonus41
        lucky = [seat for seat in self.active if self.shown[seat] and self.is_lucky(seat)] if paid else []
        return tuple(paid if seat in lucky else 0 for seat in range(1, self.seats + 1)) if lucky else ()

    def is_lucky(self, seat: int) -> bool:
        """Whether the seat holds a 41."""
        return is_forty_one(faerbeln_key(self.cards[seat], self.pack))

    def win_alone(self) -> None:
        """The last seat wins and need not show; where a 41 that is shown voluntarily is paid too, it may."""
        if self.rules.bonus41_for == "uncontested" and self.rules.bonus41 and len(self.cards[self.active[0]]) == 4:
            self.queue = [self.active[0]]
            self.enter("reveal", self.active[0])
        else:
            self.award_alone()

    def award_alone(self) -> None:
        """What nobody matched goes back, the rest is won."""
        winner = self.active[0]
        self.return_uncalled(winner)
        self.award(winner, self.rules, "uncontested", self.bonus())

    def keep_hidden(self, action: Action) -> None:
        """``k`` of a seat that has won alone: it shows nothing."""
        self.award_alone()

    # -- what may be done ------------------------------------------------------------------------------------

    def offer_post(self) -> Legal:
        """The ante, or forehand's stake."""
        amount = self.rules.ante if self.phase == "ante" else self.rules.lower
        return self.offer("po", Range(amount, amount, amount))

    def offer_hold(self) -> Legal | None:
        """Paying what is owed, if anything is."""
        return self.offer_owed() if self.owed(self.turn) else None

    def offer_wait(self) -> Legal | None:
        """Leaving the stake as it is, or one's cards unseen."""
        return self.offer("k") if self.phase == "reveal" or self.may_wait(self.turn) else None

    def offer_lift(self) -> Legal | None:
        """A raise by the unit of the round."""
        return self.offer("rb", Range(self.unit, self.unit, self.unit)) if self.may_raise() else None

    ROUND: ClassVar[dict[str, Handler]] = {"cc": hold, "f": StakeState.fold, "k": wait, "rb": lift}
    HANDLERS: ClassVar[dict[str, dict[str, Handler]]] = {
        "ante": {"po": pay_ante},
        "post": {"po": post},
        "deal": {"dh": VyingState.deal},
        "round1": ROUND,
        "up": {"up": VyingState.turn_up},
        "round2": ROUND,
        "showdown": {"sm": VyingState.show},
        "reveal": {"sm": VyingState.show, "k": keep_hidden},
        "over": {},
    }
    OFFERS: ClassVar[dict[str, Offer]] = {
        "po": offer_post,
        "dh": VyingState.offer_deal,
        "cc": offer_hold,
        "f": lambda state: state.offer("f"),
        "k": offer_wait,
        "rb": offer_lift,
        "up": VyingState.offer_turn_up,
        "sm": VyingState.offer_show,
    }


def _begin(setup: Setup, rules: FaerbelnRules) -> FaerbelnState:
    """A hand at its first ante; nothing is ever carried in, and the stacks cover what their seats must pay."""
    require_nothing_carried(setup)
    require_no_carry(setup)
    if rules.short_stack == "side_pot":
        require_stacks(setup.stacks, rules.ante)
        require_stacks(setup.stacks[:1], rules.least_stack)
    else:
        require_stacks(setup.stacks, rules.least_stack)
    return FaerbelnState(setup, rules)


def _bonuses(rules: FaerbelnRules, seats: int) -> tuple[int, ...]:
    """A 41 for every seat at the most, and one in each of the four suits."""
    return (rules.bonus41,) * min(seats, len(rules.cards.suits)) if rules.bonus41 else ()


EXAMPLE: dict[str, object] = {
    "ante": 200, "lower": 500, "upper": 1000, "round2_unit": "lower", "bonus41": 10_000, "tax_cap": 700,
}  # fmt: skip
GAME = Game(
    name="faerbeln",
    title="Färbeln (Einundvierzig)",
    rules=FaerbelnRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=3,
    max_seats=7,
    state=FaerbelnState,
    begin=_begin,
    policy=Policy(
        must_set=("ante", "lower", "round2_unit", "bonus41", "tax_bps"),
        zones=frozenset({"pot"}),
        charge="tax",
        bonuses=_bonuses,
        tax_on=tax_on,
        most_tax=most_tax,
    ),
    example=EXAMPLE,
    packs=PACKS,
    terms=TERMS,
    weights=WEIGHTS,
    prepare=prepare,
)
