"""Events: the effects of an accepted action, in order. Money moves in :class:`engine.kernel.purse.Move` and nowhere
else.

No event carries a card that is not face up, so everyone may see the events.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""


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
    ...), ``word`` what was said, where the verb leaves a choice of words."""

    seat: int
    verb: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class Shown(Event):
    """``seat`` turned its cards up."""

    seat: int
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnedUp(Event):
    """``seat`` turned these of its cards up, in the middle of play; sent once every seat has chosen its own."""

    seat: int
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BottomCard(Event):
    """The bottom card of the pack, which everyone may see (Ferbli, "Deal and Betting")."""

    card: str


@dataclass(frozen=True, slots=True)
class Opened(Event):
    """The house turned these cards face up."""

    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Played(Event):
    """``seat`` put this card on the table, face up."""

    seat: int
    card: str


@dataclass(frozen=True, slots=True)
class HandEnded(Event):
    """The hand is over; ``winner`` is 0 if no seat has won, or several."""

    ending: str
    winner: int
