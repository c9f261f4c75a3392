"""Events: what an accepted action made happen, in order. Money moves in :class:`Move` and nowhere else.

No event carries a card that is not face up, so events may be told to everyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MoveKind(StrEnum):
    """Why money moved; each kind has one direction."""

    # An enumeration's own is a Python function that hashes the name; moves are looked up by the dozen.
    __hash__ = str.__hash__

    CARRY_IN = "carry_in"
    """Cukassza to pot, when the hand starts; seat 0."""
    STAKE = "stake"
    """Seat to pot, at once: vizi, besszer, charge, call, bet."""
    PENALTY = "penalty"
    """Seat to pot, by the rules and without a line: a vizi missing at the end, another for a cuhhkassza dealt again."""
    RETURNED = "returned"
    """Pot to seat: the part of a stake that nobody matched, untaxed."""
    AWARD = "award"
    """Pot to seat: the pot, net of tax."""
    TAX = "tax"
    """Pot to house; seat 0."""
    CARRY_OUT = "carry_out"
    """Pot to cukassza; seat 0."""
    BONUS = "bonus"
    """House to seat."""


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True, slots=True)
class Move(Event):
    """``amount`` > 0 minor units moved; ``seat`` is 0 where no seat is involved."""

    kind: MoveKind
    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class Dealt(Event):
    """``count`` cards went face down to ``seat``."""

    seat: int
    count: int


@dataclass(frozen=True, slots=True)
class Looked(Event):
    """``seat`` looked at ``count`` of its face-down cards; that it did is public, what it saw is not."""

    seat: int
    count: int


@dataclass(frozen=True, slots=True)
class Spoke(Event):
    """``seat`` spoke without cards being moved: ``verb`` is that of the log (a call, a raise, a check, a fold
    ...)."""

    seat: int
    verb: str


@dataclass(frozen=True, slots=True)
class Shown(Event):
    """``seat`` turned its cards up."""

    seat: int
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnedUp(Event):
    """``seat`` turned these of its cards up, in the middle of play; told once every seat has chosen its own."""

    seat: int
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BottomCard(Event):
    """The bottom card of the pack, which everyone may see (Ferbli, "Deal and Betting")."""

    card: str


@dataclass(frozen=True, slots=True)
class HandEnded(Event):
    """The hand is over; ``winner`` is 0 when the pot is carried on."""

    ending: str
    winner: int
