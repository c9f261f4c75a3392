"""Ramsli, phase by phase. Sections in quotes are those of the Ramsli rules text.

The options are in :mod:`engine.tricks.ramsli_rules`, the movements of cards in :mod:`engine.tricks.ramsli_cards`. p1
sits at the dealer's left hand, the dealer is the last seat, play is clockwise. Words of the game: the *kitty* is the
money that is played for. In a *muss* ("must") it holds only the dealer's four units, and everybody plays. To *knock* is
to undertake two tricks. *Eins auf* is one card drawn face up. Phases:

===========  =============  ===========================================================================================
phase        verbs          who acts, and what for
===========  =============  ===========================================================================================
``post``     po             the dealer puts four units into the kitty, and looks at the bottom card ("The Deal")
``deal``     dh             the house deals two cards a seat, twice, and the cards drawn later
``call``     cl             the dealer says which card is turned up: the pack's top or bottom one ("The Deal")
``top``      up             the house turns up the pack's next card for trump
``bottom``   up             the house turns up the pack's bottom card for trump
``unseen``   kn lk          the dealer knocks on the trump card, which it takes, or looks at its hand ("Bidding")
``must``     kn             after the bottom card the dealer has to knock ("Bidding")
``knock``    kn ps          each seat from the dealer on knocks or passes, until one knocks ("Bidding")
``lay``      ds             a seat with five cards lays one of them away
``join``     in ps          the others play along or not, from the knocker's left ("Bidding")
``draw``     ex ds cl ps    each seat that plays, the knocker first, changes cards ("Further Deals")
``open``     up             the house turns up a fifth card for the seat ("Further Deals")
``play``     pl             four tricks ("The Play")
===========  =============  ===========================================================================================

A deal ends ``played``; ``alone``, if nobody plays along and the knocker takes the kitty; or ``failed``, if nobody
knocks on three suits, or the pack has no card of another suit, and the kitty remains. ``winner`` of the result is a
knocker without opponents, or the seat that took all four tricks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from engine.errors import CardMismatch, WrongCount
from engine.kernel.cards import TELL32
from engine.kernel.game import Game, Policy, require_no_redeals, require_stacks
from engine.kernel.grammar import (
    DEALER,
    HOUSE,
    SEAT,
    Action,
    Grammar,
    Role,
    Seen,
    Verb,
    amount,
    cards,
    number,
    seat,
    word,
)
from engine.kernel.legal import Legal, Range, Rows, Words
from engine.kernel.purse import Why
from engine.kernel.setup import Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.tricks.ramsli_cards import HAND, NEW_HAND, RamsliCards
from engine.tricks.ramsli_rules import POSTED, TERMS, RamsliRules, kitty_and_bank

SUITS = 3
"""Suits that are turned up at the most before a deal has failed ("Bidding")."""
KNOCKERS_TRICKS, TRICKS = 2, 1
"""What the knocker and the others undertake to take ("Bidding")."""

GRAMMAR = Grammar(
    Verb("po", SEAT, (amount(),), "the dealer puts four units into the kitty", label="Kitty", key="K"),
    Verb(
        "dh",
        HOUSE,
        (seat(), cards(Role.DEALT, Seen.TARGET, most=HAND)),
        "deal face down: hands, and cards drawn",
        label="Deal",
        key="D",
    ),
    Verb(
        "cl",
        SEAT,
        (word("top", "bottom", "up"),),
        "turn up the top or bottom card for trump; draw one card face up",
        label="Turn up",
        key="U",
        only="The pack has a card left to draw.",
    ),
    Verb(
        "up",
        HOUSE,
        (seat(optional=True), cards(Role.OPENED, Seen.ALL, most=1)),
        "turn up a card: for trump, or the fifth card of a seat",
        label="Turn card",
        key="T",
    ),
    Verb(
        "lk",
        SEAT,
        (number(),),
        "the dealer looks at its N cards, and so may not take the trump card any more",
        label="Look",
        key="L",
    ),
    Verb(
        "kn",
        SEAT,
        (cards(Role.TAKEN, Seen.ALL, most=1, optional=True),),
        "knock: undertake two tricks; the dealer, unseen, on the trump card, which it takes",
        label="Knock",
        key="N",
    ),
    Verb("in", SEAT, (), "play along with the knocker: undertake a trick", label="Play along", key="I"),
    Verb(
        "ex",
        SEAT,
        (cards(Role.PLAYED, Seen.ALL, most=1),),
        "give the seven of trumps for the trump card",
        label="Give seven",
        key="V",
        only="The seat holds the seven of trumps.",
    ),
    Verb(
        "ds",
        SEAT,
        (cards(Role.LAID_AWAY, Seen.ACTOR, most=HAND),),
        "lay away face down: cards to be drawn again, or one of five",
        label="Lay away",
        key="A",
        only="The pack has cards left to draw.",
    ),
    Verb("pl", SEAT, (cards(Role.PLAYED, Seen.ALL, most=1),), "play a card", label="Play", key="Y"),
    Verb("ps", SEAT, (), "do not knock, do not play along, draw no card", label="Pass", key="P"),
)


class RamsliState(RamsliCards):
    """One deal of Ramsli: who knocks, who plays, and what it costs."""

    GRAMMAR = GRAMMAR
    AUTOMATIC: ClassVar[tuple[str, ...]] = ("ps", "lk")
    __slots__ = ("joined", "kitty", "knocker", "queue", "standing", "upturned")

    FRESH = RamsliCards.FRESH | {"joined", "queue"}

    def __init__(self, setup: Setup, rules: RamsliRules, carried: tuple[int, int]) -> None:
        super().__init__(setup, rules)
        self.open_kitty(*carried)
        self.kitty = 0  # what is played for, once the dealer has posted
        self.standing = 0  # the kitty that is left for the next deal
        self.upturned = ""  # "top" or "bottom", "" before the dealer has said which
        self.knocker = 0
        self.joined: list[int] = []  # the seats that play, the knocker first; in a muss from the leader
        self.queue: list[int] = []  # seats still to be asked, the next one last
        self.enter("post", setup.seats)

    # -- the deal ----------------------------------------------------------------------------------------------------

    def post(self, action: Action) -> None:
        """``po N``: four units; what is then above the level goes to the bank ("The Deal", "Scoring")."""
        if action.amount != self.rules.posted:
            self.offer_post().require(action)
        self.to_kitty(action.actor, action.amount, Why.STAKE)
        if self.rules.level:
            self.bank_above(self.rules.level)
        self.kitty = self.pot
        self.deal_next(self.two_each(), RamsliState.ask_dealer)

    def two_each(self) -> list[tuple[int, int]]:
        """Two cards for everybody ("The Deal")."""
        return [(to, 2) for to in range(1, self.seats + 1)]

    @property
    def muss(self) -> bool:
        """Whether everybody has to play: the kitty holds the dealer's units alone ("Bidding")."""
        return self.kitty == self.rules.posted

    def ask_dealer(self) -> None:
        """Top or bottom ("The Deal")."""
        self.enter("call", self.seats)

    def call(self, action: Action) -> None:
        """``cl top``, ``cl bottom``: which card is turned up. ``cl up``: a card is drawn face up, eins auf."""
        if action.word not in self.calls():
            raise self.not_legal(action)
        if self.phase == "draw":
            self.enter("open", DEALER)
            return
        self.upturned = action.word
        self.enter(action.word, DEALER)

    def calls(self) -> tuple[str, ...]:
        """What may be called now."""
        if self.phase == "call":
            return ("top", "bottom")
        return ("up",) if self.left else ()

    def turn_up(self, action: Action) -> None:
        """``d up CARD``: the trump card. The first one is followed by the second half of the deal; a later one of a new
        suit by the same question, of an old suit by the next card at once ("Bidding")."""
        card = self.lift(action)
        suit, seen = card[1], card[1] in self.suits
        if not seen:
            self.suits += suit
            self.trump, self.lying = suit, card
        if len(self.suits) == 1 and not seen:
            self.deal_next(self.two_each(), RamsliState.ask_unseen)
        elif seen:
            self.turn_next()
        else:
            self.ask_to_knock()

    def turn_next(self) -> None:
        """Another card of the pack, if there is one ("Bidding")."""
        if self.left:
            self.enter("top", DEALER)
        else:
            self.close("failed", 0)

    # -- knocking ----------------------------------------------------------------------------------------------------

    def ask_unseen(self) -> None:
        """The dealer has not looked at its hand yet."""
        self.enter("unseen", self.seats)

    def look(self, action: Action) -> None:
        """``lk 4``: the dealer looks, and cannot take the trump card any more."""
        if action.amount != HAND:
            raise WrongCount(f"the dealer has {HAND} cards to look at, not {action.amount}", count=HAND)
        self.looked = True
        if self.upturned == "bottom":
            self.enter("must", self.seats)
        else:
            self.ask_to_knock()

    def ask_to_knock(self) -> None:
        """Everybody in turn, the dealer first ("Bidding")."""
        self.queue = [*range(self.seats - 1, 0, -1), self.seats]
        self.enter("knock", self.seats)

    def decline_to_knock(self) -> None:
        """The next seat is asked; when nobody knocks a muss is played all the same, else another card turned up, but
        for three suits at the most ("Bidding")."""
        self.queue.pop()
        if self.queue:
            self.turn = self.queue[-1]
        elif self.muss:
            self.begin_drawing([*range(1, self.seats + 1)])
        elif len(self.suits) < SUITS:
            self.turn_next()
        else:
            self.close("failed", 0)

    def knock(self, action: Action) -> None:
        """``kn``, and of the dealer who has not looked ``kn CARD``: the trump card comes into the hand, and one of five
        cards is laid away ("Bidding")."""
        if action.cards != ((self.lying,) if self.phase == "unseen" else ()):
            if action.cards:
                raise CardMismatch(f"p{action.actor} may not take {''.join(action.cards)}")
            raise self.not_legal(action)
        self.knocker = action.actor
        if not action.cards:
            self.ask_to_join()
            return
        self.looked = True
        self.lying = ""
        self.cards[action.actor] += action.cards
        self.enter("lay", action.actor)

    def after(self, seat: int) -> list[int]:
        """The other seats, from the left of this one on."""
        return [*range(seat + 1, self.seats + 1), *range(1, seat)]

    def ask_to_join(self) -> None:
        """The others play along or not, from the knocker's left; in a muss all play ("Bidding")."""
        self.joined = [self.knocker]
        others = self.after(self.knocker)
        if self.muss:
            self.begin_drawing([self.knocker, *others])
            return
        self.queue = others[::-1]
        self.enter("join", others[0])

    def join(self, action: Action) -> None:
        """``in``: the seat undertakes a trick."""
        self.joined.append(action.actor)
        self.ask_next_to_join()

    def ask_next_to_join(self) -> None:
        """Once all have answered, cards are drawn; the knocker alone takes the kitty ("Bidding")."""
        self.queue.pop()
        if self.queue:
            self.turn = self.queue[-1]
        elif len(self.joined) > 1:
            self.begin_drawing(self.joined)
        else:
            self.from_kitty(self.knocker, self.kitty)
            self.close("alone", self.knocker)

    # -- drawing -----------------------------------------------------------------------------------------------------

    def begin_drawing(self, joined: list[int]) -> None:
        """Every seat that plays, the knocker first ("Further Deals")."""
        self.joined = joined
        self.queue = joined[::-1]
        self.draw_next()

    def draw_next(self) -> None:
        """The next seat changes cards; after the last one the first of them leads ("The Play")."""
        if self.queue:
            self.changing = self.queue.pop()
            self.enter("draw", self.changing)
        else:
            self.begin_play(self.joined[0], tuple(self.joined))

    def discard(self, action: Action) -> None:
        """``ds CARDS``: so many are drawn instead, and for a whole hand a fifth one face up ("Further Deals")."""
        self.lay_away(action, 1, self.most_discarded())
        count = len(action.cards)
        self.deal_next([(action.actor, count)], RamsliState.open_fifth if count == HAND else RamsliState.draw_next)

    def most_discarded(self) -> int:
        """How many cards the pack lets a seat change."""
        return HAND if self.left >= NEW_HAND else min(self.left, HAND - 1)

    def open_fifth(self) -> None:
        """A new hand has a fifth card, face up ("Further Deals")."""
        self.enter("open", DEALER)

    def take_open(self, action: Action) -> None:
        """``d up pN CARD``: a fifth card, which lies open; one of five is laid away ("Further Deals")."""
        self.cards[self.changing] += (self.lift(action),)
        self.enter("lay", self.changing)

    def lay_one(self, action: Action) -> None:
        """``ds CARD``: one of five."""
        self.lay_away(action, 1, 1)
        if self.changing:
            self.draw_next()
        else:
            self.ask_to_join()

    # -- the end -----------------------------------------------------------------------------------------------------

    def decline(self, action: Action) -> None:
        """``ps``: no knock, no part in the deal, no cards."""
        _DECLINED[self.phase](self)

    def played_out(self) -> None:
        """Each trick takes its part of the kitty; who has failed makes the next one ("Scoring")."""
        part = self.kitty // POSTED
        for player in range(1, self.seats + 1):
            self.from_kitty(player, part * self.taken[player])
        for player in sorted(self.joined):
            self.to_kitty(player, self.fine(player), Why.PENALTY)
        self.close("played", self.taken.index(POSTED) if POSTED in self.taken else 0)

    def fine(self, seat: int) -> int:
        """What the seat owes for tricks that it did not take: the knocker twice the kitty, others once ("Scoring")."""
        if seat == self.knocker:
            return 2 * self.kitty if self.taken[seat] < KNOCKERS_TRICKS else 0
        return self.kitty if self.taken[seat] < TRICKS else 0

    def close(self, ending: str, winner: int) -> None:
        """The kitty stands for the next deal, levelled with the bank ("Scoring")."""
        if self.rules.level:
            self.bank_above(self.rules.level)
            self.top_up(self.rules.level)
        self.standing = self.pot
        self.finish(ending, winner, carry_out=self.carry_kitty())

    def series(self, ending: str) -> Mapping[str, object]:
        """Kitty and bank of the next deal."""
        return {"kitty": self.standing, "bank": self.bank}

    # -- who may know what -------------------------------------------------------------------------------------------

    def staked(self) -> tuple[int, ...]:
        """The dealer's units."""
        posted = 0 if self.phase == "post" else self.rules.posted
        return (*(0,) * (self.seats - 1), posted)

    def view_of_seat(self, seat: int, viewer: Viewer) -> dict[str, object]:
        """Whether it plays (None: not decided), whether it has knocked, its tricks."""
        drawn = self.changing or self.result is not None
        plays = True if seat in self.joined else None if seat in self.queue or not drawn else False
        return {"plays": plays, "knocked": seat == self.knocker, "tricks": self.taken[seat]}

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """The trick, kitty and bank, the trump card and its suit, how many cards the pack has; the bottom card for
        those who know it."""
        found = super().view_of_table(viewer)
        found |= {
            "kitty": self.standing if self.result is not None else self.pot,
            "bank": self.bank,
            "muss": self.muss,
            "trump": self.trump or None,
            "lying": self.lying or None,
            "talon": self.left,
        }
        bottom = self.bottom_seen(viewer)
        return found if bottom is None else found | {"bottom": bottom}

    # -- what may be done --------------------------------------------------------------------------------------------

    def offer_post(self) -> Legal:
        """Four units."""
        posted = self.rules.posted
        return self.offer("po", Range(posted, posted, posted))

    def offer_call(self) -> Legal | None:
        """Top or bottom; when cards are drawn, one face up."""
        calls = self.calls()
        return self.offer("cl", Words(calls)) if calls else None

    def offer_look(self) -> Legal:
        """All four cards."""
        return self.offer("lk", Range(HAND, HAND, name="count"))

    def offer_knock(self) -> Legal:
        """On the trump card as long as the dealer has not looked."""
        return self.offer("kn", Rows((self.lying,))) if self.phase == "unseen" else self.offer("kn")

    def offer_discard(self) -> Legal | None:
        """One of five; or as many as the pack lets the seat change."""
        if self.phase == "lay":
            return self.offer_away(1, 1)
        most = self.most_discarded()
        return self.offer_away(1, most) if most else None

    HANDLERS: ClassVar[dict[str, dict[str, Handler]]] = {
        "post": {"po": post},
        "deal": {"dh": RamsliCards.deal},
        "call": {"cl": call},
        "top": {"up": turn_up},
        "bottom": {"up": turn_up},
        "unseen": {"kn": knock, "lk": look},
        "must": {"kn": knock},
        "knock": {"kn": knock, "ps": decline},
        "lay": {"ds": lay_one},
        "join": {"in": join, "ps": decline},
        "draw": {"ex": RamsliCards.exchange, "ds": discard, "cl": call, "ps": decline},
        "open": {"up": take_open},
        "play": {"pl": RamsliCards.play},
        "over": {},
    }
    OFFERS: ClassVar[dict[str, Offer]] = {
        "po": offer_post,
        "dh": RamsliCards.offer_deal,
        "cl": offer_call,
        "up": RamsliCards.offer_up,
        "lk": offer_look,
        "kn": offer_knock,
        "in": lambda state: state.offer("in"),
        "ex": RamsliCards.offer_exchange,
        "ds": offer_discard,
        "pl": RamsliCards.offer_play,
        "ps": lambda state: state.offer("ps"),
    }


