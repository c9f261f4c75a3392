"""Options of Preferánsz. Sections named in the docstrings are those of its rules text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.kernel.rules import Rules, option
from engine.kernel.terms import Term

MOST_UNITS = 96
"""The most that a seat can lose: acorns out of the hand without a single trick, 5 and 7 short, re-contra of both
("Scoring")."""


@dataclass(frozen=True)
class PreferanszRules(Rules):
    """Preferánsz. Money is in minor units of the house's currency, everything else in units of the score."""

    GAME: ClassVar[str] = "preferansz"
    RULES_ID: ClassVar[str] = "preferansz/1"
    STAKE: ClassVar[str] = "unit"

    unit: int = option(int, low=1)
    """Money for one unit of the score ("The Bidding" and "Scoring" count in units). No default."""
    pass_is_final: bool = option(bool, True)
    """Whether a seat that has passed is out of the bidding ("The Bidding": until all but one have passed); if not, it
    may come in again, and the bidding ends with two passes in a row."""
    early_end: bool = option(bool, True)
    """Bettl and durchmarsch end with the trick that decides them ("The Play": the hand may terminate early)."""

    @property
    def least_stack(self) -> int:
        """The most that a seat can lose in a deal."""
        return MOST_UNITS * self.unit


TERMS = (
    Term("", "Vorhand", "forehand", "the seat on the dealer's left, which bids first and leads"),
    Term("", "aus den Händen", "out of the hand", "a bid to play without the widow"),
    Term("", "das kann ich", "I can do that", "forehand holds the last bid"),
    Term("talon", "Talon", "widow", "the two cards that are laid aside at the deal"),
    Term("", "Kunstwerk", "work of art", "a widow of two cards of one rank, which costs the player two units"),
    Term("betli", "Bettl", "beggar", "a game without trumps in which the player takes no trick"),
    Term("durchmars", "Durchmarsch", "march", "a game without trumps in which the player takes every trick"),
    Term("kontra", "Kontra", "contra", "a defender doubles what is settled with the player"),
    Term("rekontra", "Rekontra", "re-contra", "the player's answer to a contra"),
)
"""The words of the tables."""
