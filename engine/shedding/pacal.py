"""Pacal, phase by phase. Sections in quotes are those of the Pacal rules text.

*Pacal* (Hungarian, tripe) belongs to the family of Dudák (Czech, bagpiper): every seat has its trump suit for the whole
evening. p1 sits at the dealer's left hand, play is clockwise. :mod:`engine.shedding.pacal_rules` has the options.
Phases:

=============  ============  ============================================================================
phase          verbs         who acts, and what for
=============  ============  ============================================================================
``deal``       dh            the house deals five cards a seat, and after a turn one to its seat ("The Deal")
``turn_up``    up            first deal of an evening: p1, p2, p3 turn up some of their cards for a trump
``name``       ts            none of five cards gave a trump: the seat names one ("may choose any trump
                             suit")
``open``       up            the house turns up the top card, which begins the stack
``beat``       pl ps         the seat beats the top card or takes up the whole stack ("The Play")
``second``     pl            after the card that beats, any other one on top of it
``lead``       pl            the table is empty, since the seat before took the stack up: any one card
=============  ============  ============================================================================

Before the house opens the stack, only turned-up cards have been seen. A turn in which cards were played ends with
drawing a card from the pack. If the pack is empty and the seat has no card left, it is out. A deal ends ``lost`` by the
last seat left, or ``void``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.errors import CardAlreadyDealt, CardMismatch, CardUnknown, MalformedSetup, VerbNotLegal
from engine.kernel.cards import TELL32, UNKNOWN
from engine.kernel.events import Event, Opened, TurnedUp
from engine.kernel.game import Game, Policy
from engine.kernel.grammar import (
    DEALER,
    HOUSE,
    SEAT,
    Action,
    Argument,
    Grammar,
    Role,
    Seen,
    Verb,
    cards,
    seat,
    word,
)
from engine.kernel.legal import Legal, Pick, Rows, Words
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.kernel.zones import Chance
from engine.shedding.pacal_rules import TERMS, PacalRules
from engine.shedding.state import SheddingState, next_seats, require_table, worst_loss
from engine.shedding.state import new_series as new_chairs
from engine.tricks.chairs import goes_on
from engine.tricks.masks import masks_of

SEATS, HAND = 4, 5
SUITS = TELL32.suits
MASKS = masks_of(TELL32)
ENDINGS = ("lost", "void")

GRAMMAR = Grammar(
    Verb(
        "dh",
        HOUSE,
        (seat(), cards(Role.DEALT, Seen.TARGET, most=HAND)),
        "deal face down: the hands, and cards drawn",
        label="Deal",
        key="D",
    ),
    Verb(
        "up",
        SEAT,
        (cards(Role.TURNED, Seen.ALL, most=1),),
        "turn up one of its face-down cards, for a trump",
        label="Turn up",
        key="U",
    ),
    Verb("ts", SEAT, (word(*SUITS, name="suit"),), "name the trump suit", label="Name trump", key="T"),
    Verb(
        "up",
        HOUSE,
        (cards(Role.OPENED, Seen.ALL, most=1),),
        "turn up the top card of the pack: the stack begins",
        label="Turn up",
        key="U",
    ),
    Verb(
        "pl",
        SEAT,
        (cards(Role.PUT_DOWN, Seen.ALL, most=1),),
        "play a card on the stack",
        label="Play",
        key="Y",
        only="The seat has a card that beats the top one.",
    ),
    Verb("ps", SEAT, (), "take the whole stack up into the hand", label="Take stack", key="P"),
)


class PacalState(SheddingState):
    """One deal of Pacal."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    KEYS = (*SheddingState.KEYS, "trumps")
    __slots__ = ("faces", "lacks", "opened", "out", "player", "plies", "stack", "talon", "trumps")

    FRESH: ClassVar[frozenset[str]] = SheddingState.FRESH | {"lacks", "out", "stack", "trumps"}

    rules: PacalRules

    def __init__(self, setup: Setup, rules: PacalRules) -> None:
        super().__init__(setup, rules)
        named = trumps_of(setup)
        self.trumps = ["", *(named[self.chair_of(player)] for player in range(1, SEATS + 1) if named)]  # by seat
        self.faces: tuple[str, ...] = ()  # cards of hands that were turned up for trumps
        self.opened = ""  # the card that began the stack
        self.stack: list[str] = []  # the top card is the last
        self.talon = len(TELL32.cards) - SEATS * HAND  # cards left in the pack
        self.player = 0  # whose turn of play it is, also while the seat is dealt to
        self.plies = 0  # turns that have begun
        self.out = [False] * (SEATS + 1)
        self.lacks: list[tuple[int, ...]] = [()] * (SEATS + 1)  # by seat, of each unknown card: what it cannot be
        self.deal_next([(player, HAND) for player in range(1, SEATS + 1)], PacalState.begin)

    def begin(self) -> None:
        """Trumps first, if this is the evening's first deal ("During the first hand only")."""
        if len(self.trumps) > 1:
            self.enter("open", DEALER)
        else:
            self.enter("turn_up", 1)

    # -- trumps ------------------------------------------------------------------------------------------------------

    def turn_up(self, action: Action) -> None:
        """``up CARD``: one of the five, which nobody knows; a new suit is the seat's trump ("keep turning up")."""
        card, held = action.cards[0], self.cards[action.actor]
        if card in self.faces:
            raise CardAlreadyDealt(f"{card} was turned up before", card=card)
        place = self.place_in_hand(action.actor, card)
        if held[place] == UNKNOWN:
            self.drop(action.actor, place, card)
            self.cards[action.actor] = (*held[:place], card, *held[place + 1 :])
        self.faces = (*self.faces, card)
        if card[1] not in self.trumps:
            self.take_trump(card[1])
        elif not self.covered():
            self.enter("name", action.actor)

    def covered(self) -> list[str]:
        """Cards of the seat to act that were not turned up yet."""
        return [card for card in self.cards[self.turn] if card not in self.faces]

    def name(self, action: Action) -> None:
        """``ts SUIT``: any suit that is not a trump yet ("may choose any trump suit he likes")."""
        self.offer_name().require(action)
        self.take_trump(action.word)

    def take_trump(self, suit: str) -> None:
        """The seat has its trump; the dealer gets the suit that is left ("the last unchosen suit")."""
        self.trumps.append(suit)
        if len(self.trumps) < SEATS:
            self.enter("turn_up", len(self.trumps))
        else:
            self.trumps += self.free_suits()
            self.enter("open", DEALER)

    def free_suits(self) -> tuple[str, ...]:
        """Suits that are not a trump yet, in fixed order."""
        return tuple(suit for suit in SUITS if suit not in self.trumps)

    def open(self, action: Action) -> None:
        """``d up CARD``: the top card begins the stack, and the hands are taken up ("turns up the top card")."""
        card = action.cards[0]
        if card == UNKNOWN:
            raise CardUnknown("a card that is turned up must be named")
        if self.source is None:
            self.require_free(action.cards)
            self.known.add(card)
        elif card != self.source[self.next_card]:
            self._refuse_cards(action.cards)
        self.next_card += 1
        self.talon -= 1
        self.opened = card
        self.stack.append(card)
        self.begin_turn(1)

    # -- turns -------------------------------------------------------------------------------------------------------

    def begin_turn(self, player: int) -> None:
        """The seat beats the top card or takes the stack up; on an empty table it leads."""
        self.plies += 1
        self.player = player
        self.enter("beat" if self.stack else "lead", player)

    def beat(self, action: Action) -> None:
        """``pl CARD``: a higher card of the suit, or else a trump on a card that is none ("Each player in turn must
        beat")."""
        card, player = action.cards[0], action.actor
        place = self.place(player, card)
        top = self.stack[-1]
        higher = MASKS.higher[top]
        beats = MASKS.bits[card] & higher
        if not beats:
            self.require_trump(player, card, top, higher)
        self.lay(player, place, card)
        if not beats:
            self.lacks[player] = tuple([lack | higher for lack in self.lacks[player]])
        if self.cards[player]:
            self.enter("second", player)
        else:
            self.played()

    def require_trump(self, player: int, card: str, top: str, higher: int) -> None:
        """The card is a trump, the top card is none, and no higher card of its suit is known to be in the hand."""
        trump = self.trumps[player]
        if card[1] != trump or top[1] == trump:
            raise VerbNotLegal(f"{card} does not beat {top}", phase=self.phase, trump=trump)
        if MASKS.mask(self.cards[player]) & higher:
            raise VerbNotLegal(f"a card that beats {top} in its suit goes before a trump", phase=self.phase)

    def second(self, action: Action) -> None:
        """``pl CARD``: any card, which is the new top ("one more of his cards"); or the lead on an empty table."""
        self.lay(action.actor, self.place(action.actor, action.cards[0]), action.cards[0])
        self.played()

    def place(self, player: int, card: str) -> int:
        """Where the card lies in the hand; raises a ``CardError`` where it cannot."""
        held = self.cards[player]
        return held.index(card) if card in held and card != UNKNOWN else self.place_in_hand(player, card)

    def lay(self, player: int, place: int, card: str) -> None:
        """The card goes on top of the stack."""
        self.drop(player, place, card)
        self.stack.append(card)

    def pick_up(self, action: Action) -> None:
        """``ps``: the whole stack into the hand, and the turn is over ("takes the entire stack")."""
        self.cards[action.actor] += tuple(self.stack)
        self.stack = []
        self.end_turn()

    def played(self) -> None:
        """Cards were played: the seat draws one; without a pack and a card it is out ("takes the top one into his
        hand")."""
        player = self.player
        if self.talon:
            self.talon -= 1
            self.deal_next([(player, 1)], PacalState.end_turn)
            return
        self.out[player] = not self.cards[player]
        if sum(self.out) == SEATS - 1:
            self.lose(self.out.index(False, 1), "lost")
        else:
            self.end_turn()

    def end_turn(self) -> None:
        """The next seat that is not out; after the last turn there is none, and the deal is void."""
        if self.plies == self.rules.max_plies:
            self.finish("void", 0)
            return
        player = self.player % SEATS + 1
        while self.out[player]:
            player = player % SEATS + 1
        self.begin_turn(player)

    def series(self, ending: str) -> Mapping[str, object]:
        """The trumps by chairs stay, after a void deal too."""
        seats = sorted(range(1, SEATS + 1), key=self.chair_of)
        return {**super().series(ending), "trumps": "".join(self.trumps[player] for player in seats)}

    # -- hands that the house does not know --------------------------------------------------------------------------
    #
    # A seat that trumps shows that none of its cards beats the top one in its suit. So what an unknown card cannot be
    # grows with the time that it is held: of several, the first one can be least.

    def deal(self, action: Action) -> None:
        """As in every game; nothing is known yet of an unknown card."""
        super().deal(action)
        self.lacks[action.target] += (0,) * action.cards.count(UNKNOWN)

    def place_in_hand(self, seat: int, card: str) -> int:
        """As in every game; an unknown card is the first one that it can be."""
        place, held = super().place_in_hand(seat, card), self.cards[seat]
        if held[place] != UNKNOWN:
            return place
        places = [at for at, other in enumerate(held) if other == UNKNOWN]
        for at, lack in zip(places, self.lacks[seat], strict=True):
            if not lack & MASKS.bits[card]:
                return at
        raise CardMismatch(f"p{seat} cannot hold {card}: it would have beaten a card that it has trumped", card=card)

    def drop(self, seat: int, place: int, card: str) -> None:
        """As in every game; what an unknown card could not be is forgotten with it."""
        held = self.cards[seat]
        if held[place] == UNKNOWN:
            at, lacks = held[:place].count(UNKNOWN), self.lacks[seat]
            self.lacks[seat] = lacks[:at] + lacks[at + 1 :]
        super().drop(seat, place, card)

    def candidates(self, seat: int) -> list[str]:
        """As in every game, but for what no unknown card of the hand can be."""
        found, lacks = super().candidates(seat), self.lacks[seat]
        if not lacks:
            return list(found)
        held = self.cards[seat]
        return [card for card in found if card in held or not lacks[-1] & MASKS.bits[card]]

    # -- the house ---------------------------------------------------------------------------------------------------

    def forced(self) -> str | None:
        """With a known deck, the next card too."""
        if self.phase == "open":
            return None if self.source is None else f"d up {self.source[self.next_card]}"
        return super().forced()

    def chance(self) -> Chance | None:
        """What may be turned up, too."""
        if self.phase == "open" and self.source is None:
            return Chance(0, 1, self.free_cards(), "up")
        return super().chance()

    def free_cards(self) -> tuple[str, ...]:
        """Cards that are not known to lie anywhere, where the house does not know the deck."""
        return tuple(card for card in self.pack.cards if card not in self.known)

    # -- who may know what -------------------------------------------------------------------------------------------

    def has_looked(self, seat: int) -> bool:
        """All hands are taken up when the stack has begun."""
        return bool(self.opened)

    def held_by(self, seat: int, viewer: Viewer) -> list[str]:
        """Before the stack begins, everybody knows the cards that were turned up, and no others; later every seat its
        own."""
        if self.opened or viewer == AUDITOR:
            return super().held_by(seat, viewer)
        return [card if card in self.faces else UNKNOWN for card in self.cards[seat]]

    def face_up(self, viewer: Viewer) -> set[str]:
        """The card that began the stack."""
        return {self.opened} if self.opened else set()

    def shown_so_far(self) -> set[str]:
        """Cards that were played."""
        return {line[-2:] for line in self.log if " pl " in line}

    def dealt_as_seen(self, seat: int, viewer: Viewer) -> list[str]:
        """Before the stack begins, cards that were turned up; where they lie in the hands is seen by all."""
        if self.opened or viewer == AUDITOR:
            return super().dealt_as_seen(seat, viewer)
        return [card for card in self.cards[seat] if card in self.faces]

    def sees_choice(self, declared: Argument, viewer: Viewer) -> bool:
        """Not before the hands are taken up."""
        return bool(self.opened) and super().sees_choice(declared, viewer)

    def legal_for(self, viewer: Viewer) -> list[Legal]:
        """Whether a seat can beat the top card is known to nobody else."""
        if self.phase != "beat" or viewer in (self.turn, AUDITOR) or self.pending:
            return super().legal_for(viewer)
        return [self.offer("pl", Pick(1, if_held=True)), self.offer("ps")]

    def view_of_seat(self, seat: int, viewer: Viewer) -> dict[str, object]:
        """Its trump, once it has one, and whether it is out."""
        return {"trump": self.trumps[seat] if seat < len(self.trumps) else None, "out": self.out[seat]}

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """The top card; how many cards the stack and the pack have; turns so far ("not inspectable during play")."""
        found: dict[str, object] = {
            "top": self.stack[-1] if self.stack else None,
            "stack": len(self.stack),
            "talon": self.talon,
            "turns": self.plies,
        }
        return found | super().view_of_table(viewer)

    def events(self, action: Action) -> list[Event]:
        """Cards that were turned up lie face up."""
        if action.verb == "up":
            return [TurnedUp(action.actor, action.cards) if action.actor else Opened(action.cards)]
        return super().events(action)

    # -- what may be done --------------------------------------------------------------------------------------------

    def automatic(self) -> tuple[str, str | None]:
        """As in every game; of face-down cards the first in fixed order, which no viewer can know."""
        if self.phase != "turn_up":
            return super().automatic()
        covered = self.covered()
        return "up", None if UNKNOWN in covered else f"p{self.turn} up {self.in_fixed_order(covered)[0]}"

    def offer_up(self) -> Legal:
        """The top card of the pack; or any face-down card of the seat, by its place where the house knows it."""
        if self.phase == "open":
            top = None if self.source is None else self.source[self.next_card]
            return self.offer("up", Rows((top,)) if top else Pick(1, self.free_cards()))
        held = self.cards[self.turn]
        if UNKNOWN in held:
            candidates = (card for card in self.candidates(self.turn) if card not in self.faces)
            return self.offer_cards("up", candidates)
        places = tuple((place,) for place, card in enumerate(held) if card not in self.faces)
        return self.offer("up", Pick(1, held, places))

    def offer_name(self) -> Legal:
        """The suits that are left."""
        return self.offer("ts", Words(self.free_suits()))

    def offer_play(self) -> Legal | None:
        """A card that beats the top one, if there may be one; else any card."""
        held = tuple(self.candidates(self.turn))
        if self.phase != "beat":
            return self.offer_cards("pl", held)
        top, trump = self.stack[-1], self.trumps[self.turn]
        higher = MASKS.higher[top]
        beating = [card for card in held if MASKS.bits[card] & higher]
        if top[1] != trump and not MASKS.mask(self.cards[self.turn]) & higher:
            beating += [card for card in held if card[1] == trump]
        return self.offer_cards("pl", beating) if beating else None

    HANDLERS: ClassVar[Mapping[str, Mapping[str, Handler]]] = {
        "deal": {"dh": deal},
        "turn_up": {"up": turn_up},
        "name": {"ts": name},
        "open": {"up": open},
        "beat": {"pl": beat, "ps": pick_up},
        "second": {"pl": second},
        "lead": {"pl": second},
        "over": {},
    }
    OFFERS: ClassVar[Mapping[str, Offer]] = {
        "dh": SheddingState.offer_deal,
        "up": offer_up,
        "ts": offer_name,
        "pl": offer_play,
        "ps": lambda state: state.offer("ps"),
    }


