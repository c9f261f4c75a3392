"""Helpers for the tests of Ramsli: tables, recorded deals, and lines that are nearly right."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.errors import EngineError
from engine.kernel.cards import TELL32, UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.registry import start
from tests.engine.deals import run_forced, say

SAMPLE = Path(__file__).parents[2] / "model" / "data" / "ramsli.jsonl"
IDS = ("ann", "ben", "cat", "dan", "eva", "fay")


@cache
def records() -> tuple[dict[str, Any], ...]:
    """Recorded deals of an independent model, as objects; the first is the one that the description of the log reads
    line by line."""
    return tuple(json.loads(line) for line in SAMPLE.read_text().splitlines())


def example() -> dict[str, Any]:
    """The record that the description reads line by line."""
    return copy.deepcopy(records()[0])


def setup(
    seats: int = 3,
    *,
    kitty: int = 0,
    bank: int = 0,
    unit: int = 100,
    level: int = 16,
    deck: tuple[str, ...] | None = TELL32.cards,
    stacks: tuple[int, ...] | None = None,
    **changed: Any,
) -> Setup:
    """A deal at 100 a unit, kitty and bank in units, 100,000 a seat, the pack in its printed order."""
    series = {"kitty": kitty * unit, "bank": bank * unit}
    opt: Mapping[str, object] = {"unit": unit, "bank_level": level}
    money, carry = stacks or (100_000,) * seats, (kitty + bank) * unit
    found = Setup("ramsli", opt, seats, money, carry, seats, deck, series=series, ids=IDS[:seats])
    return found._replace(**changed)


def rows(*hands: str, trump: str = "", then: str = "", seats: int = 0) -> tuple[str, ...]:
    """A deck that deals these hands, turns up this card off the top, and goes on with these cards."""
    halves = [split_cards(hand) for hand in hands]
    first = [card for hand in halves for card in hand[:2]]
    second = [card for hand in halves for card in hand[2:]]
    top = [*first, *([trump] if trump else []), *second, *split_cards(then)]
    assert len(set(top)) == len(top), "a card occurs twice on top of the deck"
    return (*top, *(card for card in TELL32.cards if card not in top))


def deal(seats: int = 3, **table: Any) -> Hand:
    """A hand with its dealer's units posted and its first cards dealt."""
    hand = start(setup(seats, **table))
    return say(hand, f"p{seats} po {4 * hand.setup.opt['unit']}")  # type: ignore[operator]


def to_knock(seats: int = 3, **table: Any) -> Hand:
    """A hand whose dealer has turned up the top card and looked: the question is who knocks."""
    return say(deal(seats, **table), f"p{seats} cl top", f"p{seats} lk 4")


def refused(hand: Hand, line: str, code: str) -> None:
    """The line is refused with this code and leaves no trace."""
    before = hand._state.values()
    with pytest.raises(EngineError) as refusal:
        hand.apply(line)
    assert refusal.value.code == code, refusal.value.message
    assert hand._state.values() == before


def verbs(hand: Hand) -> list[str]:
    """The verbs on offer."""
    return [offer.verb for offer in hand.legal()]


def finish(hand: Hand) -> Hand:
    """Every seat plays its automatic act, to the end."""
    while not hand.over:
        say(run_forced(hand), hand.automatic() or "")
    return hand


def altered_lines(line: str) -> Iterator[str]:
    """The line with another actor, verb, card, amount or word, and what is no line at all."""
    actor, verb, *rest = line.split(" ")
    yield from (" ".join([other, verb, *rest]) for other in ("p1", "p2", "p3", "p6", "d") if other != actor)
    yield from (f"{actor} {said}" for said in ("ps", "au", "kn", "in", "cl up", "cl top", "cl bottom", "lk 4", "ds Aa"))
    yield from (f"{line} ", f"{line} Aa", f"{actor} {verb}", "")
    if rest and rest[-1].isdigit():
        yield from (f"{actor} {verb} {int(rest[-1]) + by}" for by in (-1, 1, 100))
    elif rest and rest[-1][:2] in TELL32.members:
        cards, before = split_cards(rest[-1]), " ".join([actor, verb, *rest[:-1]])
        place = TELL32.cards.index(cards[0])
        for other in (TELL32.cards[(place + 8) % 32], TELL32.cards[place - 1], UNKNOWN, "1a", ""):
            yield f"{before} {other}{''.join(cards[1:])}"
        yield from (f"{before} {''.join(cards[::-1])}", f"{before} {''.join(cards)}{cards[0]}", f"{before} 7b8b9bXb")
    if rest and rest[0][0] == "p":
        yield from (f"{actor} {verb} {other} {rest[-1]}" for other in ("p1", "p2", "p3") if other != rest[0])
