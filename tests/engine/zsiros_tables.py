"""Helpers for the tests of Zsíros: tables, recorded deals, and what the engine says beside the independent referee."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from engine.errors import DerivedMismatch, EngineError
from engine.kernel.cards import TELL32, UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.record.format import record_from
from engine.record.replay import replay
from engine.registry import start

SAMPLE = Path(__file__).parents[1] / "model" / "data" / "zsiros.jsonl"
IDS = ("ann", "ben", "cat", "dan")
CALLS = ("uss", "ne_uss", "zsirt", "ne_zsirt")


@cache
def records() -> tuple[dict[str, Any], ...]:
    """Thirty recorded deals of an independent model, as objects."""
    return tuple(json.loads(line) for line in SAMPLE.read_text().splitlines())


def example() -> dict[str, Any]:
    """One of them: the record that the description of the log reads line by line."""
    return copy.deepcopy(next(record for record in records() if record["hand"] == "Z1-000019"))


def deck_of(*rows: str) -> tuple[str, ...]:
    """A whole pack that begins with these rows of cards, the rest in the pack's order."""
    top = split_cards("".join(rows))
    assert len(set(top)) == len(top), "a card stands twice on top of the deck"
    return (*top, *(card for card in TELL32.cards if card not in top))


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


def run_forced(hand: Hand) -> Hand:
    """Deal as far as the deck is known."""
    while (line := hand.forced()) is not None:
        hand.apply(line)
    return hand


def say(hand: Hand, *lines: str) -> Hand:
    """Apply the lines, each of which may hold several parted by semicolons; what is dealt is put between them."""
    for row in lines:
        for line in row.split("; "):
            hand.apply(line)
            run_forced(hand)
    return hand


def auto(hand: Hand) -> Hand:
    """Every seat plays its automatic act, to the end."""
    while not hand.over:
        say(hand, hand.automatic() or "")
    return hand


def shuffled(random: Random) -> tuple[str, ...]:
    """A whole pack in random order."""
    return tuple(random.sample(TELL32.cards, 32))


def lines_on_offer(hand: Hand) -> set[str]:
    """Every line that the hand offers, and ``au`` where a clock may run out."""
    found = {line for offer in hand.legal() for line in offer.lines()}
    if hand.actor not in (None, "d") and hand.pending is None:
        found.add(f"{hand.actor} au")
    return found


def accepted(hand: Hand, line: str) -> bool:
    """Whether a copy of the hand takes the line."""
    try:
        hand.copy().advance(line)
    except EngineError:
        return False
    return True


def first_fault(record: dict[str, Any]) -> int | None:
    """Where the engine's replay refuses a record, counted as the referee does: None for a good record, -1 before the
    log, else the place of the line, the number of lines for what is missing or comes out otherwise."""
    try:
        outcome = replay(record_from(copy.deepcopy(record)))
    except EngineError:
        return -1
    if outcome.ok:
        return None
    if isinstance(outcome.error, DerivedMismatch):
        return len(record["acts"])
    return -1 if outcome.index is None else outcome.index


Altered = Callable[[str], Iterator[str]]
"""Lines that are nearly this one."""


def spoilt_logs(
    acts: list[str], random: Random, share: float = 1.0, altered: Altered | None = None
) -> Iterator[list[str]]:
    """The log with a line deleted, repeated, swapped with the next, or altered; with ``share`` only some of these."""
    for at in range(len(acts)):
        for found in _spoilt_at(acts, at, altered or altered_lines):
            if random.random() < share:
                yield found


def _spoilt_at(acts: list[str], at: int, altered_lines: Altered) -> Iterator[list[str]]:
    yield acts[:at] + acts[at + 1 :]
    yield acts[: at + 1] + acts[at:]
    if at + 1 < len(acts):
        yield [*acts[:at], acts[at + 1], acts[at], *acts[at + 2 :]]
    for altered in altered_lines(acts[at]):
        yield [*acts[:at], altered, *acts[at + 1 :]]
        yield [*acts[:at], altered, *acts[at:]]


def altered_lines(line: str) -> Iterator[str]:
    """The line with another actor, verb, card or word, and what is no line at all."""
    actor, verb, *rest = line.split(" ")
    yield from (" ".join([other, verb, *rest]) for other in ("p1", "p2", "p3", "p4", "d") if other != actor)
    yield from (
        f"{actor} ps",
        f"{actor} au",
        f"{actor} cl uss",
        f"p1 cl {CALLS[len(line) % 4]}",
        f"{line} ",
        "p5 ps",
        "",
    )
    if verb in ("dh", "pl"):
        cards = rest[-1]
        place = TELL32.cards.index(cards[:2])
        for other in (TELL32.cards[(place + 8) % 32], TELL32.cards[place - 1], UNKNOWN, "1a", ""):
            yield " ".join([actor, verb, *rest[:-1], other + cards[2:]])
        yield " ".join([actor, verb, *rest[:-1], cards[2:] + cards[:2]])
    if verb == "dh":
        yield from (f"{actor} {verb} {other} {rest[1]}" for other in ("p1", "p2", "p3", "p4") if other != rest[0])
    if verb == "cl":
        yield from (f"{actor} cl {word}" for word in ("hop", *CALLS) if word != rest[0])