def trumps_of(setup: Setup) -> str:
    """The trumps of the chairs in their order, an empty text before the evening's first deal; raises
    ``MalformedSetup`` for anything else."""
    found = setup.series.get("trumps")
    if type(found) is not str or (found and sorted(found) != sorted(SUITS)):
        raise MalformedSetup("trumps of the series are the four suits in some order, or empty", suits=SUITS)
    return found


def _begin(setup: Setup, rules: PacalRules) -> PacalState:
    """A deal at its first line."""
    require_table(setup, rules, PacalState)
    return PacalState(setup, rules)


def _new_series(ids: tuple[str, ...], rules: PacalRules) -> dict[str, object]:
    """Nobody has lost, nobody has a trump."""
    return new_chairs(ids, rules) | {"trumps": ""}


def _players(options: Mapping[str, Any]) -> int:
    """Four, whatever the options."""
    return SEATS


GAME = Game(
    name="pacal",
    title="Pacal",
    rules=PacalRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=SEATS,
    max_seats=SEATS,
    seats_allowed=(SEATS,),
    state=PacalState,
    begin=_begin,
    policy=Policy(must_set=("forfeit",), least_players=_players, worst_loss=worst_loss),
    example={"forfeit": 100},
    next_seats=next_seats,
    new_series=_new_series,
    continues=lambda series, ids, rules: goes_on(series, ids),
    terms=TERMS,
    weights={"pl": 4, "ps": 1},
)
