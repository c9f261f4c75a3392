"""Options of Siebner Schuster. Sections named in the docstrings are those of its rules text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.kernel.rules import option
from engine.kernel.terms import Term
from engine.tricks.sedma import SedmaRules

MOST_POINTS = 90
"""The points of a deal: eight aces and tens, and the last trick, ten each ("Scoring")."""


@dataclass(frozen=True)
class SiebnerSchusterRules(SedmaRules):
    """Siebner Schuster. Money is in minor units of the house's currency."""

    GAME: ClassVar[str] = "siebner_schuster"
    RULES_ID: ClassVar[str] = "siebner_schuster/1"
    STAKE: ClassVar[str] = "stake"

    stake: int = option(int)
    """What a card point is worth between a loser and a winner, paid after every deal; 0 plays for nothing ("Scoring"
    counts points and names no money). Over a game it adds up to the difference of the final scores. No default."""
    target: int = option(int, 120, low=1)
    """Points that end the game; the side with more of them has won it, and both start again from nothing ("Scoring":
    120 or more)."""
    players: int = option(int, 4, choices=(2, 4))
    """How many play: two alone, or four as two pairs ("Players"). It must be the number of seats dealt in."""
    draw_mode: str = option(str, "single", choices=("single", "batch"))
    """How hands are filled up after a trick, the winner first. ``single``: one card each, round after round ("The
    Play": one card at a time in turn). ``batch``: a seat gets all its cards before the next seat gets any."""
    deal_model: str = option(str, "draw", choices=("draw", "preassigned"))
    """Which cards fill the hands up ("The Play").

    ``draw``: the next ones of the talon, so who wins a trick changes who gets what. ``preassigned``: the talon lies
    ready in rows of one card for each seat, p1 first, and a seat draws the next card of its row, also after losing the
    trick. Where the pack is not known, nobody can check whose card is whose, and any free card is taken."""
    calls: str = option(str, "logged", choices=("logged", "off"))
    """Whether the partner of the seat to act may call to it ("The Play": suggestions to the partner)."""
    pack: str = option(str, "tell", choices=("tell", "french"))
    """Pack of 32 cards, ace to seven ("Cards" names none; the examples have queens, jacks and tens). Only ranks
    count."""

    @property
    def least_stack(self) -> int:
        """The most that a seat can lose in a deal."""
        return MOST_POINTS * self.stake


TERMS = (
    Term("hetes", "Sieben", "seven", "stands for any rank that was led"),
    Term("talon", "Talon", "talon", "the cards that are not dealt yet"),
    Term("", "", "ubij", "Serbian: kill, a call to the partner: take the trick"),
    Term("", "", "pusti", "Serbian: let go, a call to the partner: leave the trick to the others"),
    Term("", "", "napuni", "Serbian: fill it, a call to the partner: a card that counts, please"),
    Term("", "", "natovari", "Serbian: load it up, a call to the partner: a card that counts, please"),
    Term("", "", "podmazi", "Serbian: grease it up, a call to the partner: a card that counts, please"),
)
"""The words of the tables."""
