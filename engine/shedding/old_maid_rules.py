"""Options of Old Maid. Sections named in the docstrings are those of the Old Maid rules text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.kernel.rules import Rules, option
from engine.kernel.terms import Term


@dataclass(frozen=True)
class OldMaidRules(Rules):
    """Old Maid. Money is in minor units of the house's currency."""

    GAME: ClassVar[str] = "old_maid"
    RULES_ID: ClassVar[str] = "old_maid/1"
    STAKE: ClassVar[str] = "forfeit"

    forfeit: int = option(int)
    """What the loser pays for each other seat; 0 plays for nothing ("Scoring" says who loses and names no money). No
    default."""
    discard: str = option(str, choices=("turn", "draw"))
    """When pairs go out ("The Play": a turn begins with it; yet "all the cards will have been discarded").

    ``turn``: at the start of a turn only. With the pack gone a hand is then odd at each of its turns or even at each of
    them, and an odd one never ends: with 2, 4 or 6 seats no deal comes to an end but by ``max_turns``. ``draw``: after
    the card is drawn as well. No default."""
    sole_winner: bool = option(bool, False)
    """Whether the whole payment goes to the winner who put most pairs down ("If you need to have a sole winner"); where
    several did, in equal shares, and what cannot be shared goes to the first of them, one unit each."""
    max_turns: int = option(int, 300, low=1)
    """Turns after which a deal without a loser is void ("Eventually" bounds nothing)."""

    seats: ClassVar[int] = 6
    """How many play, as long as :meth:`validate` has not said: the most that can."""

    def validate(self, seats: int) -> None:
        """Keep the number of seats, which the worst loss depends on."""
        object.__setattr__(self, "seats", seats)

    @property
    def least_stack(self) -> int:
        """The most that a seat can lose in a deal: it pays for each other seat."""
        return (self.seats - 1) * self.forfeit


TERMS = (
    Term(
        "Fekete Péter",
        "Schwarzer Peter",
        "old maid",
        "the under of bells: it makes no pair, and who keeps it loses",
    ),
    Term("pár", "Paar", "pair", "two cards of one rank, which are put down"),
    Term("legyező", "Fächer", "fan", "a hand held so that the neighbour can draw a card unseen"),
)
"""The words of the tables."""
