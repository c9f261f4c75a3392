"""Cuhhol: no checking in the third round; a seat that does not bet shows its hand, and if no hand beats it, the pot is
dealt for ("Variations")."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

from engine.errors import CardMismatch, CardNotInPack, CardUnknown, DeckMissing, MalformedSetup
from engine.kernel.cards import UNKNOWN
from engine.kernel.grammar import DEALER, Action
from engine.kernel.legal import Legal
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.vying.ferbli_rules import FerbliRules
from engine.vying.ferbli_third import ThirdRound


class Cuhhol(ThirdRound):
    """The hand laid open, those who must beat it, and the cuhhkassza: cards dealt face up until one hand does."""

    __slots__ = ("exposed_key", "exposer", "redeals", "redealt", "repeat_deals", "rest")

    FRESH: ClassVar[frozenset[str]] = ThirdRound.FRESH | {"redeals", "redealt"}

    def __init__(self, setup: Setup, rules: FerbliRules) -> None:
        ThirdRound.__init__(self, setup, rules)
        self.exposer = 0  # the seat that has laid its hand open
        self.exposed_key = 0  # what it is worth
        self.rest: tuple[str, ...] = ()  # all cards but those of the exposed hand
        self.redeals = list(setup.redeals)  # packs still to deal from, the next one first
        self.redealt: list[tuple[str, ...]] = []  # the face-up hands by seat
        self.repeat_deals = 0  # how often they were dealt

    # -- the hand laid open ----------------------------------------------------------------------------------

    def cuhhol(self, action: Action) -> None:
        """``cu CARDS``: the first active seat shows its hand instead of betting; the others must beat it."""
        seat = action.actor
        self.lay_open(action)
        self.seen[seat] = len(self.cards[seat])
        self.exposer = seat
        self.exposed_key = self.rules.key(self.cards[seat])
        self.queue = self.after(seat)[::-1]
        self.enter("higher", self.queue[-1])

    def is_higher(self, seat: int) -> bool | None:
        """Whether the seat beats the exposed hand; None where its cards are not known."""
        cards = self.cards[seat]
        return None if UNKNOWN in cards else self.rules.key(cards) > self.exposed_key

    def may_answer(self, seat: int, *, higher: bool) -> bool:
        """A seat that has seen all its cards says whether they are higher; where they are known, the truth, and where
        they are not, nothing that cannot be true."""
        if self.unseen(seat):
            return False
        known = self.is_higher(seat)
        if known is None:
            return not higher or self.could_be_higher(seat)
        return known is higher

    def could_be_higher(self, seat: int) -> bool:
        """Whether cards that lie nowhere else could make the seat's hand higher than the exposed one."""
        named = tuple(card for card in dict.fromkeys((*self.cards[seat], *self.up[seat])) if card != UNKNOWN)
        free = [card for card in self.pack.cards if card not in self.known]
        return self.beats_some(named, free)

    def beats_some(self, named: tuple[str, ...], free: Sequence[str]) -> bool:
        """Whether ``named`` with some of the ``free`` cards, four in all, beat the exposed hand."""
        key, exposed = self.rules.key, self.exposed_key
        return any(key((*named, *others)) > exposed for others in combinations(free, 4 - len(named)))

    def stay_in(self, action: Action) -> None:
        """``k``: the seat's hand is higher."""
        if not self.may_answer(action.actor, higher=True):
            raise self.not_legal(action)
        self.next_comparison()

    def give_way(self, action: Action) -> None:
        """``f``: the seat's hand is not higher, so it must drop out."""
        if not self.may_answer(action.actor, higher=False):
            raise self.not_legal(action)
        self.active.remove(action.actor)
        self.next_comparison()

    def automatic(self) -> tuple[str, str | None]:
        """As in every game; whether a hand that nobody knows is higher is for its seat to say."""
        verb, line = super().automatic()
        if self.phase == "higher" and verb == "k" and self.is_higher(self.turn) is None:
            return verb, None
        return verb, line

    def next_comparison(self) -> None:
        """The next seat compares; after the last one the first of the higher hands must bet, or wins alone."""
        if self.pass_on():
            return
        if len(self.active) == 1:
            self.open_cuhhkassza()
        else:
            self.active.remove(self.exposer)
            if len(self.active) == 1:
                self.begin_showdown()
            else:
                self.demand_bet()

    def demand_bet(self) -> None:
        """The first of the higher hands that can bet must; if none can, the cards are shown."""
        for seat in self.active:
            if self.decides(seat):
                self.turn = seat
                low, high = self.free_range()
                if low <= high:
                    self.enter("must_bet", seat)
                    return
        self.begin_showdown()

    def require_shown(self, seat: int, cards: tuple[str, ...]) -> None:
        """A seat that claimed a higher hand shows one that is."""
        if self.exposer and self.rules.key(cards) <= self.exposed_key:
            raise CardMismatch(
                f"p{seat} said that its hand was higher, {''.join(cards)} is not; if these are its cards, void the hand"
            )

    def showdown(self) -> None:
        """As always; the exposed hand competes only for what nobody above it has matched."""
        if not self.exposer:
            super().showdown()
            return
        ending = "cuhhol" if len(self.active) == 1 else "showdown"
        seats = sorted([*self.active, self.exposer]) if self.table_stakes else self.active
        self.award_pots({seat: self.rules.key(self.cards[seat]) for seat in seats}, ending)

    # -- cuhhkassza ------------------------------------------------------------------------------------------

    def open_cuhhkassza(self) -> None:
        """No hand is higher: the exposed hand stays, and everyone at the table is dealt four cards face up."""
        self.return_uncalled(max(range(1, self.seats + 1), key=self.stakes.__getitem__))
        if self.rules.cuhhkassza_vizi == "paid":
            self.pay_missing()
        exposed = self.cards[self.exposer]
        self.rest = tuple(card for card in self.pack.cards if card not in exposed)
        self.open_from = len(self.log) + 1  # the line that is being applied is not in the log yet
        if self.beats_some((), self.rest):
            self.deal_again()
        else:
            self.carry_on("cuhhkassza_left")

    def deal_again(self) -> None:
        """Four cards a seat from a pack of all cards but the exposed ones."""
        self.repeat_deals += 1
        self.redealt = [()] * (self.seats + 1)
        self.known = set(self.cards[self.exposer])
        self.source = self.redeals.pop(0) if self.redeals else None
        self.next_card = 0
        self.deals = [(seat, 4) for seat in range(self.seats, 0, -1)]
        self.enter("redeal", DEALER)

    def deal_open(self, action: Action) -> None:
        """``d dh pN CARDS``, face up."""
        if self.wants() is not None:
            raise DeckMissing("the cards must be shuffled again before they are dealt", cards=len(self.rest))
        if UNKNOWN in action.cards:
            raise CardUnknown("a card that is dealt face up must be named")
        if self.source is not None and not self.next_card:
            self._require_rest(self.source)
        self.draw(action.target, action.cards)
        self.redealt[action.target] = action.cards
        if not self.deals:
            self.close_redeal()

    def close_redeal(self) -> None:
        """The highest hand wins if it beats the exposed one, of equals the first in play order. Else everyone pays
        another vizi and the cards are dealt again; where a seat cannot, or after the last deal, the pot stays."""
        keys = {seat: self.rules.key(self.redealt[seat]) for seat in range(1, self.seats + 1)}
        winner = max(keys, key=keys.__getitem__)
        if keys[winner] > self.exposed_key:
            self.award(winner, self.rules, "cuhhkassza")
        elif self.repeat_deals == self.rules.redeal_cap or min(self.stacks[1:]) < self.vizi:
            self.carry_on("cuhhkassza_left")
        else:
            for seat in keys:
                self.pay_penalty(seat)
            self.deal_again()

    def face_up_hands(self) -> list[tuple[str, ...]]:
        """The hands of the cuhhkassza as they lie, p1 first; none without one."""
        return self.redealt[1:]

    def spare(self) -> int:
        """Packs that are still to be dealt from."""
        return len(self.redeals)

    def wants(self) -> tuple[str, ...] | None:
        """The pack of a redeal, where the deck is known and this pack is not."""
        return self.rest if self.phase == "redeal" and self.deck is not None and self.source is None else None

    def supply(self, deck: tuple[str, ...]) -> None:
        """Take the pack of a redeal."""
        if self.wants() is None:
            raise MalformedSetup("no cards are to be shuffled again now")
        self._require_rest(deck)
        self.source = deck

    def _require_rest(self, deck: tuple[str, ...]) -> None:
        if len(deck) != len(self.rest) or set(deck) != set(self.rest):
            raise CardNotInPack("a redeal needs all cards but the exposed ones, each once", cards=len(self.rest))

    def legal_for(self, viewer: Viewer) -> list[Legal]:
        """Whether a hand is higher its holder says; to others, both answers stand open until then."""
        if self.phase == "higher" and viewer not in (self.turn, AUDITOR) and not self.unseen(self.turn):
            return [self.offer("k"), self.offer("f")]
        return super().legal_for(viewer)

    # -- what may be done ------------------------------------------------------------------------------------

    def offer_cuhhol(self) -> Legal:
        """The seat lays its hand open."""
        return self.offer_show("cu")

    def offer_stay(self) -> Legal | None:
        """``k`` everywhere; against an exposed hand only for a higher one."""
        if self.phase == "higher" and not self.may_answer(self.turn, higher=True):
            return None
        return self.offer("k")

    def offer_fold(self) -> Legal | None:
        """``f`` everywhere; against an exposed hand only for one that is not higher."""
        if self.phase == "higher" and not self.may_answer(self.turn, higher=False):
            return None
        return self.offer("f")
