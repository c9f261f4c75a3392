"""Old Maid, phase by phase. Sections in quotes are those of the Old Maid rules text.

The *Unter* is the knave of the Tell pack; the one of bells (``Ub``) makes no pair, and the player who holds it at the
end loses. p1 sits at the dealer's left hand, play is clockwise, and a seat draws from its right-hand neighbour. The
options are in :mod:`engine.shedding.old_maid_rules`. Phases:

=============  ============  ===============================================================================
phase          verbs         who acts, and what for
=============  ============  ===============================================================================
``remove``     rm            one of the other three Unters goes out of play, unseen ("The Deal")
``deal``       dh            the house deals five cards a seat, and later a card to one that has lost one
``pairs``      ds            a turn begins: the pairs of the hand go out, all of them ("discards any pairs")
``fan``        fn            the hand of the neighbour is shuffled and held out, face down ("fans their cards")
``draw``       dr            the seat draws one card of the fan ("selects one at random")
``match``      ds            with ``discard`` "draw": the pair that the drawn card has made goes out
=============  ============  ===============================================================================

Pairs must be put down; without pairs there is no line. The order of a fan is chance: in electronic mode the house
shuffles it, and a record may have any order. A seat is *playing* while it holds a card or the pack has one. A deal ends
``lost`` by the last seat that plays, or ``void``. If the house does not know a hand, pairs may or may not be put down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import add
from typing import ClassVar

from engine.errors import CardAlreadyDealt, CardMismatch, CardNotFromDeck, CardNotInPack, MalformedSetup, WrongTarget
from engine.kernel.cards import TELL32, UNKNOWN
from engine.kernel.events import Event, Shown
from engine.kernel.game import Game, Policy
from engine.kernel.grammar import (
    DEALER,
    HOUSE,
    SEAT,
    Action,
    Grammar,
    Role,
    Seen,
    Verb,
    actor_name,
    cards,
    number,
    seat,
)
from engine.kernel.legal import Legal, Order, Parts, Pick, Range, Rows, Target
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.kernel.zones import Chance
from engine.shedding.old_maid_pairs import UNTERS, pairings, pairs_in
from engine.shedding.old_maid_rules import TERMS, OldMaidRules
from engine.shedding.state import SheddingState, new_series, next_seats, require_table, worst_loss
from engine.tricks.chairs import goes_on

HAND = 5
MOST = len(TELL32.cards) - 1
"""Cards in play: more cannot come together in a hand."""
ENDINGS = ("lost", "void")

GRAMMAR = Grammar(
    Verb(
        "rm",
        HOUSE,
        (cards(Role.SET_ASIDE, Seen.NOBODY, most=1),),
        "set a card aside, unseen by all to the end",
        label="Set aside",
        key="A",
    ),
    Verb(
        "dh",
        HOUSE,
        (seat(), cards(Role.DEALT, Seen.TARGET, most=HAND)),
        "deal face down: hands, and cards drawn",
        label="Deal",
        key="D",
    ),
    Verb(
        "ds",
        SEAT,
        (cards(Role.PUT_DOWN, Seen.ALL, most=MOST),),
        "put all pairs of the hand down",
        label="Put down",
        key="L",
    ),
    Verb(
        "fn",
        HOUSE,
        (seat(), cards(Role.FANNED, Seen.DRAWN, most=MOST)),
        "hold a hand out as a fan, in a new order",
        label="Hold out fan",
        key="H",
    ),
    Verb(
        "dr",
        SEAT,
        (number(),),
        "draw the card at this place of the fan, counted from 1",
        blind=True,
        label="Draw",
        key="R",
    ),
)


class OldMaidState(SheddingState):
    """One deal of Old Maid."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    UNTIMED = frozenset({"pairs", "match"})
    SHUFFLES_HANDS = True
    __slots__ = ("fan", "fans", "laid", "player", "ready", "removed", "right", "talon", "turns")

    FRESH: ClassVar[frozenset[str]] = SheddingState.FRESH | {"laid"}

    rules: OldMaidRules

    def __init__(self, setup: Setup, rules: OldMaidRules) -> None:
        super().__init__(setup, rules)
        self.removed = ""  # the card out of play
        self.talon = MOST  # cards left in the pack
        self.player = 0  # whose turn it is
        self.right = 0  # whose hand is held out, or was
        self.ready: tuple[str, ...] = ()  # that hand in the order that the house has shuffled, until it is held out
        self.fan: tuple[str, ...] = ()  # that hand as it is held out
        self.fans = 0  # how many were held out so far
        self.turns = 0  # that have begun
        self.laid = [0] * (self.seats + 1)  # pairs put down by each seat
        self.enter("remove", DEALER)

    # -- the deal ----------------------------------------------------------------------------------------------------

    def first_unter(self) -> str | None:
        """The card that goes out of play, where the deck is known: the first Unter but that of bells. So one shuffle
        decides this too, and evenly."""
        return None if self.deck is None else next(card for card in self.deck if card in UNTERS)

    def remove(self, action: Action) -> None:
        """``d rm CARD``: an Unter, not that of bells ("Remove from play one of the Unter cards")."""
        self.offer_remove().require(action)
        card = action.cards[0]
        self.removed = card
        if self.deck is None:
            self.known.update({card} - {UNKNOWN})
        else:
            self.source = tuple(other for other in self.deck if other != card)
        self.talon -= self.seats * HAND
        self.deal_next([(player, HAND) for player in range(1, self.seats + 1)], OldMaidState.begin)

    def draw(self, seat: int, cards: tuple[str, ...]) -> None:
        """As in every game."""
        super().draw(seat, cards)
        self.note_unters()

    def require_free(self, cards: tuple[str, ...], own: tuple[str, ...] = ()) -> None:
        """As in every game; one of the three Unters is out of play also where nobody knows which."""
        super().require_free(cards, own)
        if self.removed == UNKNOWN and self.known.union(cards).issuperset(UNTERS):
            raise CardAlreadyDealt("one of the three Unters is out of play", cards=list(UNTERS))

    def note_unters(self) -> None:
        """Where two of the three Unters are known to be in play, the third is not."""
        if self.removed == UNKNOWN and len(self.known.intersection(UNTERS)) == len(UNTERS) - 1:
            [self.removed] = set(UNTERS) - self.known
            self.known.add(self.removed)

    def begin(self) -> None:
        """The seat at the dealer's left begins ("The Play")."""
        self.begin_turn(1)

    # -- a turn ------------------------------------------------------------------------------------------------------

    def begin_turn(self, player: int) -> None:
        """First the pairs of the hand ("looks through their cards")."""
        self.turns += 1
        self.player = player
        if not self.ask("pairs"):
            self.hold_out()

    def ask(self, phase: str) -> bool:
        """Whether the hand has pairs, or may have some; then the seat comes to ``phase``."""
        held = self.cards[self.player]
        if not pairs_in(held) and (UNKNOWN not in held or next(self.pairings().texts(), None) is None):
            return False
        self.enter(phase, self.player)
        return True

    def pairings(self) -> Parts:
        """The pairs that may go out of a hand of the seat to act with cards that the house does not know."""
        held = self.cards[self.player]
        return pairings(held, self.free_cards(), held.count(UNKNOWN))

    def free_cards(self) -> tuple[str, ...]:
        """Cards that are not known to lie anywhere, where the house does not know the deck."""
        return tuple(card for card in self.pack.cards if card not in self.known)

    def put_down(self, action: Action) -> None:
        """``ds CARDS`` at the start of a turn: all pairs, in fixed order ("discards any pairs")."""
        self.lay(action)
        self.hold_out()

    def put_match_down(self, action: Action) -> None:
        """``ds CARDS`` after the draw; with no card left the seat takes one off the pack, as it may not wait without
        any while the pack lasts."""
        self.lay(action)
        if self.talon and not self.cards[action.actor]:
            self.refill(action.actor, OldMaidState.close_turn)
        else:
            self.close_turn()

    def lay(self, action: Action) -> None:
        """The pairs leave the hand."""
        player, row = action.actor, action.cards
        held = self.cards[player]
        if UNKNOWN in held:
            self.offer_pairs().require(action)
            for card in row:
                place = held.index(card) if card in held else held.index(UNKNOWN)
                held = held[:place] + held[place + 1 :]
            self.require_free(tuple(card for card in row if card not in self.cards[player]))
            self.known.update(row)
            self.note_unters()
        elif row != pairs_in(held):
            # The line is forced, but what it names, and how much, is not for others to know.
            raise CardMismatch(f"p{player} does not put {''.join(row)} down")
        else:
            held = tuple(card for card in held if card not in row)
        self.cards[player] = held
        self.laid[player] += len(row) // 2

    def hold_out(self) -> None:
        """The nearest seat against the play order that has cards holds them out; without a card and a pack the seat to
        act is safe ("if you get rid of all your cards you are safe")."""
        if self.decided():
            return
        if not self.cards[self.player] and not self.talon:
            self.end_turn()
            return
        right = self.player
        while right == self.player or not self.cards[right]:
            right = right - 1 or self.seats
        self.right = right
        self.enter("fan", DEALER)

    def fan_out(self, action: Action) -> None:
        """``d fn pN CARDS``: the hand in any order; in the one that the house has shuffled, if it has."""
        held, named = self.cards[self.right], action.cards
        if action.target != self.right:
            raise WrongTarget(f"p{self.right} holds its hand out, not p{action.target}", target=self.right)
        if self.ready and named != self.ready:
            raise CardNotFromDeck("the fan is not as it was shuffled", count=len(held))
        self.offer_fan().require(action)
        if UNKNOWN in held:
            news = tuple(card for card in named if card not in held)
            self.require_free(news)
            self.known.update(news)
            self.note_unters()
            others = iter(news)
            self.cards[self.right] = tuple(next(others, UNKNOWN) if card == UNKNOWN else card for card in held)
        self.show_fan(named)

    def show_fan(self, named: tuple[str, ...]) -> None:
        """The fan is held out, and the seat to act draws."""
        self.fan, self.ready = named, ()
        self.fans += 1
        self.enter("draw", self.player)

    def draw_card(self, action: Action) -> None:
        """``dr K``: the card at this place goes to the seat; who has lost it takes one off the pack ("The player who
        just lost a card")."""
        if not 1 <= action.amount <= len(self.fan):
            self.offer_draw().require(action)
        card, held = self.fan[action.amount - 1], self.cards[self.right]
        place = held.index(card)
        self.cards[self.right] = held[:place] + held[place + 1 :]
        self.cards[self.player] += (card,)
        self.fan = ()
        if self.talon:
            self.refill(self.right, OldMaidState.match)
        else:
            self.match()

    def refill(self, player: int, then: Callable[[OldMaidState], None]) -> None:
        """One card off the pack."""
        self.talon -= 1
        self.deal_next([(player, 1)], then)

    def match(self) -> None:
        """With ``discard`` "draw" the pair that the card has made goes out. Whether an unknown hand has one is not
        asked in the last turn: nothing would follow from it but that the deal is over."""
        if self.decided():
            return
        asked = self.rules.discard == "draw" and (
            self.turns < self.rules.max_turns or UNKNOWN not in self.cards[self.player]
        )
        if not (asked and self.ask("match")):
            self.end_turn()

    def close_turn(self) -> None:
        """The pair is out."""
        if not self.decided():
            self.end_turn()

    def decided(self) -> bool:
        """Whether one seat alone still plays; then it has lost ("The final holder")."""
        if self.talon:
            return False
        if self.cards.count(()) < self.seats:  # the unused place 0 is empty too
            return False
        self.lose(next(player for player in range(1, self.seats + 1) if self.cards[player]), "lost")
        return True

    def end_turn(self) -> None:
        """The next seat that plays; after the last turn there is none, and the deal is void."""
        if self.turns == self.rules.max_turns:
            self.finish("void", 0)
            return
        player = self.player % self.seats + 1
        while not (self.talon or self.cards[player]):
            player = player % self.seats + 1
        self.begin_turn(player)

    # -- hands that the house does not know --------------------------------------------------------------------------

    def in_doubt(self) -> bool:
        """Whether the seat may, and need not, put pairs down."""
        return self.phase in self.UNTIMED and not pairs_in(self.cards[self.player])

    def pass_over(self) -> None:
        """The seat has no pairs."""
        if self.phase == "pairs":
            self.hold_out()
        else:
            self.end_turn()

    def passed_over(self) -> OldMaidState:
        """The deal if the seat has no pairs."""
        twin = self.copy()
        twin.pass_over()
        return twin

    def out_of_turn(self, action: Action) -> Handler | None:
        """What stands next if the seat has no pairs, where nobody knows whether it has."""
        return OldMaidState.without_pairs if self.in_doubt() else None

    def without_pairs(self, action: Action) -> None:
        """Nothing changes before the line is known to be good."""
        self.passed_over().take(action)
        self.pass_over()
        self.take(action)

    def take(self, action: Action) -> None:
        """Apply an action but for the log."""
        handler = self.verbs.get(action.verb)
        if action.actor != self.turn or handler is None:
            handler = self.unusual(action)
        handler(self, action)

    def actors(self) -> tuple[int, ...]:
        """The seat that may have pairs, and who acts if it has none."""
        mine = super().actors()
        return (*mine, *(one for one in self.passed_over().actors() if one not in mine)) if self.in_doubt() else mine

    def legal(self) -> list[Legal]:
        """With what follows if the seat has no pairs."""
        mine = super().legal()
        return mine + self.passed_over().legal() if self.in_doubt() else mine

    # -- the house ---------------------------------------------------------------------------------------------------

    def deal_from_deck(self, line: str) -> bool:
        """A fan is read here, too: no two are alike."""
        if self.phase != "fan":
            return super().deal_from_deck(line)
        held = self.cards[self.right]
        if self.deck is None or len(line) != 8 + 2 * len(held) or not line.startswith(f"d fn p{self.right} "):
            return False
        named = tuple(map(add, line[8::2], line[9::2]))
        if {*named} != {*held} or (self.ready and named != self.ready):
            return False
        self.show_fan(named)
        return True

    def wants(self) -> tuple[str, ...] | None:
        """The hand that is to be held out, in fixed order, where the house shuffles it."""
        if self.phase != "fan" or self.deck is None or self.ready:
            return None
        return self.in_fixed_order(self.cards[self.right])

    def shuffled(self) -> int:
        """Fans so far."""
        return self.fans

    def supply(self, deck: tuple[str, ...]) -> None:
        """Take the order of the fan."""
        wanted = self.wants()
        if wanted is None:
            raise MalformedSetup("no cards are to be shuffled again now")
        if self.in_fixed_order(card for card in deck if card in wanted) != wanted or len(deck) != len(wanted):
            raise CardNotInPack("the fan is not the hand, each card once", cards=len(wanted))
        self.ready = deck

    def forced(self) -> str | None:
        """With a known deck also the card that goes out of play, pairs, and a fan that was shuffled."""
        if self.deck is None:
            return None
        if self.phase == "remove":
            return f"d rm {self.first_unter()}"
        if self.phase == "fan":
            return f"d fn p{self.right} {''.join(self.ready)}" if self.ready else None
        if self.phase in self.UNTIMED:
            return f"p{self.player} ds {''.join(pairs_in(self.cards[self.player]))}"
        return super().forced()

    def chance(self) -> Chance | None:
        """One of three goes out of play."""
        if self.phase == "remove":
            return Chance(0, 1, UNTERS, "rm") if self.deck is None else None
        return super().chance()

    # -- the end -----------------------------------------------------------------------------------------------------

    def settle(self, loser: int) -> None:
        """The loser pays each other seat; with ``sole_winner`` the same in all to the seats that put most pairs
        down."""
        if not self.rules.sole_winner:
            super().settle(loser)
            return
        others = [player for player in range(1, self.seats + 1) if player != loser]
        most = max(self.laid[player] for player in others)
        best = [player for player in others if self.laid[player] == most]
        share, rest = divmod(self.rules.forfeit * len(others), len(best))
        for at, winner in enumerate(best):
            self.pay(loser, winner, share + (at < rest))

    def next_dealer(self) -> int:
        """The deal goes to the left; the text names no dealer."""
        return 1

    # -- who may know what -------------------------------------------------------------------------------------------

    def drawn_from(self, at: int, viewer: Viewer) -> int:
        """Of a fan, the card that was drawn: who drew it knows it, and whose hand it was."""
        for line in self.log[at + 1 : at + 3]:
            action = self.GRAMMAR.parse(line)
            if action.verb == "dr":
                return action.amount if viewer in (action.actor, int(self.log[at][6])) else 0
        return 0

    def shown_so_far(self) -> set[str]:
        """Pairs that were put down."""
        return {card for line in self.log if " ds " in line for card in self.GRAMMAR.parse(line).cards}

    def legal_for(self, viewer: Viewer) -> list[Legal]:
        """How many pairs a seat has is known to nobody else before they lie on the table."""
        offers = super().legal_for(viewer)
        if viewer in (self.turn, AUDITOR):
            return offers
        return [Legal(one.actor, "ds", (Parts((), 0),)) if one.verb == "ds" else one for one in offers]

    def view_of_seat(self, seat: int, viewer: Viewer) -> dict[str, object]:
        """How many pairs it has put down."""
        return {"pairs": self.laid[seat]}

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """Whose hand is held out, how many cards the pack has, turns so far, deals lost by chairs."""
        found: dict[str, object] = {
            "fan": actor_name(self.right) if self.fan else None,
            "talon": self.talon,
            "turns": self.turns,
        }
        return found | super().view_of_table(viewer)

    def events(self, action: Action) -> list[Event]:
        """Pairs lie face up."""
        return [Shown(action.actor, action.cards)] if action.verb == "ds" else super().events(action)

    # -- what may be done --------------------------------------------------------------------------------------------

    def offer_remove(self) -> Legal:
        """The first of three in the deck; any of them, or an unknown one, where nobody knows it."""
        card = self.first_unter()
        return self.offer("rm", Pick(1, UNTERS, unknown=True) if card is None else Rows((card,)))

    def offer_pairs(self) -> Legal:
        """All pairs of the hand; with unknown cards, those that may be in it."""
        held = self.cards[self.player]
        row = self.pairings() if UNKNOWN in held else Rows(("".join(pairs_in(held)),))
        return self.offer("ds", row)

    def offer_fan(self) -> Legal:
        """The neighbour's hand, as it was shuffled or in any order."""
        held = self.cards[self.right]
        free = self.free_cards() if UNKNOWN in held else ()
        cards = Rows(("".join(self.ready),)) if self.ready else Order(held, free)
        return self.offer("fn", Target(self.right), cards)

    def offer_draw(self) -> Legal:
        """A place of the fan."""
        return self.offer("dr", Range(1, len(self.fan), 1, "count"))

    HANDLERS: ClassVar[Mapping[str, Mapping[str, Handler]]] = {
        "remove": {"rm": remove},
        "deal": {"dh": SheddingState.deal},
        "pairs": {"ds": put_down},
        "fan": {"fn": fan_out},
        "draw": {"dr": draw_card},
        "match": {"ds": put_match_down},
        "over": {},
    }
    OFFERS: ClassVar[Mapping[str, Offer]] = {
        "rm": offer_remove,
        "dh": SheddingState.offer_deal,
        "ds": offer_pairs,
        "fn": offer_fan,
        "dr": offer_draw,
    }


def _begin(setup: Setup, rules: OldMaidRules) -> OldMaidState:
    """A deal at its first line."""
    require_table(setup, rules, OldMaidState)
    return OldMaidState(setup, rules)


GAME = Game(
    name="old_maid",
    title="Old Maid",
    rules=OldMaidRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=2,
    max_seats=6,
    state=OldMaidState,
    begin=_begin,
    policy=Policy(must_set=("forfeit", "discard"), worst_loss=worst_loss),
    example={"forfeit": 100, "discard": "draw"},
    next_seats=next_seats,
    new_series=new_series,
    continues=lambda series, ids, rules: goes_on(series, ids),
    terms=TERMS,
)
