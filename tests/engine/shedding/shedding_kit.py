"""Helpers for the tests of the shedding games: tables, recorded deals, spoilt logs, and the referee of each game."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.errors import EngineError
from engine.kernel.cards import TELL32, UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.play import random_line
from engine.registry import game_info, start, supply
from tests.model.esel import Esel
from tests.model.old_maid import OldMaid
from tests.model.pacal import Pacal
from tests.model.shedding import Deal

DATA = Path(__file__).parents[2] / "model" / "data"
IDS = ("ann", "ben", "cat", "dan", "eve", "fay")
REFEREES: dict[str, type[Deal]] = {kind.game: kind for kind in (Esel, Pacal, OldMaid)}
OPTIONS: dict[str, tuple[dict[str, object], ...]] = {
    "esel": ({}, {"forfeit": 50}, {"forfeit": 5, "max_passes": 12}),
    "pacal": ({"forfeit": 100}, {"forfeit": 0, "max_plies": 30}),
    "old_maid": (
        {"forfeit": 100, "discard": "draw"},
        {"forfeit": 7, "discard": "draw", "sole_winner": True},
        {"forfeit": 10, "discard": "turn", "max_turns": 60},
    ),
}
"""Options to play random deals with."""
LETTERS = {"dh", "gv", "up", "pl", "ds", "fn", "rm"}
"""Verbs whose lines end with cards."""


@cache
def records(game: str) -> tuple[dict[str, Any], ...]:
    """Recorded deals of a model that is not ours, as objects."""
    return tuple(json.loads(line) for line in (DATA / f"{game}.jsonl").read_text().splitlines())


def example(game: str, hand: str) -> dict[str, Any]:
    """One of them, to be changed at will."""
    return copy.deepcopy(next(record for record in records(game) if record["hand"] == hand))


def deck_of(*rows: str) -> tuple[str, ...]:
    """A whole pack that begins with these rows of cards, the rest in the pack's order."""
    top = split_cards("".join(rows))
    assert len(set(top)) == len(top), "a card occurs twice on top of the deck"
    return (*top, *(card for card in TELL32.cards if card not in top))


def shuffled(random: Random) -> tuple[str, ...]:
    """A whole pack in random order."""
    return tuple(random.sample(TELL32.cards, 32))


def setup(
    game: str,
    seats: int = 4,
    *,
    opt: Mapping[str, object] | None = None,
    deck: tuple[str, ...] | None = TELL32.cards,
    stacks: tuple[int, ...] | None = None,
    **series: Any,
) -> Setup:
    """A deal with the game's own example of options, 10,000 a seat, the pack in its printed order; the first of an
    evening but for what is given of the series."""
    info, ids = game_info(game), IDS[:seats]
    options = dict(info.example) | dict(opt or {})
    carried = {**info.new_series(ids, info.rules.parse(options, seats)), **series}
    return Setup(game, options, seats, stacks or (10_000,) * seats, 0, seats, deck, series=carried, ids=ids)


def mixed(cards: tuple[str, ...], number: int) -> tuple[str, ...]:
    """A fan as the tests shuffle it: the same cards and number always the same."""
    return tuple(Random(f"{cards}/{number}").sample(cards, len(cards)))


def play(hand: Hand, *rows: str) -> Hand:
    """Apply the lines, each row being several parted by semicolons; what leaves nobody a choice is put between them.
    Fans stand in the rows."""
    run_forced(hand)
    for row in rows:
        for line in row.split("; "):
            hand.apply(line)
            run_forced(hand)
    return hand


def run_forced(hand: Hand) -> Hand:
    """What leaves nobody a choice."""
    while (line := hand.forced()) is not None:
        hand.apply(line)
    return hand


def deal(game: str, seats: int = 4, *rows: str, **table: Any) -> Hand:
    """A hand with its first cards dealt, as far as the deck is known, and these rows of lines said."""
    return play(start(setup(game, seats, **table)), *rows)


def some_line(hand: Hand, random: Random, clock: float = 0.05) -> str:
    """A line for random play, now and then that the clock has run out."""
    if hand.timed and hand.pending is None and hand.forced() is None and random.random() < clock:
        return f"{hand.actor} au"
    return random_line(hand, random)


def advance(hand: Hand, line: str) -> None:
    """Apply a line, and shuffle the fan that comes next."""
    hand.advance(line)
    supply(hand, mixed)


def refused(hand: Hand, line: str, code: str) -> None:
    """The line is refused with this code, and leaves no trace."""
    before, state = hand.copy(), hand._state.values()
    with pytest.raises(EngineError) as refusal:
        hand.apply(line)
    assert refusal.value.code == code, (refusal.value.code, refusal.value.message)
    assert hand == before and hand._state.values() == state


def spoilt_logs(acts: list[str], random: Random, share: float) -> Iterator[list[str]]:
    """The log with a line deleted, repeated, swapped with the next, or altered; of all these about this share."""
    for at, line in enumerate(acts):
        found = [acts[:at] + acts[at + 1 :], acts[: at + 1] + acts[at:]]
        if at + 1 < len(acts):
            found.append([*acts[:at], acts[at + 1], line, *acts[at + 2 :]])
        for altered in altered_lines(line):
            found += [[*acts[:at], altered, *acts[at + 1 :]], [*acts[:at], altered, *acts[at:]]]
        yield from (spoilt for spoilt in found if random.random() < share)


def altered_lines(line: str) -> Iterator[str]:
    """The line with another actor, verb, number or card, and what is no line at all."""
    actor, verb, *rest = line.split(" ")
    for other in ("p1", "p2", "p3", "p4", "p5", "p6", "d"):
        yield from (" ".join([other, verb, *rest]), f"{other} sh", f"{other} ps", f"{other} au", f"{other} dr 2")
    yield from (f"{actor} ts b", f"{actor} dr 0", f"{actor} dr 40", "d vd", f"{line} ", f" {line}", "", "p7 ps")
    yield from (f"{actor} {other} {' '.join(rest)}" for other in sorted(LETTERS - {verb}))
    if verb in LETTERS:
        cards, words = rest[-1], [actor, verb, *rest[:-1]]
        place = TELL32.cards.index(cards[:2])
        for other in (TELL32.cards[(place + 8) % 32], TELL32.cards[(place + 1) % 32], UNKNOWN, "1a", ""):
            yield " ".join([*words, other + cards[2:]])
        yield from (" ".join([*words, row]) for row in (cards[2:] + cards[:2], cards[:-2], cards + cards[:2]))
    if verb in ("dh", "fn"):
        yield from (f"{actor} {verb} p{other} {rest[1]}" for other in range(1, 7) if f"p{other}" != rest[0])
    if verb == "dr":
        yield from (f"{actor} dr {int(rest[0]) + by}" for by in (-1, 1))
