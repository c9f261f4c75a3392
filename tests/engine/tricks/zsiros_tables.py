"""Helpers for the tests of Zsíros: tables, recorded deals, and what the engine says beside the independent referee."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from engine.kernel.cards import TELL32
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.registry import start
from tests.engine.deals import recorded, run_forced

IDS = ("ann", "ben", "cat", "dan")
CALLS = ("uss", "ne_uss", "zsirt", "ne_zsirt")
SAYINGS = tuple(f"cl {word}" for word in ("hop", *CALLS))
"""What a spoilt log may say."""


def records() -> tuple[dict[str, Any], ...]:
    """Thirty recorded deals of an independent model, as objects."""
    return recorded("zsiros")


def example() -> dict[str, Any]:
    """One of them: the record that the description of the log reads line by line."""
    return copy.deepcopy(next(record for record in records() if record["hand"] == "Z1-000019"))


def sheet(ids: tuple[str, ...], **changed: Any) -> dict[str, Any]:
    """The series of an evening's first deal, or another one."""
    return {"order": list(ids), "deals": ids[-1], "score": [0, 0], "games": [0, 0]} | changed


def setup(
    seats: int = 4,
    *,
    opt: Mapping[str, object] | None = None,
    deck: tuple[str, ...] | None = TELL32.cards,
    series: Mapping[str, Any] | None = None,
    stacks: tuple[int, ...] | None = None,
    ids: tuple[str, ...] = (),
) -> Setup:
    """A deal at 100 a point, 10,000 a seat, the pack in its printed order."""
    options: dict[str, object] = {"stake": 100, **({"players": 2} if seats == 2 else {}), **(opt or {})}
    names = ids or IDS[:seats]
    carried = sheet(names) if series is None else series
    return Setup("zsiros", options, seats, stacks or (10_000,) * seats, 0, seats, deck, series=carried, ids=names)


def deal(seats: int = 4, **table: Any) -> Hand:
    """A hand with its first cards dealt, as far as the deck is known."""
    return run_forced(start(setup(seats, **table)))
