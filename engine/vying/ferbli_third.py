"""The third round of Ferbli: betting, blind betting and the showdown ("Third betting round", "Blind betting")."""

from __future__ import annotations

from engine.kernel.grammar import Action
from engine.kernel.legal import Legal, Range
from engine.kernel.setup import Setup
from engine.vying.ferbli_rules import FerbliRules
from engine.vying.ferbli_second import SecondRound
from engine.vying.pot_rules import MOST_RAISES


class ThirdRound(SecondRound):
    """Check or bet, answer, and the last matcher's right (after a blind bet: duty) to raise."""

    __slots__ = ("blind_bet", "blind_over", "raises")

    def __init__(self, setup: Setup, rules: FerbliRules) -> None:
        SecondRound.__init__(self, setup, rules)
        self.raises = 0  # bets and raises of the third round
        self.blind_bet = False  # the bet being answered is blind
        self.blind_over = False  # a seat that had seen all four cards has bet in the third round

    def open_third(self) -> None:
        """Check or bet, from the first active seat in play order; with side pots, from the first that can bet at all.
        Where nobody can, there is nothing to check for, and the cards are shown."""
        self.queue = self.active[::-1]
        if self.table_stakes:
            self.queue = [seat for seat in self.queue if self.decides(seat)]
        if not self.somebody_can_bet():
            self.begin_showdown()
        elif self.rules.cuhhol:
            self.enter("cuhhol", self.queue[-1])
        else:
            self.enter("open", self.queue[-1])

    def somebody_can_bet(self) -> bool:
        """Whether the stacks leave any seat of the queue the least bet, a vizi; the text is silent on short ones."""
        for seat in self.queue:
            self.turn = seat  # a stack's reach is that of the seat whose turn it is
            low, high = self.free_range()
            if low <= high:
                return True
        return False

    def check(self, action: Action) -> None:
        """A check; if all have checked, nobody wins and the pot stays. With side pots a seat that is all-in was not
        asked, so not everyone has checked, and the cards are shown."""
        if self.pass_on():
            return
        if self.table_stakes and not all(self.stacks[seat] for seat in self.active):
            self.begin_showdown()
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
        again."""
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
        self.begin_answers("answer", self.after(seat), ThirdRound.give_last_word)

    def give_last_word(self) -> None:
        """The last seat that matched, and only it, may raise; with side pots the last that still can."""
        for seat in reversed(self.matchers):
            if self.decides(seat):
                self.enter("last_word", seat)
                return
        self.begin_showdown()

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
        key = self.rules.key
        if self.table_stakes:
            self.award_pots({seat: key(self.cards[seat]) for seat in self.active}, "showdown")
            return
        # max() keeps the first of equals, and the active seats stand in the order of showing.
        winner = max(self.active, key=lambda seat: key(self.cards[seat]))
        self.award(winner, self.rules, "showdown")

    # -- limits ----------------------------------------------------------------------------------------------

    def free_range(self) -> tuple[int, int]:
        """As :meth:`bet_range`, in the third round, whose number of raises may be capped."""
        low, high = self.bet_range()
        return low, high if self.raises < (self.rules.raise_cap or MOST_RAISES) else 0

    # -- what may be done ------------------------------------------------------------------------------------

    def offer_bet(self) -> Legal | None:
        """A bet or raise, if the stacks allow one."""
        low, high = self.bet_range() if self.phase == "besszer" else self.free_range()
        return self.offer("rb", Range(low, high, self.bet_step)) if low <= high else None

    def offer_blind_raise(self) -> Legal | None:
        """A blind raise in mid-order, if the bet and the seat are blind."""
        if not (self.blind_bet and self.is_blind(self.turn)):
            return None
        low, high = self.free_range()
        return self.offer("br", Range(low, high, self.bet_step)) if low <= high else None

    def offer_stand(self) -> Legal | None:
        """Standing, unless the raise is compulsory."""
        return None if self.must_raise() else self.offer("st")
