"""Zsíros, phase by phase. Sections in quotes are those of the Zsíros rules text.

The options that settle what the text leaves open are in :mod:`engine.tricks.zsiros_rules`. p1 sits at the dealer's
right hand, play is anticlockwise. Phases:

=============  ============  ===============================================================================
phase          verbs         who acts, and what for
=============  ============  ===============================================================================
``deal``       dh            the house deals four cards a seat, and fills the hands up after a trick ("Deal")
``lead``       pl cl         p1, later the winner of the last trick, leads any card ("Play")
``follow``     pl cl         the other seats play any card, one each ("Play")
``ask``        pl ps cl      the leader may go on with a matching card, or end the trick ("Multiple tricks")
=============  ============  ===============================================================================

A card *matches* when it has the rank that was led, or is a seven; the last matching card holds the trick. The leader is
asked only where an opponent holds the trick and its own hand has a matching card, or may have one where the house does
not know the hand. ``cl`` is table talk: while a seat is to act, its partner alone may call, as often as it likes, and
nothing follows from it ("Calls").

A deal ends ``won``, ``kopasz`` (the winners have all 80 points) or ``csupasz`` (they have every trick), which score 1,
2 and 3 ("Scoring"). ``winner`` of the result is the first seat of the winning side: p1 or p2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.errors import NotYourTurn, VerbNotLegal
from engine.kernel.cards import TELL32
from engine.kernel.game import Game, Policy, as_they_stand, require_no_carry, require_no_redeals, require_stacks
from engine.kernel.grammar import HOUSE, SEAT, Action, Grammar, Role, Seen, Verb, actor_name, cards, seat, word
from engine.kernel.legal import Legal, Words
from engine.kernel.rules import MAX_MONEY
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.tricks.chairs import chair_of_first, counts, first_chairs, goes_on, require_keys
from engine.tricks.state import TrickState
from engine.tricks.zsiros_rules import MOST_SCORE, TERMS, ZsirosRules

HAND = 4
"""Cards of a full hand ("Deal")."""
SEVEN = "7"
"""The rank that stands for any rank that was led ("Sevens are wild")."""
GREASE, GREASE_POINTS = frozenset("AX"), 10
"""Ranks that count, and what each of their cards counts ("Scoring")."""
ALL_POINTS = 80
CALLS = ("uss", "ne_uss", "zsirt", "ne_zsirt")
"""Beat it, do not beat it, grease it, do not grease it ("Calls")."""
SCORES = {"won": 1, "kopasz": 2, "csupasz": MOST_SCORE}
"""Ending -> what the winners write on the score sheet."""
SERIES = ("order", "deals", "score", "games")

GRAMMAR = Grammar(
    Verb(
        "dh", HOUSE, (seat(), cards(Role.DEALT, Seen.TARGET, most=HAND)), "deal face down: the hands, and cards drawn"
    ),
    Verb("pl", SEAT, (cards(Role.PLAYED, Seen.ALL, most=1),), "play a card; asked, go on with the trick"),
    Verb("ps", SEAT, (), "asked, end the trick as it is"),
    Verb(
        "cl",
        SEAT,
        (word(*CALLS),),
        "call to the partner, whose turn it is; nothing follows from it",
        aside=True,
        beside=True,
    ),
)


class ZsirosState(TrickState):
    """One deal of Zsíros. A side is named by its first seat less one: 0 is p1's, 1 is p2's."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    DRAWS = True
    NOT_AN_ACT = frozenset({"cl"})
    __slots__ = ("chair", "games", "gone", "holder", "leader", "order", "points", "score", "tricks")

    FRESH: ClassVar[frozenset[str]] = TrickState.FRESH | {"points", "tricks"}

    rules: ZsirosRules

    def __init__(self, setup: Setup, rules: ZsirosRules) -> None:
        super().__init__(setup, rules)
        self.chair = chair_of_first(setup)  # place of p1 in the order of the evening
        self.order = setup.names[-self.chair :] + setup.names[: -self.chair]
        self.score = counts(setup, "score", 2, rules.target - 1)  # the score sheet, by sides of the order
        self.games = counts(setup, "games", 2, MAX_MONEY)
        self.leader = 1  # of the trick that is played, or comes next
        self.holder = 1  # of its last matching card
        self.gone = 0  # cards in tricks that were taken
        self.points = [0, 0]  # of each side
        self.tricks = [0, 0]  # multiple tricks, taken by each side
        self.deal_next([(player, HAND) for player in range(1, setup.seats + 1)], ZsirosState.begin_trick)

    # -- the trick ---------------------------------------------------------------------------------------------------

    def begin_trick(self) -> None:
        """The winner of the last trick leads, p1 leads to the first ("Play", "Multiple tricks")."""
        self.enter("lead", self.leader)

    def matches(self, card: str) -> bool:
        """Whether the card equals what was led; where a seven was led, only sevens do ("Sevens are wild")."""
        return card[0] in (self.trick[0][1][0], SEVEN)

    def play(self, action: Action) -> None:
        """``pl CARD``: any card of the hand, there is no suit to follow ("Play")."""
        self.put(action.actor, action.cards[0])

    def go_on(self, action: Action) -> None:
        """``pl CARD`` of the leader who was asked: another round, begun with a matching card ("Multiple tricks")."""
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
        """The holder takes all cards of all rounds, draws first and leads next ("Multiple tricks")."""
        side = (self.holder - 1) % 2
        self.points[side] += GREASE_POINTS * sum(card[0] in GREASE for _, card in self.trick)
        self.tricks[side] += 1
        self.gone += len(self.trick)
        self.trick = []
        self.leader = self.holder
        if self.gone == len(self.pack.cards):
            self.settle()
        else:
            self.deal_next(self.refill(), ZsirosState.begin_trick)

    # -- drawing -----------------------------------------------------------------------------------------------------

    @property
    def talon(self) -> int:
        """How many cards are not dealt yet."""
        return len(self.pack.cards) - self.gone - len(self.trick) - sum(map(len, self.cards))

    def refill(self) -> list[tuple[int, int]]:
        """Who draws how many, winner first: as many as fill the hands up, or an equal share of what is left ("Drawing
        from the Talon"). All hands are of one size, and the talon always divides."""
        count = min(HAND - len(self.cards[self.leader]), self.talon // self.seats)
        order = [(self.leader - 1 + step) % self.seats + 1 for step in range(self.seats)]
        if self.rules.draw_mode == "single":
            deals = [(player, 1) for _ in range(count) for player in order]
        else:
            deals = [(player, count) for player in order if count]
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
        """``cl WORD``: only at the partner's turn, and nothing changes ("Calls")."""
        caller = self.caller()
        if not caller:
            raise VerbNotLegal("nobody may call at this table", phase=self.phase, calls=self.rules.calls)
        if action.actor != caller:
            raise NotYourTurn(f"only {actor_name(caller)} may call now", actor=actor_name(caller))

    # -- the end -----------------------------------------------------------------------------------------------------

    def verdict(self) -> tuple[int, str]:
        """The side that has won, and how: more points, or of 40 each the last trick ("Scoring")."""
        side = (self.leader - 1) % 2
        if self.points[0] != self.points[1]:
            side = int(self.points[1] > self.points[0])
        if not self.tricks[1 - side]:
            return side, "csupasz"
        return side, "kopasz" if self.points[side] == ALL_POINTS else "won"

    def settle(self) -> None:
        """Each loser pays a winner: the first in play order the first, and so on."""
        side, ending = self.verdict()
        winners = range(side + 1, self.seats + 1, 2)
        losers = range(2 - side, self.seats + 1, 2)
        for loser, winner in zip(losers, winners, strict=True):
            self.pay(loser, winner, self.rules.stake * SCORES[ending])
        self.finish(ending, side + 1)

    def series(self, ending: str) -> Mapping[str, object]:
        """The score sheet after this deal: with ``target`` points a side has won a game, and a new one begins
        ("Scoring"). The next dealer is p1."""
        side, _ = self.verdict()
        score, games = list(self.score), list(self.games)
        row = self.row_of(side + 1)
        score[row] += SCORES[ending]
        if score[row] >= self.rules.target:
            games[row] += 1
            score = [0, 0]
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
        """The four calls of the partner of the seat to act."""
        caller = self.caller()
        return Legal(actor_name(caller), "cl", (Words(CALLS),)) if caller else None

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


def _begin(setup: Setup, rules: ZsirosRules) -> ZsirosState:
    """A deal at its first line: the series stands, nothing else is carried in, and the stacks cover the worst loss."""
    require_no_redeals(setup)
    require_no_carry(setup)
    require_stacks(setup.stacks, rules.least_stack)
    require_keys(setup, SERIES)
    return ZsirosState(setup, rules)


def _new_series(ids: tuple[str, ...], rules: ZsirosRules) -> Mapping[str, object]:
    """Nothing is written on the score sheet yet."""
    return first_chairs(ids) | {"score": [0, 0], "games": [0, 0]}


def _resolve(opt: Mapping[str, object], seats: int, announced: tuple[str, ...]) -> dict[str, object]:
    """A hand without a number of players is for those who are dealt in; how few a table deals to, the policy says."""
    found = as_they_stand(opt, seats, announced)
    return found if "players" in found or seats == ZsirosRules.players else found | {"players": seats}


def _players(options: Mapping[str, Any]) -> int:
    """A table deals to its number of players, and to no other: sides are fixed."""
    return int(options.get("players") or ZsirosRules.players)


GAME = Game(
    name="zsiros",
    title="Zsíros",
    rules=ZsirosRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=2,
    max_seats=4,
    seats_allowed=(2, 4),
    begin=_begin,
    policy=Policy(
        must_set=("stake",),
        least_players=_players,
        worst_loss=lambda rules, seats: rules.least_stack,
    ),
    example={"stake": 100},
    resolve=_resolve,
    new_series=_new_series,
    continues=lambda series, ids, rules: goes_on(series, ids),
    terms=TERMS,
    weights={"pl": 20, "ps": 20, "cl": 1},
)
