"""What the games of the Sedma family share (Zsíros, Siebner Schuster): tricks of one round or more in which only ranks
count, hands that are filled up from a talon, and calls to the partner.

=============  ============  ===============================================================================
phase          verbs         who acts, and what for
=============  ============  ===============================================================================
``deal``       dh            the house deals four cards a seat, and fills the hands up after a trick
``lead``       pl cl         p1, later the winner of the last trick, leads any card
``follow``     pl cl         the other seats play any card, one each
``ask``        pl ps cl      the leader may go on with a matching card, or end the trick
=============  ============  ===============================================================================

A card *matches* when it has the rank that was led, or is a seven; the last matching card holds the trick. The leader is
asked only where an opponent holds the trick and its own hand has a matching card, or may have one where the house does
not know the hand. ``cl`` is table talk: while a seat is to act, its partner alone may call, as often as it likes, and
nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.errors import NotYourTurn, OptionOutOfRange, VerbNotLegal
from engine.kernel.game import as_they_stand, require_settles_itself
from engine.kernel.grammar import HOUSE, SEAT, Action, Role, Seen, Verb, actor_name, cards, seat, word
from engine.kernel.legal import Legal, Words
from engine.kernel.rules import MAX_MONEY, Rules
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.tricks.chairs import chair_of_first, counts, first_chairs, require_keys
from engine.tricks.state import TrickState

HAND = 4
"""Cards of a full hand."""
SEVEN = "7"
"""The rank that stands for any rank that was led."""
GREASE, GREASE_POINTS = frozenset("AXT"), 10
"""Ranks that count, aces and tens of either pack, and what each of their cards counts."""
CARD_POINTS = 80
"""All the cards of a pack that count."""
PLAYERS = 4
"""How many play where the table does not say: two pairs."""
SERIES = ("order", "deals", "score", "games")


def verbs(*calls: str) -> tuple[Verb, ...]:
    """The verbs of the family, with the calls of one game."""
    dealt = cards(Role.DEALT, Seen.TARGET, most=HAND)
    return (
        Verb("dh", HOUSE, (seat(), dealt), "deal face down: the hands, and cards drawn", label="Deal", key="D"),
        Verb(
            "pl",
            SEAT,
            (cards(Role.PLAYED, Seen.ALL, most=1),),
            "play a card; asked, go on with the trick",
            label="Play",
            key="Y",
        ),
        Verb("ps", SEAT, (), "asked, end the trick as it is", label="End trick", key="P"),
        Verb(
            "cl",
            SEAT,
            (word(*calls),),
            "call to the partner, whose turn it is; nothing follows from it",
            aside=True,
            beside=True,
            label="Call",
            key="C",
            only="Only the partner of the seat to act calls; two players have no partners.",
        ),
    )


class SedmaRules(Rules):
    """What the options of these games have in common; each game declares them with its own defaults."""

    stake: int
    target: int
    players: int
    draw_mode: str
    deal_model: str
    calls: str

    def validate(self, seats: int) -> None:
        """The number of players is the number of seats: partnerships are fixed."""
        if self.players != seats:
            raise OptionOutOfRange(f"option 'players' is {self.players} at a table of {seats}", choices=[seats])


class SedmaState(TrickState):
    """One deal. A side is named by its first seat less one: 0 is p1's, 1 is p2's."""

    DRAWS = True
    NOT_AN_ACT = frozenset({"cl"})
    CALLS: ClassVar[tuple[str, ...]]
    """The words that partners may call."""

    __slots__ = ("chair", "games", "gone", "holder", "leader", "order", "points", "score", "tricks")

    FRESH: ClassVar[frozenset[str]] = TrickState.FRESH | {"points", "tricks"}

    rules: SedmaRules

    def __init__(self, setup: Setup, rules: SedmaRules) -> None:
        super().__init__(setup, rules)
        self.chair = chair_of_first(setup)  # place of p1 in the order of the evening
        self.order = setup.names[-self.chair :] + setup.names[: -self.chair]
        self.score = self.score_carried_in(setup)  # the score sheet, by sides of the order
        self.games = counts(setup, "games", 2, MAX_MONEY)
        self.leader = 1  # of the trick that is played, or comes next
        self.holder = 1  # of its last matching card
        self.gone = 0  # cards in tricks that were taken
        self.points = [0, 0]  # of each side
        self.tricks = [0, 0]  # multiple tricks, taken by each side
        self.deal_next([(player, HAND) for player in range(1, setup.seats + 1)], SedmaState.begin_trick)

    # -- what each game says for itself ------------------------------------------------------------------------------

    def score_carried_in(self, setup: Setup) -> tuple[int, ...]:
        """The score of the running game out of the series; raises ``MalformedSetup`` for one that cannot be."""
        raise TypeError(f"{type(self).__name__} has no score")

    def settle(self) -> None:
        """The last card is played."""
        raise TypeError(f"{type(self).__name__} does not say who pays whom")

    def filled_up(self) -> None:
        """All have drawn."""
        self.begin_trick()

    # -- the trick ---------------------------------------------------------------------------------------------------

    def begin_trick(self) -> None:
        """The winner of the last trick leads, p1 leads to the first."""
        self.enter("lead", self.leader)

    def matches(self, card: str) -> bool:
        """Whether the card equals what was led; where a seven was led, only sevens do."""
        return card[0] in (self.trick[0][1][0], SEVEN)

    def play(self, action: Action) -> None:
        """``pl CARD``: any card of the hand, there is no suit to follow."""
        self.put(action.actor, action.cards[0])

    def go_on(self, action: Action) -> None:
        """``pl CARD`` of the leader who was asked: another round, begun with a matching card."""
        card = action.cards[0]
        self.place_in_hand(action.actor, card)
        if not self.matches(card):
            led = self.trick[0][1][0]
            raise VerbNotLegal(f"{card} does not go on with a trick of {led}", phase=self.phase, ranks=[led, SEVEN])
        self.put(action.actor, card)

    def put(self, player: int, card: str) -> None:
        """The card goes on the trick; the last seat of a round closes it."""
        self.drop(player, self.place_in_hand(player, card), card)
        self.trick.append((player, card))
        if self.matches(card):
            self.holder = player
        if len(self.trick) % self.seats:
            self.enter("follow", player % self.seats + 1)
        else:
            self.close_round()

    def close_round(self) -> None:
        """The leader is asked if an opponent holds the trick and the leader may have a matching card."""
        if (self.holder - self.leader) % 2 and self.may_hold(self.leader, self.matches):
            self.enter("ask", self.leader)
        else:
            self.end_trick()

    def concede(self, action: Action) -> None:
        """``ps``: the leader leaves the trick to the opponents."""
        self.end_trick()

    def end_trick(self) -> None:
        """The holder takes all cards of all rounds, draws first and leads next."""
        side = (self.holder - 1) % 2
        self.points[side] += GREASE_POINTS * len([card for _, card in self.trick if card[0] in GREASE])
        self.tricks[side] += 1
        self.gone += len(self.trick)
        self.trick = []
        self.leader = self.holder
        if self.gone == len(self.pack.cards):
            self.settle()
        else:
            self.deal_next(self.refill(), type(self).filled_up)

    # -- drawing -----------------------------------------------------------------------------------------------------

    @property
    def talon(self) -> int:
        """How many cards are not dealt yet."""
        return len(self.pack.cards) - self.gone - len(self.trick) - sum(map(len, self.cards))

    def refill(self) -> list[tuple[int, int]]:
        """Who draws how many, winner first: as many as fill the hands up, or an equal share of what is left. All hands
        are of one size, and the talon always divides."""
        count = min(HAND - len(self.cards[self.leader]), self.talon // self.seats)
        if not count:
            return []
        order = [(self.leader - 1 + step) % self.seats + 1 for step in range(self.seats)]
        if self.rules.draw_mode == "single":
            deals = [(player, 1) for _ in range(count) for player in order]
        else:
            deals = [(player, count) for player in order]
        if self.rules.deal_model == "preassigned" and self.source is not None:
            top, end = self.next_card, self.next_card + count * self.seats
            drawn = self.laid_ready(self.source[top:end], deals)
            self.source = (*self.source[:top], *drawn, *self.source[end:])
        return deals

    def laid_ready(self, rows: tuple[str, ...], deals: list[tuple[int, int]]) -> list[str]:
        """The next cards of the talon in the order in which they are drawn: each row of it holds one card for every
        seat, p1 first, and everybody draws as many rows."""
        own = {player: iter(rows[player - 1 :: self.seats]) for player, _ in deals}
        return [next(own[player]) for player, count in deals for _ in range(count)]

    # -- calls -------------------------------------------------------------------------------------------------------

    def caller(self) -> int:
        """The seat that may call now: the partner of the seat to act; 0 where nobody may."""
        return (self.turn + 1) % self.seats + 1 if self.seats == 4 and self.rules.calls == "logged" else 0

    def out_of_turn(self, action: Action) -> Handler | None:
        """Calls are made beside the turn."""
        return self.verbs.get("cl") if action.verb == "cl" else None

    def call(self, action: Action) -> None:
        """``cl WORD``: only at the partner's turn, and nothing changes."""
        caller = self.caller()
        if not caller:
            raise VerbNotLegal("nobody may call at this table", phase=self.phase, calls=self.rules.calls)
        if action.actor != caller:
            raise NotYourTurn(f"only {actor_name(caller)} may call now", actor=actor_name(caller))

    # -- the end -----------------------------------------------------------------------------------------------------

    def pay_side(self, side: int, amount: int) -> None:
        """Each loser pays a seat of this side so much: the first in play order the first, and so on."""
        winners = range(side + 1, self.seats + 1, 2)
        losers = range(2 - side, self.seats + 1, 2)
        for loser, winner in zip(losers, winners, strict=True):
            self.pay(loser, winner, amount)

    def sheet_after(self, score: list[int], games: list[int]) -> Mapping[str, object]:
        """The series of the next deal, which p1 deals."""
        return {"order": list(self.order), "deals": self.order[self.chair], "score": score, "games": games}

    def row_of(self, player: int) -> int:
        """The seat's side on the score sheet, from 0: chairs 1 and 3 of the order are the first, 2 and 4 the second."""
        return (self.chair + player - 1) % 2

    # -- who may know what -------------------------------------------------------------------------------------------

    def view_of_seat(self, seat: int, viewer: Viewer) -> dict[str, object]:
        """Its side on the score sheet, 1 or 2, and its partner, where there is one."""
        partner = (seat + 1) % self.seats + 1
        return {"side": self.row_of(seat) + 1, "partner": actor_name(partner) if partner != seat else None}

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """The trick with its leader and holder, the talon's size, and by sides of the score sheet: tricks taken, score
        and games. Cards that were taken lie face down, so points come with the end."""
        found = super().view_of_table(viewer)
        rows = [self.row_of(1), self.row_of(2)]  # from sides of the deal to rows of the sheet, and back
        found |= {
            "leader": actor_name(self.leader) if self.result is None else None,
            "holder": actor_name(self.holder) if self.trick else None,
            "talon": self.talon,
            "tricks": [self.tricks[side] for side in rows],
            "score": list(self.score),
            "games": list(self.games),
        }
        if self.result is not None or viewer == AUDITOR:
            found["points"] = [self.points[side] for side in rows]
        return found

    # -- what may be done --------------------------------------------------------------------------------------------

    def offer_play(self) -> Legal:
        """Any card; asked, those that match."""
        held = self.candidates(self.turn)
        return self.offer_cards("pl", filter(self.matches, held) if self.phase == "ask" else held)

    def offer_call(self) -> Legal | None:
        """The calls of the partner of the seat to act."""
        caller = self.caller()
        return Legal(actor_name(caller), "cl", (Words(self.CALLS),)) if caller else None

    HANDLERS: ClassVar[dict[str, dict[str, Handler]]] = {
        "deal": {"dh": TrickState.deal},
        "lead": {"pl": play, "cl": call},
        "follow": {"pl": play, "cl": call},
        "ask": {"pl": go_on, "ps": concede, "cl": call},
        "over": {},
    }
    OFFERS: ClassVar[dict[str, Offer]] = {
        "dh": TrickState.offer_deal,
        "pl": offer_play,
        "ps": lambda state: state.offer("ps"),
        "cl": offer_call,
    }


def require_playable(setup: Setup, rules: SedmaRules) -> None:
    """Raise a ``SetupError`` unless the series stands, nothing else is carried in, and the stacks cover the worst
    loss."""
    require_settles_itself(setup, rules.least_stack)
    require_keys(setup, SERIES)


def new_series(ids: tuple[str, ...], rules: SedmaRules) -> Mapping[str, object]:
    """Nothing is written on the score sheet yet."""
    return first_chairs(ids) | {"score": [0, 0], "games": [0, 0]}


def resolve(opt: Mapping[str, object], seats: int, announced: tuple[str, ...]) -> dict[str, object]:
    """A hand without a number of players is for those who are dealt in; how few a table deals to, the policy says."""
    found = as_they_stand(opt, seats, announced)
    return found if "players" in found or seats == PLAYERS else found | {"players": seats}


def least_players(options: Mapping[str, Any]) -> int:
    """A table deals to its number of players, and to no other: sides are fixed."""
    return int(options.get("players") or PLAYERS)
