"""Options of Esel. Sections named in the docstrings are those of the Esel rules text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.kernel.rules import Rules, option
from engine.kernel.terms import Term


@dataclass(frozen=True)
class EselRules(Rules):
    """Esel. Money is in minor units of the house's currency."""

    GAME: ClassVar[str] = "esel"
    RULES_ID: ClassVar[str] = "esel/1"
    STAKE: ClassVar[str] = "forfeit"

    forfeit: int = option(int, 0)
    """What the Esel pays to each of the other three (a game for children, and "Scoring" names no money; so 0 unless the
    table says otherwise)."""
    max_passes: int = option(int, 400, low=1)
    """Cards given without a shout after which the house may end the deal ("The Play" goes on until somebody has a
    suit, and nobody need ever have one)."""

    @property
    def least_stack(self) -> int:
        """The most that a seat can lose in a deal."""
        return 3 * self.forfeit


TERMS = (
    Term("szamár", "Esel", "donkey", "who threw the hand down last, or shouted wrongly: the loser"),
    Term("bedobás", "Hinwerfen", "throwing down", "shouting and laying the hand open"),
)
"""The words of the tables."""
