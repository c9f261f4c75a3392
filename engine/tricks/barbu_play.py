"""The play of Barbu's contracts: tricks, and the layout of dominoes ("The Seven Contracts"). Who called and doubled
what, and what it all comes to, is in :mod:`engine.tricks.barbu`."""

from __future__ import annotations

from typing import NoReturn

from engine.kernel.cards import FRENCH52, UNKNOWN
from engine.kernel.grammar import Action, actor_name
from engine.kernel.legal import Legal, Rows
from engine.kernel.setup import Setup
from engine.kernel.state import Handler, State
from engine.tricks.barbu_dominoes import FOLLOWERS, rows
from engine.tricks.barbu_rules import BarbuRules
from engine.tricks.barbu_scores import CARDS, HEARTS, KING_OF_HEARTS, QUEENS, SEATS, TRICKS, Taken
from engine.tricks.duties import Duties
from engine.tricks.following import FollowState
from engine.tricks.masks import can_be_dealt

FACE_UP = {"queens": QUEENS, "hearts": HEARTS}
"""Cards that lie face up before the seat that took them, by contract."""
DUMPED = {"queens": QUEENS, "king": KING_OF_HEARTS}
"""Cards that ``must_dump`` is about, by contract."""
NEXT = {seat: seat % SEATS + 1 for seat in range(1, SEATS + 1)}
"""The seat on the left of each."""


