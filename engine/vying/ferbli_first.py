"""The first round of Ferbli: the vizi, open or in the fist, the cukassza, and the third deal that everyone pays for."""

from __future__ import annotations

from collections.abc import Mapping

from engine.errors import AmountOutOfRange, CommitMismatch, MalformedAction, MalformedSetup
from engine.kernel.cards import UNKNOWN
from engine.kernel.grammar import Action
from engine.kernel.legal import Legal, Range, Secret
from engine.kernel.purse import Why
from engine.kernel.setup import Setup
from engine.vying.betting import BettingState
from engine.vying.ferbli_rules import FerbliRules
from engine.vying.majzli import FORM, majzli_commitment

FAILED = "failed"
"""What Ferbli carries from deal to deal: how many deals in a row have failed in the first round."""


def failed_before(setup: Setup) -> int:
    """How many deals in a row have failed before this one; raises ``MalformedSetup``."""
    if not setup.series.keys() <= {FAILED}:
        raise MalformedSetup("a series of Ferbli counts failed deals and nothing else", series=[FAILED])
    failed = setup.series.get(FAILED, 0)
    if type(failed) is not int or not 0 <= failed <= 2:
        raise MalformedSetup("at most two deals in a row have failed before this one", min=0, max=2)
    return failed


class FirstRound(BettingState):
    """Posting, answering the vizi, and the end of a deal for want of players."""

    FIRST_ROUND = ("vizi", "fist")
    __slots__ = ("call_or_discard", "commitment", "failed", "vizi")

    rules: FerbliRules

    def __init__(self, setup: Setup, rules: FerbliRules) -> None:
        BettingState.__init__(self, setup, rules)
        self.vizi = rules.vizi  # of this deal
        self.bet_step = rules.bet_step(rules.vizi)
        self.commitment = ""  # to a vizi held in the fist
        self.failed = failed_before(setup) if rules.force_third_deal else 0
        self.call_or_discard = setup.carry > 0 and rules.cukassza_call == "megadas_eldobas"
        if rules.majzli_max is not None:
            self.enter("majzli", 1)
        else:
            self.queue = self.active[::-1] if self.everyone_pays() else [1]
            self.enter("post", 1)

    def everyone_pays(self) -> bool:
        """Two deals in a row have failed: on the third everyone pays, and it goes ahead ("Variations")."""
        return self.failed == 2

    # -- before the cards ------------------------------------------------------------------------------------

    def post(self, action: Action) -> None:
        """The first player pays the vizi before the deal ("Deal and Betting"); in a forced third deal so do all."""
        self.take_exactly(action, self.vizi)
        if not self.pass_on():
            self.level = self.largest = self.vizi
            self.deal_first()

    def hold(self, action: Action) -> None:
        """``mj``: the first player decides on the vizi and holds it in the fist ("Variations": majzli)."""
        self.commitment = action.code
        self.deal_first()

    def deal_first(self) -> None:
        """Two cards a seat, from the dealer's right."""
        self.deal_next([(seat, 2) for seat in self.active], FirstRound.open_vizi)

    # -- who stays in ----------------------------------------------------------------------------------------

    def open_vizi(self) -> None:
        """Everyone else matches the vizi or drops out, from the first player's right; under call or discard from
        the dealer, clockwise ("Variations")."""
        others = self.active[:0:-1] if self.call_or_discard else self.active[1:]
        if self.everyone_pays():
            if self.commitment:
                self.ask_vizi()
            else:
                self.open_second()
        elif self.commitment:
            self.begin_answers("fist", others, FirstRound.ask_vizi)
        else:
            self.begin_answers("vizi", others, FirstRound.close_vizi)

    def stay(self, action: Action) -> None:
        """``in``: a seat stays without knowing the vizi."""
        self.next_answer()

    def ask_vizi(self) -> None:
        """All have decided: the first player opens the fist."""
        self.enter("reveal", 1)

    def reveal(self, action: Action) -> None:
        """``rv``: the vizi is known, and seats that stayed in pay it; limits count with it from now on."""
        low, high, step = self.fist_range()
        amount = action.amount
        if not low <= amount <= high or amount % step:
            raise AmountOutOfRange(f"a vizi is from {low} to {high} in steps of {step}", min=low, max=high, step=step)
        self._require_opened(action)
        self.vizi = self.level = self.largest = amount
        self.bet_step = self.rules.bet_step(amount)
        for seat in self.active:
            self.stake(seat, amount)
        self.close_vizi()

    def _require_opened(self, action: Action) -> None:
        """A commitment needs the nonce that opens it; a real fist has none."""
        if self.commitment == UNKNOWN:
            if action.code:
                raise MalformedAction("a vizi held in a real fist is revealed without a nonce", form="rv N")
        elif not action.code:
            raise MalformedAction("the vizi was committed to, its nonce is missing", form="rv N NONCE")
        elif majzli_commitment(action.amount, bytes.fromhex(action.code)) != self.commitment:
            raise CommitMismatch("vizi and nonce do not open the commitment", commit=self.commitment, form=FORM)

    def fist_range(self) -> tuple[int, int, int]:
        """Smallest and largest vizi that may be held in the fist, and the step between."""
        rules = self.rules
        return rules.vizi, rules.majzli_max or 0, rules.bet_step(rules.vizi)

    def close_vizi(self) -> None:
        """Enough players: the first player may raise. Too few, even if only the first player is left: cukassza."""
        needed = 2 if self.call_or_discard else self.rules.needed(self.seats)
        if len(self.active) < needed and not self.everyone_pays():
            self.cukassza("cukassza")
        else:
            self.open_second()

    def open_second(self) -> None:
        """Enough seats are in: the second round follows."""
        raise TypeError(f"{type(self).__name__} has no second round")

    def cukassza(self, ending: str) -> None:
        """Every seat without a vizi in the pot pays one now, and the pot stays for the next deal."""
        self.pay_missing()
        self.carry_on(ending)

    def pay_missing(self) -> None:
        """Every seat without a vizi in the pot pays one."""
        for seat in range(1, self.seats + 1):
            if not self.stakes[seat]:
                self.pay_penalty(seat)

    def pay_penalty(self, seat: int) -> None:
        """A vizi that the rules make the seat pay."""
        self.to_pot(seat, self.vizi, Why.PENALTY)

    def series(self, ending: str) -> Mapping[str, object]:
        """Deals that fail in the first round are counted where the third one is forced."""
        if not self.rules.force_third_deal:
            return super().series(ending)
        return {FAILED: self.failed + 1 if ending == "cukassza" else 0}

    # -- what may be done ------------------------------------------------------------------------------------

    def offer_post(self) -> Legal:
        """The compulsory vizi."""
        return self.offer("po", Range(self.vizi, self.vizi, self.vizi))

    def offer_reveal(self) -> Legal:
        """Any vizi that may have been held."""
        held = Range(*self.fist_range())
        return self.offer("rv", held) if self.commitment == UNKNOWN else self.offer("rv", held, Secret("[0-9a-f]{32}"))

    def offer_hold(self) -> Legal:
        """A vizi in the fist, or a commitment to one."""
        return self.offer("mj", Secret(r"[0-9a-f]{64}|\?\?", UNKNOWN, Range(*self.fist_range())))
