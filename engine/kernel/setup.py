"""The set-up and the result of a hand."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

AUDITOR = "auditor"
PUBLIC = "public"

Viewer = int | str
"""A seat number, ``"public"`` or ``"auditor"``."""

NOTHING: Mapping[str, object] = MappingProxyType({})
"""Only money is carried from deal to deal."""


class Setup(NamedTuple):
    """Everything a hand needs besides its log; a named tuple, because one is made for every hand.

    ``opt``: the table's options by name; ``stacks`` and ``carry`` (money carried in, such as a cukassza):
    minor units, stacks in play order, p1 first; ``dealer``: the dealer's number; ``deck``: all cards of the
    pack in dealing order, top first, or None when cards become known only as they fall (physical mode).
    ``redeals``: with a known deck, the packs shuffled again in the course of the hand, as far as they are known;
    ``series``: what else the game carries from deal to deal, by name (:attr:`Result.series` of the hand before).
    ``rules``: id of the version of the rules it is played by; None: those of today. ``ids``: who sits on the seats, p1
    first; a game whose series goes by person needs them, empty means p1, p2, ...
    """

    game: str
    opt: Mapping[str, object]
    seats: int
    stacks: tuple[int, ...]
    carry: int = 0
    dealer: int = 0
    deck: tuple[str, ...] | None = None
    redeals: tuple[tuple[str, ...], ...] = ()
    series: Mapping[str, object] = NOTHING
    rules: str | None = None
    ids: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Who sits on the seats, p1 first."""
        return self.ids or tuple(f"p{seat}" for seat in range(1, self.seats + 1))


class Result(NamedTuple):
    """What a finished hand comes to, in minor units: ``net`` and ``bonus`` per seat (``bonus`` is contained
    in ``net``), house ``tax``, money carried out, how it ended and who won (0: nobody, or several); ``series``: what
    the table's next hand starts from (:attr:`Setup.series`)."""

    net: tuple[int, ...]
    tax: int
    bonus: tuple[int, ...]
    carry_out: int
    ending: str
    winner: int
    series: Mapping[str, object] = NOTHING

    def as_dict(self) -> dict[str, object]:
        """The result as JSON values, without the series, which belongs to the table."""
        return {
            "net": list(self.net),
            "tax": self.tax,
            "bonus": list(self.bonus),
            "carry_out": self.carry_out,
            "ending": self.ending,
            "winner": self.winner,
        }
