"""Helpers for the tests of games that are played out of hands: deals driven by their lines, records held against the
engine, and logs that are spoilt."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.errors import DerivedMismatch, EngineError
from engine.kernel.cards import TELL32, UNKNOWN, Pack, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.record.format import record_from
from engine.record.replay import replay
from engine.registry import game_info, start

DATA = Path(__file__).parents[1] / "model" / "data"
_CARDS = re.compile(r"(?:[A-Z0-9][a-z]|\?\?)+", re.ASCII).fullmatch


@cache
def recorded(name: str) -> tuple[dict[str, Any], ...]:
    """The recorded deals of an independent model, as objects."""
    return tuple(json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines())


def deck_of(*rows: str, pack: Pack = TELL32) -> tuple[str, ...]:
    """A whole pack that begins with these rows of cards, the rest in the pack's order."""
    top = split_cards("".join(rows))
    assert len(set(top)) == len(top), "a card occurs twice on top of the deck"
    return (*top, *(card for card in pack.cards if card not in top))


def shuffled(random: Random, pack: Pack = TELL32) -> tuple[str, ...]:
    """A whole pack in random order."""
    return tuple(random.sample(pack.cards, len(pack.cards)))


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


def refused(hand: Hand, line: str, code: str, **expected: object) -> None:
    """The line is refused with this code, these entries of ``expected``, and without a trace."""
    before = hand.copy()
    with pytest.raises(EngineError) as refusal:
        hand.apply(line)
    assert refusal.value.code == code, refusal.value.message
    assert {name: refusal.value.expected.get(name) for name in expected} == expected
    assert hand == before and hand._state.values() == before._state.values()
    assert hand.legal() == before.legal()


def first_fault(record: dict[str, Any]) -> int | None:
    """Where the engine's replay refuses a record, counted as the referees do: None for a good record, -1 before the
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


def spoilt_logs(
    acts: list[str],
    random: Random,
    share: float = 1.0,
    *,
    pack: Pack = TELL32,
    sayings: Sequence[str] = (),
    altered: Callable[[str], Iterator[str]] | None = None,
) -> Iterator[list[str]]:
    """The log with a line deleted, repeated, swapped with the next, or altered; with ``share`` only some of these.
    ``sayings``: what else a seat might say in this game; ``altered``: a game's own ways to alter a line."""
    change = altered or partial(altered_lines, pack=pack, sayings=sayings)
    for at in range(len(acts)):
        for found in _spoilt_at(acts, at, change):
            if random.random() < share:
                yield found


def _spoilt_at(acts: list[str], at: int, change: Callable[[str], Iterator[str]]) -> Iterator[list[str]]:
    yield acts[:at] + acts[at + 1 :]
    yield acts[: at + 1] + acts[at:]
    if at + 1 < len(acts):
        yield [*acts[:at], acts[at + 1], acts[at], *acts[at + 2 :]]
    for altered in change(acts[at]):
        yield [*acts[:at], altered, *acts[at + 1 :]]
        yield [*acts[:at], altered, *acts[at:]]


def altered_lines(line: str, pack: Pack, sayings: Sequence[str]) -> Iterator[str]:
    """The line with another actor, verb, card or word, and what is no line at all."""
    actor, verb, *rest = line.split(" ")
    others = [f"p{seat}" for seat in range(1, 5)]
    yield from (" ".join([other, verb, *rest]) for other in (*others, "d") if other != actor)
    yield from (f"{actor} {said}" for said in ("ps", "au", *sayings) if f"{actor} {said}" != line)
    yield from (f"{line} ", "p5 ps", "")
    if rest and _CARDS(rest[-1]) and rest[-1][:2] in pack.members:
        cards = rest[-1]
        place = pack.cards.index(cards[:2])
        for other in (pack.cards[(place + 8) % len(pack.cards)], pack.cards[place - 1], UNKNOWN, "1a", ""):
            yield " ".join([actor, verb, *rest[:-1], other + cards[2:]])
        if len(cards) > 2:
            yield " ".join([actor, verb, *rest[:-1], cards[2:] + cards[:2]])
    if rest and rest[0] in others:
        yield from (" ".join([actor, verb, other, *rest[1:]]) for other in others if other != rest[0])


IDS = ("ann", "ben", "cat", "dan")


def table(
    game: str,
    opt: Mapping[str, object] | None = None,
    *,
    seats: int = 4,
    deck: tuple[str, ...] | None = None,
    series: Mapping[str, Any] | None = None,
    stack: int = 1_000_000,
    ids: tuple[str, ...] = (),
) -> Setup:
    """A deal at a table of the game's example, with other options too. Without a deck its cards are not known."""
    info, names = game_info(game), ids or IDS[:seats]
    options = info.resolve({**info.example, **(opt or {})}, seats, ())
    carried = info.new_series(names, info.rules.parse(options, seats)) if series is None else series
    return Setup(game, options, seats, (stack,) * seats, 0, seats, deck, series=carried, ids=names)


def not_started(code: str, setup: Setup, **expected: object) -> None:
    """The set-up is refused with this code and these entries of ``expected``."""
    with pytest.raises(EngineError) as refusal:
        start(setup)
    assert refusal.value.code == code, refusal.value.message
    assert {name: refusal.value.expected.get(name) for name in expected} == expected


def said(hand: Hand, verb: str = "pl", actor: str = "") -> str:
    """What an offer of this verb may name, in its order."""
    offers = [offer for offer in hand.legal() if offer.verb == verb and actor in ("", offer.actor)]
    return " ".join(line.split(" ", 2)[-1] for offer in offers for line in offer.lines())