class BarbuPlay(FollowState):
    """The cards of one deal of Barbu, from the first lead to the end of the play."""

    PACK = FRENCH52
    MASKS = CARDS
    HIGHER = CARDS.higher
    __slots__ = ("contract", "dumped", "fits", "out", "start", "stop")

    FRESH = FollowState.FRESH | {"out"}

    rules: BarbuRules

    def __init__(self, setup: Setup, rules: BarbuRules) -> None:
        super().__init__(setup, rules)
        self.contract = ""  # "" before the call
        # Tricks.
        self.dumped = 0  # cards to be played as soon as that is safe
        self.stop = CARDS.every  # the play ends with the trick that has the last of them
        # Dominoes.
        self.start = ""  # the rank that the rows start from, "" until it is known
        self.fits = 0  # the cards that may be laid
        self.out: list[int] = []  # the seats that have laid all their cards, in order

    # -- tricks ------------------------------------------------------------------------------------------------------

    def begin_tricks(self, trump: int) -> None:
        """The seat on the dealer's left leads, not the declarer ("Deal, Declaration and Lead")."""
        rules, contract = self.rules, self.contract
        self.trump = trump
        if rules.bans_hearts(contract):
            self.lead = (CARDS.every & ~HEARTS,)
        if rules.must_dump:
            self.dumped = DUMPED.get(contract, 0)
        if contract == "queens":
            self.stop = QUEENS
        elif rules.early_stop == "all":
            self.stop = {"king": KING_OF_HEARTS, "hearts": HEARTS}.get(contract, CARDS.every)
        self.duties = self.lead
        self.enter("tricks", 1)

    def to_follow(self) -> Duties:
        """The duties of a seat that does not lead.

        It follows suit. A trump that is led is topped if possible, and who cannot follow another suit heads the trick
        with a trump if possible, unless the table leaves that free; there is no duty to trump below one. With
        ``must_dump`` a card to be rid of goes under a higher one of its suit, or away to another suit.
        """
        suit, trump = self.suit, self.trump
        if trump:
            heading = trump & self.beating
            if suit == trump:
                return (heading, suit)
            return (suit, heading) if self.rules.trump_void == "must" else (suit,)
        if self.dumped:
            return (self.dumped & suit & ~self.beating, suit, self.dumped)
        return (suit,)

    def goes_on(self) -> bool:
        """Not once nothing is at stake any more."""
        return bool(self.stop & ~self.gone) and len(self.winners) < TRICKS

    # -- dominoes ----------------------------------------------------------------------------------------------------

    def begin_dominoes(self, declarer: int, start: str) -> None:
        """The declarer begins, or the next seat that can; without a rank, with any card."""
        self.start = start
        self.fits = CARDS.ranks[start] if start else CARDS.every
        self.enter("dominoes", declarer)
        self.turn = self.next_to_lay(declarer)

    def lay(self, action: Action) -> None:
        """``pl CARD`` to the layout: one that fits, or the first of all if it decides the rank."""
        seat, card = action.actor, action.cards[0]
        bit = CARDS.bits.get(card, 0)
        if self.blind:
            self.require_possible_layer(action, bit)
        elif not bit & self.hands[seat] & self.fits:
            self.refuse_layer(action, bit)
        self.put_down(seat, card, bit)
        if not self.start:
            self.start = card[0]
            self.fits = CARDS.ranks[self.start]
        self.fits = self.fits & ~bit | FOLLOWERS[self.rules.domino_ace, self.start][card]
        if not self.cards[seat]:
            self.out.append(seat)
            if len(self.out) == SEATS - 1:
                self.played_out()
                return
        self.turn = self.next_to_lay(NEXT[seat])

    def refuse_layer(self, action: Action, bit: int) -> NoReturn:
        """The refusal of a card that is not held, or does not fit."""
        self.require_held(action.actor, action.cards[0], bit)
        raise self.not_playable(action)

    def next_to_lay(self, seat: int) -> int:
        """The first seat from this one on that has a card that fits; a seat without one is passed over. Some seat has
        one: the next card of any row is in a hand."""
        if self.blind:
            return self.may_lay_from(seat)[0]
        hands, fits = self.hands, self.fits
        while not hands[seat] & fits:
            seat = NEXT[seat]
        return seat

    # -- dominoes with cards that are not known ------------------------------------------------------------------------

    def may_lay_from(self, seat: int) -> list[int]:
        """The seats that may be the next to lay a card, in order from this one: each may hold one that fits, while
        those before it may all be without. Where the house knows some hands and not others, this reveals a little of
        those it knows."""
        found = []
        passed: dict[int, int] = {}
        for _ in range(SEATS):
            if self.cards[seat] and self.fitting(seat, passed):
                found.append(seat)
            passed[seat] = self.fits
            if not self.may_all_lack(passed):
                break
            seat = NEXT[seat]
        return found

    def may_all_lack(self, passed: dict[int, int]) -> bool:
        """Whether these seats may be without these cards."""
        lacks = self.also_without(passed)
        counts = [cards.count(UNKNOWN) for cards in self.cards]
        known = any(held & lack for held, lack in zip(self.hands, lacks, strict=True))
        return not known and can_be_dealt(counts, self.free(), lacks)

    def fitting(self, seat: int, passed: dict[int, int]) -> int:
        """The cards that the seat may lay, if these seats were passed over."""
        lacks = self.also_without(passed)
        bits = map(CARDS.bits.__getitem__, CARDS.cards(self.fits))
        return sum(bit for bit in bits if self.may_lie(seat, bit, lacks))

    def passed_before(self, seat: int) -> dict[int, int]:
        """The seats from the one whose turn it is up to this one, with the cards that they are then without."""
        found, at = {}, self.turn
        while at != seat:
            found[at] = self.fits
            at = NEXT[at]
        return found

    def require_possible_layer(self, action: Action, bit: int) -> None:
        """Raise what :meth:`lay` raises among hands that are not all known. A seat that was passed over is without any
        card that fits, and that is kept."""
        passed = self.passed_before(action.actor)
        self.require_held(action.actor, action.cards[0], bit)
        lacks = self.also_without(passed)
        if not bit & self.fits or not self.may_lie(action.actor, bit, lacks):
            raise self.not_playable(action)
        self.lacks = lacks

    def actors(self) -> tuple[int, ...]:
        """Several where hands that are not known leave it open who is passed over."""
        if self.phase != "dominoes" or not self.blind or self.pending:
            return super().actors()
        return tuple(self.may_lay_from(self.turn))

    def out_of_turn(self, action: Action) -> Handler | None:
        """A seat acts whose turn it is if those before it are passed over."""
        if action.actor in self.actors()[1:]:
            return {"pl": BarbuPlay.lay, "au": BarbuPlay.run_out_late}.get(action.verb)
        return None

    def run_out_late(self, action: Action) -> None:
        """``au`` of a seat whose turn it is if those before it are passed over."""
        self.lacks = self.also_without(self.passed_before(action.actor))
        self.turn = action.actor
        State.run_out(self, action)

    def legal(self) -> list[Legal]:
        """An offer for each seat that may be next."""
        actors = self.actors()
        if len(actors) < 2:
            return super().legal()
        offers = []
        for seat in actors:
            cards = CARDS.cards(self.fitting(seat, self.passed_before(seat)))
            offers.append(Legal(actor_name(seat), "pl", (Rows(cards),)))
        return offers

    # -- what follows, and what may be done ----------------------------------------------------------------------------

    def won(self) -> Taken:
        """What the play came to."""
        return Taken(self.taken, self.winners, self.out)

    def offer_play(self) -> Legal:
        """A card to the trick, or to the layout."""
        seat = self.turn
        if self.phase == "tricks":
            mask = self.playable(seat)
        else:
            mask = self.fitting(seat, {}) if self.blind else self.hands[seat] & self.fits
        return self.offer("pl", Rows(CARDS.cards(mask)))

    def face_up_before(self, seat: int) -> list[str]:
        """The cards in the seat's tricks that lie face up before it."""
        return list(CARDS.cards(self.taken[seat] & FACE_UP.get(self.contract, 0)))

    def layout(self) -> dict[str, list[str]]:
        """The rows of dominoes."""
        return rows(self.gone, self.rules.domino_ace) if self.contract == "dominoes" else {}
