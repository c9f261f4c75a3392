"""Options of Pacal. Sections named in the docstrings are those of the Pacal rules text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.kernel.rules import Rules, option
from engine.kernel.terms import Term


@dataclass(frozen=True)
class PacalRules(Rules):
    """Pacal. Money is in minor units of the house's currency."""

    GAME: ClassVar[str] = "pacal"
    RULES_ID: ClassVar[str] = "pacal/1"
    STAKE: ClassVar[str] = "forfeit"

    forfeit: int = option(int)
    """What the loser pays to each of the other three; 0 plays for nothing ("Winning the Game" says who loses and names
    no money). No default."""
    max_plies: int = option(int, 1000, low=1)
    """Turns after which a deal without a loser is void ("The Play" bounds nothing: cards can be taken up for ever)."""

    @property
    def least_stack(self) -> int:
        """The most that a seat can lose in a deal."""
        return 3 * self.forfeit


TERMS = (
    Term("pacal", "Kutteln", "tripe", "the game; its loser is left with cards in the hand"),
    Term(
        "saját adu",
        "eigener Trumpf",
        "trump of one's own",
        "the suit with which one player beats other suits, all evening",
    ),
    Term("felvétel", "Aufnehmen", "picking up", "taking the whole stack instead of beating its top card"),
)
"""The words of the tables."""
