"""Options of Zsíros. Sections named in the docstrings are those of the Zsíros rules text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.kernel.rules import option
from engine.kernel.terms import Term
from engine.tricks.sedma import SedmaRules

MOST_SCORE = 3
"""The most that a deal scores: the losers took no trick ("Scoring")."""


@dataclass(frozen=True)
class ZsirosRules(SedmaRules):
    """Zsíros. Money is in minor units of the house's currency."""

    GAME: ClassVar[str] = "zsiros"
    RULES_ID: ClassVar[str] = "zsiros/1"
    STAKE: ClassVar[str] = "stake"

    stake: int = option(int)
    """What a point of the score sheet is worth between a loser and a winner, paid after every deal; 0 plays for
    nothing ("Scoring" counts points and names no money). No default."""
    target: int = option(int, 5, choices=(5, 10))
    """Points that win the game; then both sides start again from nothing ("Scoring": five, or ten for a longer
    game)."""
    players: int = option(int, 4, choices=(2, 4))
    """How many play: two alone, or four as two pairs ("Players"). It must be the number of seats dealt in."""
    draw_mode: str = option(str, "batch", choices=("batch", "single"))
    """How hands are filled up after a trick ("Drawing from the Talon": each in turn, the winner first).

    ``batch``: a seat gets all its cards before the next seat gets any. ``single``: one card each, round after round.
    With ``deal_model`` ``draw`` the two give different cards to the seats."""
    deal_model: str = option(str, "draw", choices=("draw", "preassigned"))
    """Which cards fill the hands up ("Drawing from the Talon" says only how many).

    ``draw``: the next ones of the talon, so who wins a trick changes who gets what. ``preassigned``: the talon lies
    ready in rows of one card for each seat, p1 first, and a seat draws the next card of its row, also after losing the
    trick. Where the pack is not known, nobody can check whose card is whose, and any free card is taken."""
    calls: str = option(str, "logged", choices=("logged", "off"))
    """Whether the partner of the seat to act may make one of the four calls ("Calls")."""

    @property
    def least_stack(self) -> int:
        """The most that a seat can lose in a deal."""
        return MOST_SCORE * self.stake


TERMS = (
    Term("zsír", "Fett", "grease", "an ace or a ten: the cards that count"),
    Term("hetes", "Sieben", "seven", "stands for any rank that was led"),
    Term("talon", "Talon", "talon", "the cards that are not dealt yet"),
    Term("kopasz", "kahl", "bald", "the winners have all 80 points"),
    Term("csupasz", "nackt", "bare", "the winners have every trick"),
    Term("üss", "schlag", "beat it", "a call to the partner"),
    Term("ne üss", "schlag nicht", "do not beat it", "a call to the partner"),
    Term("zsírt", "Fett her", "grease it", "a call to the partner: put an ace or a ten on the trick"),
    Term("ne zsírt", "kein Fett", "do not grease it", "a call to the partner"),
)
"""The words of the tables."""
