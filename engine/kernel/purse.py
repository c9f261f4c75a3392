"""The purse: money of one hand, and every move of it as (source, target, amount, why).

A place is a seat (its number from 1) or one of the places below; a game's :class:`engine.kernel.game.Policy` says which
of them it uses. Books, rulings and verification read moves and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from operator import sub
from typing import ClassVar

from engine.kernel.events import Event
from engine.kernel.setup import Setup

POT = 0
"""What is played for."""
CARRY = -1
"""Money between two deals: a cukassza."""
BANK = -2
"""Money that the seats hold in common besides the pot."""
KITTY = -3
"""A pot that may last several deals."""
HOUSE = -4
"""The house."""

PLACES = {POT: "pot", CARRY: "carry", BANK: "bank", KITTY: "kitty", HOUSE: "house"}
"""Places that are no seats, by name."""


def place_kind(place: int) -> str:
    """``"seat"`` for any seat, else the name of the place: what books are keyed on."""
    return "seat" if place > 0 else PLACES[place]


def place_name(place: int) -> str:
    """``"p3"`` for a seat, else the name of the place."""
    return f"p{place}" if place > 0 else PLACES[place]


class Why(StrEnum):
    """Why money moved."""

    # An enumeration's own is a Python function that hashes the name; moves are looked up by the dozen.
    __hash__ = str.__hash__

    CARRY_IN = "carry_in"
    """Carry to pot or kitty, when the hand starts."""
    STAKE = "stake"
    """Seat to pot or kitty, at once: vizi, besszer, charge, call, bet, the dealer's units."""
    PENALTY = "penalty"
    """Seat to pot or kitty, by the rules and without a line: a vizi missing at the end, another for a cuhhkassza dealt
    again, tricks that were not taken."""
    RETURNED = "returned"
    """Pot to seat: the unmatched part of a stake, untaxed."""
    AWARD = "award"
    """Pot to seat: the pot, net of tax."""
    TAX = "tax"
    """Pot to house."""
    CARRY_OUT = "carry_out"
    """Pot or kitty to carry."""
    BONUS = "bonus"
    """House to seat."""
    POINTS = "points"
    """Seat to seat: the points between two players in money, at the end of the deal."""
    SHARE = "share"
    """Kitty to seat: a part of it for every trick, or all of it if the seat has no opponents."""
    BANKED = "banked"
    """Kitty to bank: the part above the agreed level."""
    TOPPED_UP = "topped_up"
    """Bank to kitty: what fills it up to the level, as far as the bank reaches."""


AT_ONCE = frozenset({Why.CARRY_IN, Why.STAKE})
"""Money that a seat pays, or the table brings, before the hand is decided: it moves with its line."""
PUT_IN = frozenset({Why.STAKE, Why.PENALTY, Why.POINTS})
"""Money that seats play for: the handle."""


