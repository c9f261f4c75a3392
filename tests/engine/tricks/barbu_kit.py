"""Helpers for the tests of Barbu: packs that give seats chosen cards, deals at a chosen point, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.errors import EngineError
from engine.kernel.cards import FRENCH52, split_cards
from engine.kernel.hand import Hand
from engine.kernel.rules import parse_rules
from engine.kernel.setup import Setup
from engine.play import random_line
from engine.record.format import Record, parse_record
from engine.registry import game_info, start

IDS = ("anne", "beth", "cath", "diana")
DATA = Path(__file__).parents[2] / "model" / "data"
Opt = dict[str, object]


def recorded(name: str) -> list[dict[str, Any]]:
    """The records of a file of the model's data, as JSON."""
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def record_of(fields: dict[str, Any]) -> Record:
    """The record that an object of the model holds."""
    return parse_record(json.dumps(fields))


def pack_with(**hands: str) -> tuple[str, ...]:
    """A pack that deals each seat the cards named, and fills the hands up in pack order."""
    named = {seat: split_cards(hands.get(f"p{seat}", "").replace(" ", "")) for seat in range(1, 5)}
    given = [card for cards in named.values() for card in cards]
    assert len(set(given)) == len(given), "a card is named twice"
    rest = [card for card in FRENCH52.cards if card not in given]
    deck: list[str] = []
    for cards in named.values():
        missing = 13 - len(cards)
        deck += [*cards, *rest[:missing]]
        rest = rest[missing:]
    return tuple(deck)


def deals(deck: tuple[str, ...]) -> tuple[str, ...]:
    """The four lines that deal a pack."""
    return tuple(f"d dh p{at + 1} {''.join(deck[13 * at : 13 * at + 13])}" for at in range(4))


def shuffled(random: Random) -> tuple[str, ...]:
    """A whole pack in random order."""
    return tuple(random.sample(FRENCH52.cards, 52))


def fresh(opt: Opt, **changes: Any) -> dict[str, Any]:
    """The series of a session's first deal with these options; ``left`` and ``score`` change it by id."""
    setup = Setup("barbu", {"unit": 1} | opt, 4, (0,) * 4, ids=IDS)
    rules = parse_rules(game_info("barbu").rules, setup)
    series = dict(game_info("barbu").new_series(IDS, rules))
    return {name: value | changes.get(name, {}) for name, value in series.items()}  # type: ignore[operator]


def table(
    opt: Opt | None = None,
    *,
    deck: tuple[str, ...] | None = FRENCH52.cards,
    stacks: tuple[int, ...] = (1_000_000,) * 4,
    series: dict[str, Any] | None = None,
    **changes: Any,
) -> Hand:
    """A deal at its start: one minor unit a point, the pack in its printed order."""
    options: Opt = {"unit": 1} | (opt or {})
    series = fresh(options, **changes) if series is None else series
    return start(Setup("barbu", options, 4, stacks, 0, 4, deck, series=series, ids=IDS))


def play(hand: Hand, *lines: str) -> Hand:
    """Apply the lines, which may be written together with semicolons; deals are put before them."""
    while (line := hand.forced()) is not None:
        hand.apply(line)
    for text in lines:
        for line in text.split(";"):
            hand.apply(line.strip())
    return hand


def undoubled(contract: str, declarer: int = 1) -> tuple[str, ...]:
    """The call, and three passes."""
    others = [(declarer - 1 + step) % 4 + 1 for step in (1, 2, 3)]
    return (f"p{declarer} cl {contract}", *(f"p{seat} ps" for seat in others))


def to_play(contract: str, opt: Opt | None = None, declarer: int = 1, **hands: str) -> Hand:
    """A deal with these cards whose contract nobody doubled."""
    return play(table(opt, deck=pack_with(**hands)), *undoubled(contract, declarer))


def on_offer(hand: Hand) -> set[str]:
    """Every line on offer, that of the clock aside."""
    return {line for offer in hand.legal() for line in offer.lines()}


def cards(hand: Hand) -> str:
    """The cards on offer, in their order."""
    return " ".join(line.split(" ")[2] for offer in hand.legal() for line in offer.lines() if offer.verb == "pl")


def refused(hand: Hand, line: str, code: str, **expected: object) -> None:
    """The line is refused with this code, these entries of ``expected``, and without a trace."""
    before = state_of(hand)
    with pytest.raises(EngineError) as refusal:
        hand.apply(line)
    assert refusal.value.code == code, refusal.value.message
    assert {name: refusal.value.expected.get(name) for name in expected} == expected
    assert state_of(hand) == before


def not_started(code: str, opt: Opt | None = None, **what: Any) -> EngineError:
    """The set-up is refused with this code; returns the refusal."""
    with pytest.raises(EngineError) as refusal:
        table(opt, **what)
    assert refusal.value.code == code, refusal.value.message
    return refusal.value


def state_of(hand: Hand) -> tuple[Any, ...]:
    """Everything that the hand's state holds."""
    state = hand._state
    return tuple(tuple(value) if isinstance(value, list) else value for value in state.values())


def play_out(hand: Hand, random: Random) -> Hand:
    """Play at random to the end."""
    while not hand.over:
        hand.advance(random_line(hand, random))
    return hand


def first_cards(hand: Hand, until: int = 52) -> Hand:
    """Go on with the automatic acts until so many cards have been played."""
    while not hand.over and sum(" pl " in line for line in hand.log) < until:
        line = hand.forced() or hand.automatic()
        assert line
        hand.advance(line)
    return hand
