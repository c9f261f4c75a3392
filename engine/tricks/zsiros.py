"""Zsíros ("greasy": only aces and tens, the *zsír*, count). Sections in quotes are those of its rules text.

Tricks, draws and calls are those of the family (:mod:`engine.tricks.sedma`); the options that settle what the text
leaves open are in :mod:`engine.tricks.zsiros_rules`. p1 sits at the dealer's right hand, play is anticlockwise.

A deal ends ``won``, ``kopasz`` ("bald": the winners have all 80 points) or ``csupasz`` ("naked": they have every
trick), which score 1, 2 and 3 ("Scoring"). ``winner`` of the result is the first seat of the winning side: p1 or p2.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.kernel.cards import TELL32
from engine.kernel.game import Game, Policy
from engine.kernel.grammar import Grammar
from engine.kernel.setup import Setup
from engine.tricks.chairs import counts, goes_on
from engine.tricks.sedma import CARD_POINTS, SedmaState, least_players, new_series, require_playable, resolve, verbs
from engine.tricks.zsiros_rules import MOST_SCORE, TERMS, ZsirosRules

CALLS = ("uss", "ne_uss", "zsirt", "ne_zsirt")
"""Beat it, do not beat it, grease it, do not grease it ("Calls")."""
SCORES = {"won": 1, "kopasz": 2, "csupasz": MOST_SCORE}
"""Ending -> what the winners write on the score sheet."""
GRAMMAR = Grammar(*verbs(*CALLS))


class ZsirosState(SedmaState):
    """One deal of Zsíros."""

    GRAMMAR = GRAMMAR
    PACK = TELL32
    CALLS = CALLS
    __slots__ = ()

    def score_carried_in(self, setup: Setup) -> tuple[int, ...]:
        """Both scores are below the target."""
        return counts(setup, "score", 2, self.rules.target - 1)

    def verdict(self) -> tuple[int, str]:
        """The side that has won, and how: more points, or of 40 each the last trick ("Scoring")."""
        side = (self.leader - 1) % 2
        if self.points[0] != self.points[1]:
            side = int(self.points[1] > self.points[0])
        if not self.tricks[1 - side]:
            return side, "csupasz"
        return side, "kopasz" if self.points[side] == CARD_POINTS else "won"

    def settle(self) -> None:
        """The losers pay what the deal scores."""
        side, ending = self.verdict()
        self.pay_side(side, self.rules.stake * SCORES[ending])
        self.finish(ending, side + 1)

    def series(self, ending: str) -> Mapping[str, object]:
        """The score sheet after this deal: with ``target`` points a side has won a game, and a new one begins
        ("Scoring")."""
        side, _ = self.verdict()
        score, games = list(self.score), list(self.games)
        row = self.row_of(side + 1)
        score[row] += SCORES[ending]
        if score[row] >= self.rules.target:
            games[row] += 1
            score = [0, 0]
        return self.sheet_after(score, games)


def _begin(setup: Setup, rules: ZsirosRules) -> ZsirosState:
    """A deal at its first line."""
    require_playable(setup, rules)
    return ZsirosState(setup, rules)


GAME = Game(
    name="zsiros",
    title="Zsíros",
    rules=ZsirosRules,
    grammar=GRAMMAR,
    pack=TELL32,
    min_seats=2,
    max_seats=4,
    seats_allowed=(2, 4),
    state=ZsirosState,
    begin=_begin,
    policy=Policy(
        must_set=("stake",),
        least_players=least_players,
        worst_loss=lambda rules, seats: rules.least_stack,
    ),
    example={"stake": 100},
    resolve=resolve,
    new_series=new_series,
    continues=lambda series, ids, rules: goes_on(series, ids),
    terms=TERMS,
    weights={"pl": 20, "ps": 20, "cl": 1},
)