@dataclass(frozen=True, slots=True)
class Move(Event):
    """``amount`` > 0 minor units went from one place to another."""

    source: int
    target: int
    amount: int
    why: Why

    @property
    def seat(self) -> int:
        """The seat that pays, or else the one that gets it; 0 where no seat is involved."""
        return max(self.source, 0) or max(self.target, 0)

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind of source, kind of target, why: what a posting rule is found by."""
        return place_kind(self.source), place_kind(self.target), self.why.value


@lru_cache(maxsize=4096)
def move_of(source: int, target: int, amount: int, why: Why) -> Move:
    """Stakes are multiples of a few amounts, so most moves of a hand have been there before."""
    return Move(source, target, amount, why)


# Looking an enumeration's member up takes longer than moving the money.
_POINTS = Why.POINTS


class Purse:
    """The money in play: stacks by seat (place 0 unused), pot, and the moves so far as plain tuples.

    A game with a kitty keeps it as its pot, under the kitty's name; ``bank`` is what lies beside it. A kitty is carried
    from deal to deal, a bank stays where it is.
    """

    __slots__ = ("bank", "carry", "moves", "pot", "seats", "stacks", "start_stacks")

    FRESH: ClassVar[frozenset[str]] = frozenset({"moves", "stacks"})
    """Attributes that a copy needs for itself: whatever can change in place."""

    def __init__(self, setup: Setup) -> None:
        self.seats = setup.seats
        self.start_stacks = (0, *setup.stacks)
        self.stacks = list(self.start_stacks)
        self.pot = self.carry = setup.carry
        self.bank = 0
        self.moves: list[tuple[int, int, int, Why]] = [(CARRY, POT, self.carry, Why.CARRY_IN)] if self.carry else []

    def to_pot(self, seat: int, amount: int, why: Why) -> None:
        """Move ``amount`` from a stack to the pot."""
        self.stacks[seat] -= amount
        self.pot += amount
        self.moves.append((seat, POT, amount, why))

    def from_pot(self, seat: int, amount: int, why: Why) -> None:
        """Move ``amount`` from the pot to a stack; nothing is no move."""
        if amount:
            self.pot -= amount
            self.stacks[seat] += amount
            self.moves.append((POT, seat, amount, why))

    def to_house(self, amount: int) -> None:
        """The house takes its tax out of the pot; nothing is no move."""
        if amount:
            self.pot -= amount
            self.moves.append((POT, HOUSE, amount, Why.TAX))

    def carry_pot(self) -> int:
        """Leave the whole pot on the table for the next hand; returns what that is, in minor units."""
        carried = self.pot
        self.pot = 0
        self.moves.append((POT, CARRY, carried, Why.CARRY_OUT))
        return carried

    def pay_bonus(self, seat: int, amount: int) -> None:
        """The house pays a seat; nothing is no move."""
        if amount:
            self.stacks[seat] += amount
            self.moves.append((HOUSE, seat, amount, Why.BONUS))

    def pay(self, loser: int, winner: int, amount: int) -> None:
        """One seat pays another for points; a negative amount goes the other way, nothing is no move."""
        if amount < 0:
            loser, winner, amount = winner, loser, -amount
        if amount:
            self.stacks[loser] -= amount
            self.stacks[winner] += amount
            self.moves.append((loser, winner, amount, _POINTS))

    # -- kitty and bank ----------------------------------------------------------------------------------------------

    def open_kitty(self, kitty: int, bank: int) -> None:
        """What was carried in is a kitty with a bank beside it; before any other move."""
        self.pot, self.bank = kitty, bank
        self.moves = [(CARRY, KITTY, kitty, Why.CARRY_IN)] if kitty else []

    def to_kitty(self, seat: int, amount: int, why: Why) -> None:
        """Move ``amount`` from a stack to the kitty; nothing is no move."""
        if amount:
            self.stacks[seat] -= amount
            self.pot += amount
            self.moves.append((seat, KITTY, amount, why))

    def from_kitty(self, seat: int, amount: int) -> None:
        """A seat's share of the kitty; nothing is no move."""
        if amount:
            self.pot -= amount
            self.stacks[seat] += amount
            self.moves.append((KITTY, seat, amount, Why.SHARE))

    def bank_above(self, level: int) -> None:
        """Move the part of the kitty above ``level`` to the bank."""
        if self.pot > level:
            above = self.pot - level
            self.pot, self.bank = level, self.bank + above
            self.moves.append((KITTY, BANK, above, Why.BANKED))

    def top_up(self, level: int) -> None:
        """The bank fills the kitty up to ``level``, as far as it reaches."""
        lacking = min(level - self.pot, self.bank)
        if lacking > 0:
            self.pot, self.bank = self.pot + lacking, self.bank - lacking
            self.moves.append((BANK, KITTY, lacking, Why.TOPPED_UP))

    def carry_kitty(self) -> int:
        """Leave the kitty for the next deal; returns what is carried, the bank included, in minor units."""
        kitty, self.pot = self.pot, 0
        if kitty:
            self.moves.append((KITTY, CARRY, kitty, Why.CARRY_OUT))
        return kitty + self.bank

    def net(self) -> tuple[int, ...]:
        """What each seat has won or lost since the start, p1 first."""
        return tuple(map(sub, self.stacks[1:], self.start_stacks[1:]))