_DECLINED = {
    "knock": RamsliState.decline_to_knock,
    "join": RamsliState.ask_next_to_join,
    "draw": RamsliState.draw_next,
}


def _begin(setup: Setup, rules: RamsliRules) -> RamsliState:
    """A deal at its first line: kitty and bank make sense, and every stack covers the worst loss for this kitty."""
    require_no_redeals(setup)
    carried = kitty_and_bank(setup, rules)
    require_stacks(setup.stacks, rules.most_lost(rules.played_for(carried[0])))
    return RamsliState(setup, rules, carried)


GAME = Game(
    name="ramsli",
    title="Ramsli",
    rules=RamsliRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=2,
    max_seats=6,
    state=RamsliState,
    begin=_begin,
    policy=Policy(
        must_set=("unit", "bank_level"),
        zones=frozenset({"kitty", "carry", "bank"}),
        worst_loss=lambda rules, seats: rules.least_stack if rules.level else None,
        not_at_tables={"bank_level": (0,)},
    ),
    example={"unit": 100, "bank_level": 16},
    new_series=lambda ids, rules: {"kitty": 0, "bank": 0},
    continues=lambda series, ids, rules: bool(series),
    holds=lambda series, carry: sum(series.values()) == carry,
    terms=TERMS,
    weights={"pl": 4, "in": 3, "ps": 3, "ds": 3, "kn": 2, "ex": 3, "cl": 2, "lk": 2},
)
