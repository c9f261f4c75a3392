"""Preferánsz, phase by phase. Sections in quotes are those of its rules text.

The options that settle what the text leaves open are in :mod:`engine.tricks.preferansz_rules`. p1 is *Vorhand*, the
first player; p3 deals, play is clockwise. Cards rank A K O U X 9 8 7. Games: 2 to 5 with trumps (*Grüne* leaves,
*Schelle* bells, *Herz* hearts, *Eichel* acorns), 6 *bettl* (begging: no trick at all), 7 *durchmarsch* (marching
through: every trick), both without trumps. P is the player, who has won the bidding. Phases:

===========  ========  ==========================================================================================
phase        verbs     who acts, and what for
===========  ========  ==========================================================================================
``deal``     dh        five cards a seat, two laid aside unseen as the widow, five more ("The Deal")
``hands``    bd ps     each in turn may bid *aus den Händen*, out of the hand without the widow ("The Bidding")
``bid``      bd ps     otherwise p1 bids, and so on, each higher; p1 may hold an equal bid ("The Bidding")
``widow``    up        the house turns the widow up: two of a rank cost P two units, the *Kunstwerk* ("The Bidding")
``discard``  ds        P takes the widow and lays two cards away ("The Bidding")
``game``     cl        P names a game not below the bid ("The Bidding")
``contra``   dbl ps    each of the others may double ("Scoring")
``answer``   rdbl ps   P answers at once
``tricks``   pl        from p1; the winner of a trick leads to the next ("The Play")
===========  ========  ==========================================================================================

A seat that could only pass is skipped. Cards that were laid away, and a widow that was not turned up, are never shown.
A deal ends ``made`` or ``lost``, for P; ``winner`` of the result is P or nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import ClassVar

from engine.errors import CardNotFromDeck, CardUnknown, WrongCount
from engine.kernel.cards import TELL32, UNKNOWN
from engine.kernel.events import Event, Opened
from engine.kernel.game import Game, Policy, require_settles_itself
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
    seat,
    seats,
    word,
)
from engine.kernel.legal import Legal, Pick, Rows, Seats, Words
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.kernel.zones import Chance
from engine.tricks.duties import Duties
from engine.tricks.following import FollowState
from engine.tricks.masks import masks_of
from engine.tricks.preferansz_rules import TERMS, PreferanszRules
from engine.tricks.scores import go_on, new_scores, scores_after, scores_of
from engine.tricks.state import TrickState

SEATS, PACKET, WIDOW = 3, 5, 2
"""Seats, cards of a packet (two make a hand), and cards laid aside ("The Deal")."""
PACKETS = [(seat, PACKET) for seat in range(1, SEATS + 1)]
CARDS = masks_of(TELL32)
TRUMPS = {2: "l", 3: "b", 4: "h", 5: "a"}
"""Games that are played with trumps, and their suits ("The Bidding")."""
NEEDED = {2: 7, 3: 6, 4: 6, 5: 6}
"""Tricks that P needs in them; one more out of the hand ("The Bidding")."""
LOWEST, BETTL, DURCHMARSCH = 2, 6, 7
GAMES = tuple(range(LOWEST, DURCHMARSCH + 1))
OUT_OF_HAND = "hand"
KUNSTWERK = 2
"""What a widow of two equal ranks costs P, in units ("The Bidding")."""
CONTRA, RECONTRA = 2, 4
"""By what a defender's stake and P's is multiplied between the two ("Scoring")."""

NAMES = tuple(map(str, GAMES))
HAND_NAMES = tuple(f"{game} {OUT_OF_HAND}" for game in GAMES)
"""The games as they are bid, with the widow and out of the hand."""
GRAMMAR = Grammar(
    Verb(
        "dh",
        HOUSE,
        (seat(), cards(Role.DEALT, Seen.TARGET, most=PACKET)),
        "the house deals five cards face down",
        label="Deal",
        key="D",
    ),
    Verb(
        "bd",
        SEAT,
        (word(*NAMES, *HAND_NAMES, name="bid"),),
        "bid a game, with `hand` out of the hand; for p1 also hold the last",
        label="Bid",
        key="B",
    ),
    Verb(
        "ps",
        SEAT,
        (),
        "pass; do not double, do not redouble",
        label="Pass",
        key="P",
        only="Somebody has bid: the first bid must be made.",
    ),
    Verb(
        "up",
        HOUSE,
        (cards(Role.OPENED, Seen.ALL, most=WIDOW),),
        "the house turns the widow up",
        label="Turn widow",
        key="U",
    ),
    Verb(
        "ds",
        SEAT,
        (cards(Role.LAID_AWAY, Seen.ACTOR, most=WIDOW),),
        "lay two cards away, in the order of the pack",
        label="Lay away",
        key="L",
    ),
    Verb("cl", SEAT, (word(*NAMES, name="game"),), "name the game", label="Name game", key="G"),
    Verb("dbl", SEAT, (seats(),), "contra: double the player", label="Contra", key="C"),
    Verb("rdbl", SEAT, (seats(),), "re-contra: redouble the seat that has just doubled", label="Re-contra", key="R"),
    Verb("pl", SEAT, (cards(Role.PLAYED, Seen.ALL, most=1),), "play a card to the trick", label="Play", key="Y"),
)


class PreferanszState(FollowState):
    """One deal of Preferánsz."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    MASKS = CARDS
    HIGHER = CARDS.higher
    __slots__ = (
        "away", "bid", "doubled", "factors", "from_hand", "game", "names", "passed", "player", "score", "widow",
    )  # fmt: skip

    rules: PreferanszRules

    def __init__(self, setup: Setup, rules: PreferanszRules) -> None:
        super().__init__(setup, rules)
        self.names = setup.names  # who sits on the seats, p1 first
        self.score = scores_of(setup)  # p1 first, as it was carried in
        self.bid = 0  # the highest bid, 0 before the first
        self.player = 0  # whose bid that is
        self.from_hand = False  # whether it is played without the widow
        self.passed: tuple[int, ...] = ()  # seats that are out of the bidding, or since the last bid
        self.widow: tuple[str, ...] = ()  # as it was turned up
        self.away = 0  # the cards laid away, as far as they are known
        self.game = 0  # the game that is played, 0 before it is known
        self.factors = (1,) * (SEATS + 1)  # what each defender's stake is multiplied by
        self.doubled = 0  # the seat that has said contra last
        self.deal_next(PACKETS, PreferanszState.lay_aside)

    # -- the deal ----------------------------------------------------------------------------------------------------

    def lay_aside(self) -> None:
        """Two cards are laid aside, without a line, and five more are dealt."""
        self.next_card += WIDOW
        self.deal_next(PACKETS, PreferanszState.open_bidding)

    def open_bidding(self) -> None:
        """All hands are full."""
        self.enter("hands", 1)

    # -- the bidding -------------------------------------------------------------------------------------------------

    def bids(self) -> tuple[str, ...]:
        """What the seat to act may bid: more than the last bid; p1 also as much as the last, but out of the hand."""
        out_of_hand = self.phase == "hands"
        holds = self.turn == 1 and self.bid and not out_of_hand
        lowest = self.bid + (not holds) if self.bid else LOWEST
        return (HAND_NAMES if out_of_hand else NAMES)[lowest - LOWEST :]

    def make_bid(self, action: Action) -> None:
        """``bd G`` or ``bd G hand``."""
        if action.word not in self.bids():
            self.offer_bid().require(action)
        self.bid, self.player = int(action.word[0]), action.actor
        if self.phase == "hands":
            self.from_hand = True
            self.next_out_of_hand()
            return
        if not self.rules.pass_is_final:
            self.passed = ()
        self.next_bidder()

    def pass_bid(self, action: Action) -> None:
        """``ps``; p1 must make the first bid ("The Bidding")."""
        if self.phase == "hands":
            self.next_out_of_hand()
            return
        if not self.bid:
            raise self.not_legal(action)
        self.passed += (action.actor,)
        self.next_bidder()

    def next_out_of_hand(self) -> None:
        """Once round; over a durchmarsch nobody can bid."""
        if self.turn < SEATS and self.bid < DURCHMARSCH:
            self.turn += 1
        elif self.from_hand:
            self.name_game(self.bid)
        else:
            self.enter("bid", 1)

    def next_bidder(self) -> None:
        """On to the next seat that is in the bidding and can bid; those that cannot pass without a line."""
        while len(self.passed) < SEATS - 1:
            self.turn = self.turn % SEATS + 1
            if self.turn in self.passed:
                continue
            if self.bids():
                return
            self.passed += (self.turn,)
        self.enter("widow", DEALER)

    # -- the widow ---------------------------------------------------------------------------------------------------

    def widow_of_deck(self) -> tuple[str, ...]:
        """The two cards laid aside, where the deck is known."""
        return self.source[SEATS * PACKET : SEATS * PACKET + WIDOW] if self.source else ()

    def turn_up(self, action: Action) -> None:
        """``up CARDS``: the widow in the order in which it was laid aside; the player takes it."""
        cards = action.cards
        if len(cards) != WIDOW:
            raise WrongCount(f"the widow has {WIDOW} cards, not {len(cards)}", count=WIDOW)
        if UNKNOWN in cards:
            raise CardUnknown("the widow lies open, its cards must be named")
        if self.source is None:
            self.require_free(cards)
            self.known.update(cards)
        elif cards != self.widow_of_deck():
            raise CardNotFromDeck(f"{''.join(cards)} is not what was laid aside", count=WIDOW)
        self.widow = cards
        self.cards[self.player] += cards
        self.enter("discard", self.player)

    def lay_away(self, action: Action) -> None:
        """``ds CARDS``: two of the twelve, face down ("The Bidding").

        Where the house does not know the hand it may not know these cards either. Then nobody can say which of the
        cards that it does know are still in the hand: they become unknown again, but can be with no other seat.
        """
        self.offer_discard().require(action)
        seat = self.player
        held, hidden = list(self.cards[seat]), action.cards.count(UNKNOWN)
        named = [card for card in action.cards if card != UNKNOWN]
        for card in named:
            held.remove(card if card in held else UNKNOWN)
        if self.source is None:
            self.known.update(named)
        if hidden:
            uncertain = [card for card in held if card != UNKNOWN]
            self.known.difference_update(uncertain)
            elsewhere = CARDS.mask(uncertain)
            self.lacks = self.also_without(dict.fromkeys(self.defenders(), elsewhere))
            held = [UNKNOWN] * (len(held) - hidden)
        self.away = CARDS.mask(named)
        self.cards[seat] = tuple(held)
        self.enter("game", seat)

    def free(self) -> int:
        """Cards that were laid away lie there."""
        return super().free() & ~self.away

    def declare(self, action: Action) -> None:
        """``cl G``: any game from the bid on."""
        if action.word not in NAMES[self.bid - LOWEST :]:
            self.offer_game().require(action)
        self.name_game(int(action.word))

    # -- contra ------------------------------------------------------------------------------------------------------

    def name_game(self, game: int) -> None:
        """The game is known: the others may double it."""
        self.game = game
        self.enter("contra", self.defenders()[0])

    def defenders(self) -> list[int]:
        """The two others, in play order."""
        return [seat for seat in range(1, SEATS + 1) if seat != self.player]

    def double(self, action: Action) -> None:
        """``dbl pP``: the player answers at once."""
        if action.targets != (self.player,):
            self.offer_double().require(action)
        self.doubled = action.actor
        self.multiply(CONTRA)
        self.enter("answer", self.player)

    def redouble(self, action: Action) -> None:
        """``rdbl pN``: between the player and the seat that doubled."""
        if action.targets != (self.doubled,):
            self.offer_redouble().require(action)
        self.multiply(RECONTRA)
        self.next_defender(self.doubled)

    def multiply(self, factor: int) -> None:
        """What is at stake with the seat that doubled."""
        self.factors = tuple(factor if seat == self.doubled else old for seat, old in enumerate(self.factors))

    def pass_contra(self, action: Action) -> None:
        """``ps`` of a defender: no contra."""
        self.next_defender(action.actor)

    def pass_answer(self, action: Action) -> None:
        """``ps`` of the player: no re-contra."""
        self.next_defender(self.doubled)

    def next_defender(self, seat: int) -> None:
        """The other defender speaks, then the play begins: p1 leads, the player or not ("The Bidding")."""
        last = self.defenders()[-1]
        if seat != last:
            self.enter("contra", last)
            return
        self.take_up()
        self.trump = CARDS.suits[TRUMPS[self.game]] if self.game in TRUMPS else 0
        self.enter("tricks", 1)

    # -- the play ----------------------------------------------------------------------------------------------------

    def to_follow(self) -> Duties:
        """Follow suit, else trump if there are trumps; nobody has to beat anything ("The Play")."""
        return (self.suit, self.trump)

    def goes_on(self) -> bool:
        """Not where bettl or durchmarsch is decided, if the table ends it there ("The Play")."""
        if self.rules.early_end and self.game in (BETTL, DURCHMARSCH):
            decided = (self.winning == self.player) == (self.game == BETTL)
            return not decided and super().goes_on()
        return super().goes_on()

    # -- the end -----------------------------------------------------------------------------------------------------

    def worth(self) -> int:
        """What each defender pays the player before contra, in units; negative where the game is lost ("Scoring")."""
        tricks = self.tricks_of(self.player)
        if self.game in NEEDED:
            over = tricks - NEEDED[self.game] - self.from_hand
            return self.game + over if over >= 0 else over - self.game
        made = tricks == (0 if self.game == BETTL else len(self.winners))
        return self.game if made else -self.game

    def played_out(self) -> None:
        """The player is paid by each of the others, or pays them, and pays the dealer for a widow of one rank."""
        unit, worth = self.rules.unit, self.worth()
        if self.kunstwerk() and self.player != SEATS:
            self.pay(self.player, SEATS, KUNSTWERK * unit)
        for defender in self.defenders():
            self.pay(defender, self.player, worth * self.factors[defender] * unit)
        self.finish("made" if worth > 0 else "lost", self.player if worth > 0 else 0)

    def kunstwerk(self) -> bool:
        """Whether the widow was turned up and holds two cards of a rank."""
        return len({card[0] for card in self.widow}) == 1

    def series(self, ending: str) -> Mapping[str, object]:
        """The score with the units that each has won or lost."""
        return scores_after(self.names, self.score, [net // self.rules.unit for net in self.net()])

    # -- who may know what -------------------------------------------------------------------------------------------

    def face_up(self, viewer: Viewer) -> set[str]:
        """The widow, once it was turned up."""
        return set(self.widow)

    def dealt_as_seen(self, seat: int, viewer: Viewer) -> list[str]:
        """Others know the cards that the seat has played, and not those that it has laid away."""
        if viewer in (seat, AUDITOR):
            return list(self.dealt_to(seat))
        return [card for card in self.dealt_to(seat) if CARDS.bits[card] & self.gone]

    def view_of_seat(self, seat: int, viewer: Viewer) -> dict[str, object]:
        """Its tricks, by what its stake is multiplied, and its score."""
        found: dict[str, object] = {"tricks": self.tricks_of(seat), "score": self.score[seat - 1]}
        return found if seat == self.player else found | {"factor": self.factors[seat]}

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """The highest bid and whose it is, the widow as it was turned up, and the game."""
        found = super().view_of_table(viewer)
        found |= {
            "player": actor_name(self.player) if self.player else None,
            "bid": self.bid or None,
            "from_hand": self.from_hand,
            "widow": list(self.widow),
            "contract": self.game or None,
        }
        return found

    def events(self, action: Action) -> list[Event]:
        """The widow lies face up."""
        return [Opened(action.cards)] if action.verb == "up" else super().events(action)

    # -- what may be done --------------------------------------------------------------------------------------------

    def forced(self) -> str | None:
        """With a known deck, the widow as well as the deals."""
        if self.phase == "widow" and self.source is not None:
            return f"d up {''.join(self.widow_of_deck())}"
        return None if self.phase == "widow" else super().forced()

    def chance(self) -> Chance | None:
        """Where nobody knows the deck, the widow too may be any two cards."""
        if self.phase == "widow" and self.source is None:
            return Chance(DEALER, WIDOW, self.unseen(), "up")
        return super().chance()

    def unseen(self) -> tuple[str, ...]:
        """Without a deck, the cards that lie nobody knows where."""
        return tuple(card for card in TELL32.cards if card not in self.known)

    def offer_widow(self) -> Legal:
        """The two cards laid aside; without a deck any that may be."""
        if self.source is not None:
            return self.offer("up", Rows(("".join(self.widow_of_deck()),)))
        return self.offer("up", Pick(WIDOW, self.unseen()))

    def offer_bid(self) -> Legal:
        """A game."""
        return self.offer("bd", Words(self.bids()))

    def offer_pass(self) -> Legal | None:
        """Nothing, unless the first bid is due."""
        return None if self.phase == "bid" and not self.bid else self.offer("ps")

    def offer_discard(self) -> Legal:
        """Any two cards of the hand; of a hand that is not known, those that it may hold, and cards not named."""
        held = self.cards[self.turn]
        unknown = held.count(UNKNOWN)
        if not unknown:
            return self.offer("ds", Rows(tuple(map("".join, combinations(self.in_fixed_order(held), WIDOW)))))
        choices = self.in_fixed_order(self.candidates(self.turn))
        pairs = [pair for pair in combinations(choices, WIDOW) if len({*pair} - {*held}) <= unknown]
        pairs += [(card, UNKNOWN) for card in choices] + [(UNKNOWN, UNKNOWN)]
        return self.offer("ds", Rows(tuple(map("".join, pairs))))

    def offer_game(self) -> Legal:
        """The bid, or any higher game."""
        return self.offer("cl", Words(NAMES[self.bid - LOWEST :]))

    def offer_double(self) -> Legal:
        """The player."""
        return self.offer("dbl", Seats((self.player,), (self.player,)))

    def offer_redouble(self) -> Legal:
        """The seat that has just doubled."""
        return self.offer("rdbl", Seats((self.doubled,), (self.doubled,)))

    HANDLERS: ClassVar[dict[str, dict[str, Handler]]] = {
        "deal": {"dh": TrickState.deal},
        "hands": {"bd": make_bid, "ps": pass_bid},
        "bid": {"bd": make_bid, "ps": pass_bid},
        "widow": {"up": turn_up},
        "discard": {"ds": lay_away},
        "game": {"cl": declare},
        "contra": {"dbl": double, "ps": pass_contra},
        "answer": {"rdbl": redouble, "ps": pass_answer},
        "tricks": {"pl": FollowState.play},
        "over": {},
    }
    OFFERS: ClassVar[dict[str, Offer]] = {
        "dh": TrickState.offer_deal,
        "bd": offer_bid,
        "ps": offer_pass,
        "up": offer_widow,
        "ds": offer_discard,
        "cl": offer_game,
        "dbl": offer_double,
        "rdbl": offer_redouble,
        "pl": FollowState.offer_play,
    }


def _begin(setup: Setup, rules: PreferanszRules) -> PreferanszState:
    """A deal before its first card: nothing but the score is carried in, and the stacks cover the worst."""
    require_settles_itself(setup, rules.least_stack)
    return PreferanszState(setup, rules)


GAME = Game(
    name="preferansz",
    title="Preferánsz",
    rules=PreferanszRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=SEATS,
    max_seats=SEATS,
    seats_allowed=(SEATS,),
    state=PreferanszState,
    begin=_begin,
    policy=Policy(
        must_set=("unit",),
        least_players=lambda options: SEATS,
        worst_loss=lambda rules, seats: rules.least_stack,
    ),
    example={"unit": 100},
    new_series=new_scores,
    continues=lambda series, ids, rules: go_on(series, ids),
    terms=TERMS,
    weights={"ps": 2},
)
