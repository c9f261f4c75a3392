"""Options of Rufmariasch. Sections named in the docstrings are those of its rules text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.errors import OptionOutOfRange
from engine.kernel.rules import Rules, option
from engine.kernel.terms import Term

CARD_POINTS, LAST_TRICK = 80, 10
"""What all aces and tens count together, and what the last trick does ("Scoring")."""
MOST_MELDED = 100
"""All four melds, one of them in trumps ("Melding")."""


@dataclass(frozen=True)
class RufmariaschRules(Rules):
    """Rufmariasch. Money is in minor units of the house's currency, everything else in points."""

    GAME: ClassVar[str] = "rufmariasch"
    RULES_ID: ClassVar[str] = "rufmariasch/1"
    STAKE: ClassVar[str] = "unit"

    unit: int = option(int, low=1)
    """Money for one point of the difference that the losers pay ("Scoring"). No default."""
    call_own_card: bool = option(bool, True)
    """Whether the caller may name one of its first four cards ("The Call": some groups permit it)."""
    two_calls: bool = option(bool, False)
    """A card and, apart from it, the trump suit are called ("Variant"); if not, trumps are the suit of the card."""
    must_differ: bool = option(bool, False)
    """The called card is not of the called suit ("Variant"). Only with ``two_calls``."""

    def validate(self, seats: int) -> None:
        """Calls can only differ where there are two."""
        if self.must_differ and not self.two_calls:
            raise OptionOutOfRange("option 'must_differ' needs 'two_calls'", two_calls=True)

    @property
    def least_stack(self) -> int:
        """The most that a seat can lose in a deal: alone against three, who have all points and all melds."""
        return 3 * (CARD_POINTS + LAST_TRICK + MOST_MELDED) * self.unit


TERMS = (
    Term("", "Spieler", "player", "the seat on the dealer's left, which calls"),
    Term("hívás", "Ruf", "call", "the card that names trumps, and whose holder is the caller's partner"),
    Term("", "Mariage", "marriage", "king and over of one suit in one hand, shown as a meld"),
    Term("", "Vierziger", "the forty", "a called king, for the marriage in trumps that may come of it"),
    Term("", "Schmieren", "greasing", "laying a card that counts on a trick that one's own side takes"),
)
"""The words of the tables."""
