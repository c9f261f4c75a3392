"""Rufmariasch (German *rufen*, to call: *Marias* with a called partner). Sections in quotes are of its rules text.

The options that settle what the text leaves open are in :mod:`engine.tricks.rufmariasch_rules`. p1 is *der Spieler*,
the player who calls; p4 deals, play is clockwise. Cards rank A X K O U 9 8 7, the ten second. Phases:

===============  =====  ======================================================================================
phase            verbs  who acts, and what for
===============  =====  ======================================================================================
``deal``         dh     the house deals four cards a seat, and four more after the call ("The Deal")
``call``         cl     p1 names a card: its suit is trumps, and who gets it is p1's partner ("The Call")
``first_trick``  pl ml  from p1; beside the turn any seat melds king and over of a suit ("Melding")
``tricks``       pl     from the second trick on; the winner of a trick leads to the next ("The Play")
===============  =====  ======================================================================================

No seat learns who the partner is, not even from what is legal, before the called card is played or melded: until then
nothing here depends on where it lies. A seat whose hand has no pair to meld cannot be distinguished from one that keeps
quiet, so what may be melded is on offer to its own seat only.

A deal ends ``partners`` or ``alone``, as p1 had a partner or not. ``winner`` of the result is the first seat of the
side with more points, p1 or another; the points of both sides are an odd multiple of ten, so they are never equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from engine.errors import CardMismatch, VerbNotLegal
from engine.kernel.cards import TELL32, UNKNOWN
from engine.kernel.events import Event, TurnedUp
from engine.kernel.game import Game, Policy, require_settles_itself
from engine.kernel.grammar import HOUSE, SEAT, Action, Grammar, Role, Seen, Verb, actor_name, cards, seat, word
from engine.kernel.legal import Legal, Rows, Words
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.tricks.duties import Duties
from engine.tricks.following import FollowState
from engine.tricks.masks import higher_in, masks_of
from engine.tricks.rufmariasch_rules import LAST_TRICK, TERMS, RufmariaschRules
from engine.tricks.scores import go_on, new_scores, scores_after, scores_of
from engine.tricks.state import TrickState

SEATS, PACKET = 4, 4
"""Seats, and cards of a packet: two packets make a hand ("The Deal")."""
PACKETS = [(seat, PACKET) for seat in range(1, SEATS + 1)]
CARDS = masks_of(TELL32)
COUNTING, COUNTS = CARDS.ranks["A"] | CARDS.ranks["X"], 10
"""The cards that count, and what each of them does ("Scoring")."""
PAIRS = {f"K{suit}O{suit}": CARDS.mask((f"K{suit}", f"O{suit}")) for suit in TELL32.suits}
"""The melds, by their cards."""
MELD, MELD_IN_TRUMPS = 20, 40
TWO_CALLS = {card: tuple(f"{card} {suit}" for suit in TELL32.suits) for card in TELL32.cards}
CALLS = tuple(call for card in TELL32.cards for call in (card, *TWO_CALLS[card]))
"""Everything that can be called: a card, or a card and the trump suit."""

GRAMMAR = Grammar(
    Verb(
        "dh",
        HOUSE,
        (seat(), cards(Role.DEALT, Seen.TARGET, most=PACKET)),
        "the house deals four cards face down",
        label="Deal",
        key="D",
    ),
    Verb(
        "cl",
        SEAT,
        (word(*CALLS, name="call"),),
        "call a card, and the trump suit where that is called apart",
        label="Call",
        key="C",
    ),
    Verb("pl", SEAT, (cards(Role.PLAYED, Seen.ALL, most=1),), "play a card to the trick", label="Play", key="Y"),
    Verb(
        "ml",
        SEAT,
        (cards(Role.TURNED, Seen.ALL, most=2),),
        "meld king and over of a suit, on turn or not",
        aside=True,
        beside=True,
        label="Meld",
        key="M",
        only="The seat holds king and over of a suit, and has not shown that pair yet.",
    ),
)


class RufmariaschState(FollowState):
    """One deal of Rufmariasch."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    MASKS = CARDS
    HIGHER = higher_in(TELL32, "AXKOU987")
    NOT_AN_ACT = frozenset({"ml"})
    __slots__ = ("called", "melds", "names", "partner", "points", "score")

    FRESH: ClassVar[frozenset[str]] = FollowState.FRESH | {"melds"}

    rules: RufmariaschRules

    def __init__(self, setup: Setup, rules: RufmariaschRules) -> None:
        super().__init__(setup, rules)
        self.names = setup.names  # who sits on the seats, p1 first
        self.score = scores_of(setup)  # p1 first, as it was carried in
        self.called = ""  # the card, "" before the call
        self.partner = 0  # the seat that has shown the called card, p1 if it is alone; 0 before
        self.melds: list[tuple[int, str]] = []  # who has melded what
        self.points: tuple[int, ...] = ()  # of each seat, p1 first, once the deal is over
        self.deal_next(PACKETS, RufmariaschState.open_call)

    # -- the call ----------------------------------------------------------------------------------------------------

    def open_call(self) -> None:
        """p1 has seen four cards."""
        self.enter("call", 1)

    def calls(self, own: tuple[str, ...]) -> tuple[str, ...]:
        """What p1 may call while it holds these cards, in the order of the pack."""
        rules = self.rules
        cards = tuple(card for card in TELL32.cards if rules.call_own_card or card not in own)
        if not rules.two_calls:
            return cards
        return tuple(
            call for card in cards for call in TWO_CALLS[card] if not (rules.must_differ and call[-1] == card[1])
        )

    def call(self, action: Action) -> None:
        """``cl CARD`` or ``cl CARD SUIT`` ("The Call", "Variant")."""
        if action.word not in self.calls(self.cards[1]):
            raise VerbNotLegal(f"{action.word!r} cannot be called", phase=self.phase, verbs=["cl"])
        self.called = action.word[:2]
        self.trump = CARDS.suits[action.word[-1]]
        self.deal_next(PACKETS, RufmariaschState.open_play)

    def deal_packet(self, action: Action) -> None:
        """``dh``: where own cards cannot be called, the called card must lie somewhere but in p1's first packet."""
        if self.called and len(self.deals) == 1 and not self.rules.call_own_card and self.called not in self.known:
            elsewhere = (*self.cards[1][PACKET:], *self.cards[2], *self.cards[3], *self.cards[4], *action.cards)
            if not {self.called, UNKNOWN} & {*elsewhere}:
                raise CardMismatch("the called card would be one of p1's first four")
        self.deal(action)

    def open_play(self) -> None:
        """All hands are full, p1 leads."""
        self.take_up()
        if self.blind and not self.rules.call_own_card and UNKNOWN not in self.cards[1][PACKET:]:
            # The called card was none of the first four, and the other four are known.
            self.lacks = self.also_without({1: CARDS.bits[self.called] & ~self.hands[1]})
        self.enter("first_trick", 1)

    # -- melds -------------------------------------------------------------------------------------------------------

    def out_of_turn(self, action: Action) -> Handler | None:
        """Melds are shown beside the turn."""
        return self.verbs.get("ml") if action.verb == "ml" else None

    def meld(self, action: Action) -> None:
        """``ml KsOs``: both cards are in the hand now, and stay there ("Melding")."""
        seat, pair = action.actor, "".join(action.cards)
        if seat > SEATS or pair not in PAIRS:
            raise CardMismatch("a meld is king and over of one suit, the king first", cards=list(PAIRS))
        if (seat, pair) in self.melds:
            raise VerbNotLegal(f"p{seat} has melded {pair}", phase=self.phase, verbs=["pl"])
        if not self.may_meld(seat, pair):
            raise CardMismatch(f"p{seat} does not hold {pair}")
        self.show(seat, action.cards)
        self.melds.append((seat, pair))
        if self.called in action.cards:
            self.partner = seat

    def may_meld(self, seat: int, pair: str) -> bool:
        """Whether the seat holds this pair, or may hold it for all that is known."""
        bits = PAIRS[pair]
        return bits & self.hands[seat] == bits or (self.blind and self.may_lie(seat, bits, self.lacks))

    def show(self, seat: int, cards: tuple[str, ...]) -> None:
        """Cards of the hand are known from now on."""
        held = list(self.cards[seat])
        for card in cards:
            if card not in held:
                held[held.index(UNKNOWN)] = card
                self.known.add(card)
                self.hands[seat] |= CARDS.bits[card]
        self.cards[seat] = tuple(held)

    # -- the play ----------------------------------------------------------------------------------------------------

    def play_first(self, action: Action) -> None:
        """``pl CARD`` to the first trick; with its fourth card it is too late to meld ("Melding")."""
        self.play(action)
        if self.winners:
            self.enter("tricks", self.turn)

    def put_down(self, seat: int, card: str, bit: int) -> None:
        """The called card shows whose partner its seat is ("The Call")."""
        super().put_down(seat, card, bit)
        if card == self.called:
            self.partner = seat

    def to_follow(self) -> Duties:
        """Follow suit, else trump; in either, head the trick if possible ("The Play"). Once a trick is trumped no card
        of another suit heads it."""
        suit, trump, beating = self.suit, self.trump, self.beating
        if suit == trump:
            return (suit & beating, suit)
        return (suit & beating, suit, trump & beating, trump)

    # -- the end -----------------------------------------------------------------------------------------------------

    def played_out(self) -> None:
        """The last trick is taken: the losers pay the difference ("Scoring")."""
        self.points = tuple(map(self.points_of, range(1, SEATS + 1)))
        ours = sorted({1, self.partner})
        others = [seat for seat in range(1, SEATS + 1) if seat not in ours]
        difference = sum(self.points[seat - 1] for seat in ours) - sum(self.points[seat - 1] for seat in others)
        if len(ours) == 1:
            ours *= len(others)  # a seat that is alone stands for its whole side
        for one, other in zip(ours, others, strict=True):
            self.pay(other, one, difference * self.rules.unit)
        self.finish("alone" if self.partner == 1 else "partners", (ours if difference > 0 else others)[0])

    def points_of(self, seat: int) -> int:
        """The points of a seat: aces and tens, the last trick, and its melds if it took a trick ("Scoring")."""
        points = COUNTS * (self.taken[seat] & COUNTING).bit_count() + LAST_TRICK * (seat == self.winners[-1])
        if self.taken[seat]:
            points += sum(MELD_IN_TRUMPS if PAIRS[pair] & self.trump else MELD for by, pair in self.melds if by == seat)
        return points

    def series(self, ending: str) -> Mapping[str, object]:
        """The score with the points that each has won or lost."""
        return scores_after(self.names, self.score, [net // self.rules.unit for net in self.net()])

    # -- who may know what -------------------------------------------------------------------------------------------

    def legal_for(self, viewer: Viewer) -> list[Legal]:
        """What may be melded is known to its own seat only: that there is anything to meld reveals cards. So does
        what may not be called, where own cards are ruled out. A seat knows its pairs, on turn or not."""
        offers = super().legal_for(viewer)
        if viewer == AUDITOR:
            return offers
        if self.phase == "call" and viewer != 1:
            return [self.offer("cl", Words(self.calls(())))]
        if type(viewer) is not int:
            return [offer for offer in offers if offer.verb != "ml"]
        own = [offer for offer in offers if offer.verb != "ml" or offer.actor == actor_name(viewer)]
        if UNKNOWN in self.cards[viewer]:
            return own
        return [self.offer_melds(viewer) or offer if offer.verb == "ml" else offer for offer in own]

    def view_of_seat(self, seat: int, viewer: Viewer) -> dict[str, object]:
        """The seat's melds and its tricks."""
        return {
            "melds": [pair for by, pair in self.melds if by == seat],
            "tricks": self.tricks_of(seat),
            "score": self.score[seat - 1],
        }

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """The call, the partner once the called card was seen (p1 where it is alone), and in the end the points."""
        found = super().view_of_table(viewer)
        trump = next((suit for suit, mask in CARDS.suits.items() if mask == self.trump), None)
        partner = actor_name(self.partner) if self.partner else None
        found |= {"called": self.called or None, "trump": trump, "partner": partner}
        if self.result is not None:
            found["points"] = list(self.points)
        return found

    def events(self, action: Action) -> list[Event]:
        """A meld lies face up."""
        return [TurnedUp(action.actor, action.cards)] if action.verb == "ml" else super().events(action)

    # -- what may be done --------------------------------------------------------------------------------------------

    def legal(self) -> list[Legal]:
        """What the seat whose turn it is may do, and the melds of all seats."""
        offers = super().legal()
        if self.pending is None and "ml" in self.verbs:
            offers += [offer for seat in range(1, SEATS + 1) if (offer := self.offer_melds(seat)) is not None]
        return offers

    def offer_melds(self, seat: int) -> Legal | None:
        """The pairs that a seat may show."""
        pairs = tuple(pair for pair in PAIRS if (seat, pair) not in self.melds and self.may_meld(seat, pair))
        return Legal(actor_name(seat), "ml", (Rows(pairs),)) if pairs else None

    def offer_call(self) -> Legal:
        """A card, or a card and a suit."""
        return self.offer("cl", Words(self.calls(self.cards[1])))

    HANDLERS: ClassVar[dict[str, dict[str, Handler]]] = {
        "deal": {"dh": deal_packet},
        "call": {"cl": call},
        "first_trick": {"pl": play_first, "ml": meld},
        "tricks": {"pl": FollowState.play},
        "over": {},
    }
    OFFERS: ClassVar[dict[str, Offer]] = {
        "dh": TrickState.offer_deal,
        "cl": offer_call,
        "pl": FollowState.offer_play,
        "ml": lambda state: None,  # not of the turn: see legal()
    }


def _begin(setup: Setup, rules: RufmariaschRules) -> RufmariaschState:
    """A deal before its first card: nothing but the score is carried in, and the stacks cover the worst."""
    require_settles_itself(setup, rules.least_stack)
    return RufmariaschState(setup, rules)


GAME = Game(
    name="rufmariasch",
    title="Rufmariasch",
    rules=RufmariaschRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=SEATS,
    max_seats=SEATS,
    seats_allowed=(SEATS,),
    state=RufmariaschState,
    begin=_begin,
    policy=Policy(
        must_set=("unit",),
        least_players=lambda options: SEATS,
        worst_loss=lambda rules, seats: rules.least_stack,
    ),
    example={"unit": 10},
    new_series=new_scores,
    continues=lambda series, ids, rules: go_on(series, ids),
    terms=TERMS,
    weights={"pl": 2},
)
