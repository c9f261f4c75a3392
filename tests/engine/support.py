"""Helpers for the engine's tests: hands on stacked decks, the recorded evenings, a hand's whole state."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from engine.errors import EngineError
from engine.kernel.cards import TELL32, Pack
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.kernel.state import attributes
from engine.record.format import Record, parse_record
from engine.registry import start
from engine.vying.state import VyingState

DEMO = Path(__file__).parents[2] / "deploy" / "demo"
VIZI = 100


@cache
def evening() -> tuple[Record, ...]:
    """The 320 recorded hands of an independent model."""
    return read("evening.jsonl")


@cache
def extra() -> tuple[Record, ...]:
    """The hands that continue the evening with what it lacks."""
    return read("extra.jsonl")


@cache
def faerbeln() -> tuple[Record, ...]:
    """180 recorded hands of Färbeln of an independent model."""
    return read("faerbeln.jsonl")


def read(name: str) -> tuple[Record, ...]:
    """All records of a file of the demo."""
    return tuple(parse_record(line) for line in (DEMO / name).read_text().splitlines())


def shuffled(random: Random, pack: Pack = TELL32) -> tuple[str, ...]:
    """A whole pack in random order."""
    cards = list(pack.cards)
    random.shuffle(cards)
    return tuple(cards)


def stacked(*first: str) -> tuple[str, ...]:
    """A deck that begins with the given rows of cards, the rest in the pack's order."""
    top = [row[at : at + 2] for row in first for at in range(0, len(row), 2)]
    assert len(set(top)) == len(top), "a card occurs twice on top of the deck"
    return (*top, *(card for card in TELL32.cards if card not in top))


def table(
    seats: int,
    *,
    opt: dict[str, object] | None = None,
    stacks: tuple[int, ...] | None = None,
    carry: int = 0,
    deck: tuple[str, ...] | None = TELL32.cards,
) -> Hand:
    """A hand of Ferbli at its start: vizi 100, 10,000 a seat, the pack in its printed order."""
    options = {"vizi": VIZI, **(opt or {})}
    return start(Setup("ferbli", options, seats, stacks or (10_000,) * seats, carry, seats, deck))


def forty_one(
    seats: int = 3,
    *,
    opt: dict[str, object] | None = None,
    stacks: tuple[int, ...] | None = None,
    carry: int = 0,
    deck: tuple[str, ...] | None = TELL32.cards,
) -> Hand:
    """A hand of Färbeln before the first ante: ante 200, limit 500 / 1,000, 10,000 a seat, no bonus unless
    named."""
    options = {"ante": 200, "lower": 500, "upper": 1000, "round2_unit": "lower", "bonus41": 0, "tax_cap": 700}
    return start(Setup("faerbeln", options | (opt or {}), seats, stacks or (10_000,) * seats, carry, seats, deck))


def play(hand: Hand, *lines: str) -> Hand:
    """Apply the lines; what leaves nobody a choice (deals, cards shown) is put between them."""
    run_forced(hand)
    for line in lines:
        hand.apply(line)
        run_forced(hand)
    return hand


def run_forced(hand: Hand) -> None:
    """Deal and show as far as nobody has a choice."""
    while (line := hand.forced()) is not None:
        hand.apply(line)


def to_third_round(hand: Hand, *players: int) -> Hand:
    """Everyone of ``players`` (p1 is in anyway) pays the vizi, p1 lets the deal go on."""
    seats = hand.setup.seats
    answers = [f"p{seat} cc {VIZI}" if seat in players else f"p{seat} f" for seat in range(2, seats + 1)]
    return play(hand, f"p1 po {VIZI}", *answers, "p1 k")


def verbs(hand: Hand) -> list[str]:
    """The verbs on offer."""
    return [offer.verb for offer in hand.legal()]


def amounts(hand: Hand, verb: str) -> tuple[int | None, int | None]:
    """Smallest and largest amount on offer with ``verb``."""
    [offer] = [offer for offer in hand.legal() if offer.verb == verb]
    return offer.min, offer.max


def refused(hand: Hand, line: str, code: str, **expected: object) -> None:
    """The line is refused with this code, these entries of ``expected``, and without a trace."""
    before = frozen(hand)
    with pytest.raises(EngineError) as refusal:
        hand.apply(line)
    assert refusal.value.code == code, refusal.value.message
    assert {name: refusal.value.expected.get(name) for name in expected} == expected
    assert frozen(hand) == before


def frozen(hand: Hand) -> str:
    """Everything the hand's state holds, as text: two equal texts are two equal states."""
    state = hand._state
    slots = attributes(type(state))
    assert isinstance(state, VyingState)
    return repr([(slot, sorted(value) if isinstance(value := getattr(state, slot), set) else value) for slot in slots])


def mutants(lines: tuple[str, ...], at: int) -> Iterator[tuple[str, ...]]:
    """The log with line ``at`` deleted, repeated, swapped with the next, or altered in one word."""
    yield lines[:at] + lines[at + 1 :]
    yield lines[: at + 1] + lines[at:]
    if at + 1 < len(lines):
        yield (*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :])
    for altered in altered_lines(lines[at]):
        yield (*lines[:at], altered, *lines[at + 1 :])


def altered_lines(line: str) -> Iterator[str]:
    """The line with another actor, verb, amount or card."""
    actor, verb, *rest = line.split(" ")
    yield " ".join(["p2" if actor == "p1" else "p1", verb, *rest])
    yield " ".join([actor, {"cc": "rb", "k": "f", "f": "k", "st": "k", "rb": "cc", "up": "sm"}.get(verb, "cc"), *rest])
    if rest and rest[0].isdigit():
        for amount in (int(rest[0]) + 1, int(rest[0]) * 2, int(rest[0]) + 100, 0):
            yield " ".join([actor, verb, str(amount), *rest[1:]])
    if verb in ("dh", "sm", "up"):
        card = rest[-1][:2]
        other = TELL32.cards[(TELL32.cards.index(card) + 5) % 32] if card != "??" else "Aa"
        yield " ".join([actor, verb, *rest[:-1], other + rest[-1][2:]])
