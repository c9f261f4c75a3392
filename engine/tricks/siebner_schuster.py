"""Siebner Schuster ("Seven Shoemakers"). Sections in quotes are those of its rules text.

Tricks, draws and calls are those of the family (:mod:`engine.tricks.sedma`); the options that settle what the text
leaves open are in :mod:`engine.tricks.siebner_schuster_rules`. Play is clockwise. One phase is its own: with four
players, once the last card of the talon is drawn, partners look at each other's hands, and know them to the end of the
deal ("The Play").

========  ====  =====================================================================
phase     verb  who acts, and what for
========  ====  =====================================================================
``pass``  vw    the house says that p1 and p3, then p2 and p4 have seen their hands
========  ====  =====================================================================

The calls are Serbian: *ubij* kill, take the trick; *pusti* let it go; *napuni* fill it, *natovari* load it up,
*podmazi* grease it up: a card that counts, please ("The Play").

A deal ends ``points``, or ``game`` where it ends a game. ``winner`` of the result is the first seat of the side with
more points; ninety points are never shared equally.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from engine.errors import MalformedSetup
from engine.kernel.cards import FRENCH32, TELL32
from engine.kernel.game import Game, Policy
from engine.kernel.grammar import DEALER, HOUSE, Action, Grammar, Verb, seats
from engine.kernel.legal import Legal, Seats
from engine.kernel.rules import MAX_MONEY
from engine.kernel.setup import Setup, Viewer
from engine.kernel.state import Handler, Offer
from engine.tricks.chairs import counts, goes_on
from engine.tricks.sedma import (
    GREASE_POINTS,
    PLAYERS,
    SedmaState,
    least_players,
    new_series,
    require_playable,
    resolve,
    verbs,
)
from engine.tricks.siebner_schuster_rules import TERMS, SiebnerSchusterRules

CALLS = ("ubij", "pusti", "napuni", "natovari", "podmazi")
PAIRS = ((1, 3), (2, 4))
"""The partners, in the order in which they see each other's hands."""
PACKS = {"tell": TELL32, "french": FRENCH32}
GRAMMAR = Grammar(
    *verbs(*CALLS), Verb("vw", HOUSE, (seats(),), "these partners have seen each other's hands", label="Seen", key="N")
)


class SiebnerSchusterState(SedmaState):
    """One deal of Siebner Schuster."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    CALLS = CALLS
    __slots__ = ("seen",)

    rules: SiebnerSchusterRules

    def __init__(self, setup: Setup, rules: SiebnerSchusterRules) -> None:
        super().__init__(setup, rules)
        self.pack = PACKS[rules.pack]
        self.seen = 0  # pairs that know their hands

    def unused(self) -> frozenset[str]:
        """Two players have no partners."""
        return frozenset() if self.seats == PLAYERS else frozenset({"pass"})

    def score_carried_in(self, setup: Setup) -> tuple[int, ...]:
        """Multiples of ten. A score has reached the target only where the other one is equal: then the game goes on
        ("Scoring": the side with more points wins)."""
        score = counts(setup, "score", 2, MAX_MONEY)
        if any(points % GREASE_POINTS for points in score):
            raise MalformedSetup("scores of the series are multiples of ten", step=GREASE_POINTS)
        if max(score) >= self.rules.target and score[0] != score[1]:
            raise MalformedSetup("a side has won the game already", target=self.rules.target)
        return score

    # -- partners know their hands -----------------------------------------------------------------------------------

    def filled_up(self) -> None:
        """With four players, hands are passed across as soon as the last card is drawn ("The Play")."""
        if not self.seen and self.seats == PLAYERS and not self.talon:
            self.enter("pass", DEALER)
        else:
            self.begin_trick()

    def view_hands(self, action: Action) -> None:
        """``vw SEATS``: one pair after the other."""
        self.offer_view().require(action)
        self.seen += 1
        if self.seen == len(PAIRS):
            self.begin_trick()

    def forced(self) -> str | None:
        """That partners have seen their hands, in physical mode too: nobody has a choice."""
        if self.phase == "pass":
            return next(self.offer_view().lines())
        return super().forced()

    def partner_shown(self, seat: int) -> int:
        """The partner whose hand the seat knows by now, 0 for none."""
        return next((sum(pair) - seat for pair in PAIRS[: self.seen] if seat in pair), 0)

    def held_by(self, seat: int, viewer: Viewer) -> list[str]:
        """A partner's hand is open, once it was shown; in fixed order, since that of dealing would reveal which cards
        were drawn last."""
        if type(viewer) is int and seat == self.partner_shown(viewer):
            return self.laid_open(seat)
        return super().held_by(seat, viewer)

    def learned(self, seat: int) -> dict[str, object]:
        """The partner's hand, once it was shown."""
        partner = self.partner_shown(seat)
        return {"partner": self.held_by(partner, seat)} if partner else {}

    # -- the end -----------------------------------------------------------------------------------------------------

    def points_of_deal(self) -> list[int]:
        """The points of each side, p1's first, with ten for the last trick ("Scoring")."""
        last = (self.leader - 1) % 2
        return [points + GREASE_POINTS * (side == last) for side, points in enumerate(self.points)]

    def settle(self) -> None:
        """The side with fewer points pays the difference."""
        self.points = self.points_of_deal()
        side = int(self.points[1] > self.points[0])
        self.pay_side(side, self.rules.stake * abs(self.points[0] - self.points[1]))
        score = self.written()
        self.finish("game" if self.is_won(score) else "points", side + 1)

    def written(self) -> list[int]:
        """The score sheet with the points of this deal."""
        score = list(self.score)
        for side, points in enumerate(self.points):
            score[self.row_of(side + 1)] += points
        return score

    def is_won(self, score: list[int]) -> bool:
        """Whether a side has won the game: of equal scores neither has ("Scoring")."""
        return max(score) >= self.rules.target and score[0] != score[1]

    def series(self, ending: str) -> Mapping[str, object]:
        """The score sheet after this deal; after a game both sides start again from nothing."""
        score, games = self.written(), list(self.games)
        if self.is_won(score):
            games[int(score[1] > score[0])] += 1
            score = [0, 0]
        return self.sheet_after(score, games)

    # -- what may be done --------------------------------------------------------------------------------------------

    def offer_view(self) -> Legal:
        """The next pair."""
        pair = PAIRS[self.seen]
        return self.offer("vw", Seats(pair, pair, len(pair)))

    HANDLERS: ClassVar[dict[str, dict[str, Handler]]] = {**SedmaState.HANDLERS, "pass": {"vw": view_hands}}
    OFFERS: ClassVar[dict[str, Offer]] = {**SedmaState.OFFERS, "vw": offer_view}


def _begin(setup: Setup, rules: SiebnerSchusterRules) -> SiebnerSchusterState:
    """A deal at its first line."""
    require_playable(setup, rules)
    return SiebnerSchusterState(setup, rules)


GAME = Game(
    name="siebner_schuster",
    title="Siebner Schuster",
    rules=SiebnerSchusterRules,
    grammar=GRAMMAR,
    pack=TELL32,
    packs=PACKS,
    min_seats=2,
    max_seats=4,
    seats_allowed=(2, 4),
    state=SiebnerSchusterState,
    begin=_begin,
    policy=Policy(
        must_set=("stake",),
        least_players=least_players,
        worst_loss=lambda rules, seats: rules.least_stack,
    ),
    example={"stake": 10},
    resolve=resolve,
    new_series=new_series,
    continues=lambda series, ids, rules: goes_on(series, ids),
    terms=TERMS,
    weights={"pl": 20, "ps": 20, "cl": 1},
)
