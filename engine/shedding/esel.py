"""Esel, phase by phase. Sections in quotes are those of the Esel rules text.

*Esel* is German for ass (donkey): the name of the game, the word that is shouted, and what the loser is called. p1 sits
at the dealer's left hand, play is clockwise. The options are in :mod:`engine.shedding.esel_rules`. Phases:

=============  ============  ===============================================================================
phase          verbs         who acts, and what for
=============  ============  ===============================================================================
``deal``       dh            the house deals eight cards a seat ("The Deal")
``give``       gv sh         the seat whose turn it is gives a card to the next one; the seat that gave last
                             may shout until then ("The Play")
``last``       vd sh         after ``max_passes`` cards: the seat that gave last shouts, or the house ends it
``shout``      sh            the others shout in the order in which they are heard ("Scoring")
=============  ============  ===============================================================================

A shout is true if the seat had all eight cards of a suit before it gave and kept no card of another one. p1 gives one
of its first eight cards. So at each later turn it has eight cards, while the others have nine, and it shouts with
seven. After a false shout the seat is the Esel; after a true one the last of the others is. The order of shouts is
chance, so they have no time limit.

If the house does not know the hand of the first seat that shouts, the line names its cards when the hand is thrown
down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.errors import CardUnknown, NotYourTurn, VerbNotLegal, WrongCount
from engine.kernel.cards import TELL32, UNKNOWN
from engine.kernel.game import Game, Policy
from engine.kernel.grammar import DEALER, HOUSE, SEAT, Action, Grammar, Role, Seen, Verb, actor_name, cards, seat
from engine.kernel.legal import Legal, Pick, Rows
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.shedding.esel_rules import TERMS, EselRules
from engine.shedding.state import SheddingState, new_series, next_seats, require_table, worst_loss
from engine.tricks.chairs import goes_on

SEATS, HAND = 4, 8
ENDINGS = ("shouted", "false_shout", "void")
"""How a deal ends: the last to shout is the Esel, the first one is, or nobody."""

GRAMMAR = Grammar(
    Verb("dh", HOUSE, (seat(), cards(Role.DEALT, Seen.TARGET, most=HAND)), "deal face down", label="Deal", key="D"),
    Verb(
        "gv",
        SEAT,
        (cards(Role.GIVEN, Seen.BOTH, most=1),),
        "give a card, unseen, to the next seat",
        label="Give",
        key="G",
    ),
    Verb(
        "sh",
        SEAT,
        (cards(Role.PUT_DOWN, Seen.ALL, most=HAND, optional=True),),
        "shout and throw the hand down; the first to do so names the cards of it that the house does not know",
        beside=True,
        label="Shout",
        key="S",
        only="Only the seat that gave the last card shouts first.",
    ),
    Verb("vd", HOUSE, (), "end the deal without result", label="No result", key="V"),
)


class EselState(SheddingState):
    """One deal of Esel."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    NOT_AN_ACT = frozenset({"sh"})
    UNTIMED = frozenset({"shout"})
    SEVERAL_ACT = True
    __slots__ = ("given", "giver", "passes", "silent", "thrown")

    rules: EselRules

    def __init__(self, setup: Setup, rules: EselRules) -> None:
        super().__init__(setup, rules)
        self.giver = 0  # who gave last, and may shout
        self.given = ""  # what that was
        self.passes = 0  # cards given so far
        self.silent: tuple[int, ...] = ()  # after a true shout: who has not shouted yet, in play order from the first
        self.thrown = False  # whether the hands lie face up
        self.deal_next([(player, HAND) for player in range(1, SEATS + 1)], EselState.begin)

    def begin(self) -> None:
        """The seat at the dealer's left begins ("The Play")."""
        self.enter("give", 1)

    # -- giving ------------------------------------------------------------------------------------------------------

    def give(self, action: Action) -> None:
        """``gv CARD``: any card of the hand goes to the next seat, the one just received too ("The Play")."""
        giver, card = action.actor, action.cards[0]
        held = self.cards[giver]
        place = held.index(card) if card in held else self.place_unknown(giver, card)
        to = giver % SEATS + 1
        self.drop(giver, place, card)
        self.cards[to] += (card,)
        self.giver, self.given = giver, card
        self.passes += 1
        if self.passes < self.rules.max_passes:
            self.turn = to
        else:
            self.enter("last", DEALER)

    def place_unknown(self, giver: int, card: str) -> int:
        """The place of a card that is not among the named ones of the hand; ``??`` is one that the house does not
        know."""
        if card == UNKNOWN and UNKNOWN not in self.cards[giver]:
            raise CardUnknown(f"the house knows all cards of p{giver}, so it knows which one is given")
        return self.place_in_hand(giver, card)

    def void(self, action: Action) -> None:
        """``d vd``: nobody has a suit, and the house ends the deal."""
        self.finish("void", 0)

    # -- shouting ----------------------------------------------------------------------------------------------------

    def out_of_turn(self, action: Action) -> Handler | None:
        """Shouts are made beside the turn."""
        return self.verbs.get("sh") if action.verb == "sh" else None

    def shout(self, action: Action) -> None:
        """``sh``, the first one: by the seat that gave last, before the next card is given ("passes a card and then
        immediately")."""
        if action.actor != self.giver:
            said = f"{actor_name(self.giver)} alone may shout now" if self.giver else "nobody has given a card yet"
            raise NotYourTurn(said, actor=actor_name(self.giver) if self.giver else None)
        self.throw(action)
        if self.is_true():
            self.silent = tuple((self.giver + step) % SEATS + 1 for step in range(SEATS - 1))
            self.enter("shout", self.silent[0])
        else:
            self.lose(self.giver, "false_shout")

    def throw(self, action: Action) -> None:
        """The hand lies face up: what the house did not know of it, the line names."""
        held, named = self.cards[action.actor], action.cards
        count = held.count(UNKNOWN)
        if UNKNOWN in named or (count and not named):
            raise CardUnknown("cards that are thrown down are seen, and must be named", count=count)
        if len(named) != count:
            raise WrongCount(f"{count} cards of p{action.actor} are not known, not {len(named)}", count=count)
        if named:
            self.require_free(named)
            self.known.update(named)
            self.cards[action.actor] = tuple(card for card in held if card != UNKNOWN) + named
        self.thrown = True

    def is_true(self) -> bool:
        """Whether the seat held all eight cards of a suit before it gave, and keeps no other one. A card given that
        the house does not know may be the eighth, if that one lies nowhere else."""
        kept = self.cards[self.giver]
        suit = kept[0][1]
        if any(card[1] != suit for card in kept):
            return False
        if len(kept) == HAND or self.given[1] == suit:
            return True
        [eighth] = {card for card in TELL32.cards if card[1] == suit}.difference(kept)
        return self.given == UNKNOWN and eighth not in self.known

    def follow(self, action: Action) -> None:
        """``sh`` of another seat, as it was heard; the last one left is the Esel ("Scoring")."""
        if action.actor not in self.silent:
            raise VerbNotLegal(f"p{action.actor} has shouted", phase=self.phase, seats=list(self.silent))
        if action.cards:
            raise VerbNotLegal("only the first to shout may have to name cards", phase=self.phase, verbs=["sh"])
        left = tuple(player for player in self.silent if player != action.actor)
        if len(left) == 1:
            self.lose(left[0], "shouted")
        else:
            self.silent = left
            self.turn = left[0]

    def actors(self) -> tuple[int, ...]:
        """Who is to give, or the house, and who may shout."""
        if self.phase == "shout":
            return self.silent
        beside = self.giver and self.phase in ("give", "last") and self.pending is None
        return (self.turn, self.giver) if beside else super().actors()

    def late(self) -> tuple[str, ...]:
        """Of seats that let the time run out, all of them at once, the next in play order is heard first; and a deal
        that nobody ends is void. With a real pack the dealer sees to both."""
        if self.phase not in ("last", "shout"):
            return super().late()
        if self.deck is None:
            return ()
        return ("d vd",) if self.phase == "last" else (f"p{self.silent[0]} sh",)

    # -- who may know what -------------------------------------------------------------------------------------------

    def receiver(self, action: Action) -> int:
        """The next seat gets what is given."""
        return action.actor % SEATS + 1 if action.verb == "gv" else 0

    def held_by(self, seat: int, viewer: Viewer) -> list[str]:
        """After a shout, true or false, all hands lie face up ("all other players must also throw down"), in fixed
        order: that in which the cards have come would reveal what was given last."""
        if not self.thrown or viewer in (seat, AUDITOR):
            return super().held_by(seat, viewer)
        return self.laid_open(seat)

    def shown_so_far(self) -> set[str]:
        """All cards, once they are thrown down."""
        return set().union(*self.cards) - {UNKNOWN} if self.thrown else set()

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """How many cards were given, who gave the last one, who has shouted, and how often each chair was the Esel."""
        found: dict[str, object] = {
            "passes": self.passes,
            "giver": actor_name(self.giver) if self.giver else None,
            "shouts": [line.split(" ")[0] for line in self.log if " sh" in line],
        }
        return found | super().view_of_table(viewer)

    # -- what may be done --------------------------------------------------------------------------------------------

    def legal(self) -> list[Legal]:
        """As in every game; after a true shout an offer for each seat that was not heard yet."""
        if self.phase == "shout":
            return [Legal(actor_name(player), "sh") for player in self.silent]
        return super().legal()

    def offer_give(self) -> Legal:
        """Any card of the hand; ``??`` where the house does not know some of them."""
        found = self.in_fixed_order(self.candidates(self.turn))
        return self.offer("gv", Rows((*found, UNKNOWN) if UNKNOWN in self.cards[self.turn] else found))

    def offer_shout(self) -> Legal | None:
        """The seat that gave last; where the house does not know its hand, with the cards that it may be."""
        if not self.giver:
            return None
        count = self.cards[self.giver].count(UNKNOWN)
        if not count:
            return Legal(actor_name(self.giver), "sh")
        free = tuple(card for card in self.pack.cards if card not in self.known)
        return Legal(actor_name(self.giver), "sh", (Pick(count, free),))

    HANDLERS: ClassVar[Mapping[str, Mapping[str, Handler]]] = {
        "deal": {"dh": SheddingState.deal},
        "give": {"gv": give, "sh": shout},
        "last": {"vd": void, "sh": shout},
        "shout": {"sh": follow},
        "over": {},
    }
    OFFERS: ClassVar[Mapping[str, Offer]] = {
        "dh": SheddingState.offer_deal,
        "gv": offer_give,
        "sh": offer_shout,
        "vd": lambda state: state.offer("vd"),
    }


def _begin(setup: Setup, rules: EselRules) -> EselState:
    """A deal at its first line."""
    require_table(setup, rules, EselState)
    return EselState(setup, rules)


def _players(options: Mapping[str, Any]) -> int:
    """Four, whatever the options."""
    return SEATS


GAME = Game(
    name="esel",
    title="Esel",
    rules=EselRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=SEATS,
    max_seats=SEATS,
    seats_allowed=(SEATS,),
    state=EselState,
    begin=_begin,
    policy=Policy(least_players=_players, worst_loss=worst_loss),
    example={"forfeit": 100},
    next_seats=next_seats,
    new_series=new_series,
    continues=lambda series, ids, rules: goes_on(series, ids),
    terms=TERMS,
    weights={"gv": 60, "sh": 1, "vd": 20},
)
