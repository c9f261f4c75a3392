"""Strict replay of Barbu against two references in the same process, in deals and in cards played.

The references: only reading the JSON of the same records, and a bare trick player, which is a plain loop that moves the
same cards, looks whether a seat follows suit and who wins the trick, and does nothing else. Nobody can replay a record
without the first, nor play a trick game without something like the second.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from engine.record.format import Record, parse_record
from engine.record.replay import replay
from engine.registry import start
from tests.bench.alternate import Comparison, compare

SAMPLE = Path(__file__).resolve().parents[1] / "model" / "data" / "barbu_sample.jsonl"
TIMES = 10
"""How often one run goes through the sample."""
RANKS = "23456789TJQKA"


def comparisons() -> Iterator[Comparison]:
    """All comparisons."""
    lines = SAMPLE.read_text().splitlines()
    yield bench_deals(lines)
    yield bench_cards([parse_record(line) for line in lines])


def bench_deals(lines: list[str]) -> Comparison:
    """Whole records: from JSON, played, every derived part compared."""

    def replayed() -> int:
        for _ in range(TIMES):
            for line in lines:
                if not replay(parse_record(line)).ok:
                    raise AssertionError("a recorded deal stands")
        return TIMES * len(lines)

    def parsed() -> int:
        for _ in range(TIMES):
            for line in lines:
                json.loads(line)
        return TIMES * len(lines)

    return compare("Barbu, strict replay, from JSON", "deals", replayed, "json.loads of the record", parsed)


def bench_cards(records: list[Record]) -> Comparison:
    """Cards played, from records that have been read: the set-up, every line and the settlement, against the bare
    loop."""
    tricks = [record for record in records if not any(" cl dominoes" in line for line in record.acts)]
    setups = [record.setup() for record in tricks]
    cards = sum(" pl " in line for record in tricks for line in record.acts)

    def played() -> int:
        for _ in range(TIMES):
            for setup, record in zip(setups, tricks, strict=True):
                hand = start(setup)
                hand.advance_all(record.acts)
                if not hand.over:
                    raise AssertionError("a recorded deal is played to its end")
        return TIMES * cards

    def bare() -> int:
        return sum(bare_deal(record.acts) for _ in range(TIMES) for record in tricks)

    return compare("Barbu, cards to tricks", "cards", played, "a bare loop over the tricks", bare)


def bare_deal(acts: tuple[str, ...]) -> int:
    """Play the tricks of a log; how many cards that were. Nothing is checked but what the docstring above says."""
    hands: dict[str, list[str]] = {}
    tricks: list[str] = []  # their winners
    trick: list[tuple[int, str]] = []
    trump, turn, cards = "", "p1", 0
    for line in acts:
        words = line.split(" ")
        if words[1] == "dh":
            hands[words[2]] = [words[3][at : at + 2] for at in range(0, len(words[3]), 2)]
        elif words[1] == "cl":
            trump = words[3] if words[2] == "trumps" else ""
        elif words[1] == "pl":
            seat, _, card = words
            led = trick[0][1][1] if trick else ""
            if seat != turn or (led and card[1] != led and any(held[1] == led for held in hands[seat])):
                raise AssertionError(line)
            hands[seat].remove(card)
            power = RANKS.index(card[0]) + 13 * (card[1] == led or not led) + 26 * (card[1] == trump)
            trick.append((power, card))
            turn = f"p{int(seat[1]) % 4 + 1}"
            cards += 1
            if len(trick) == 4:
                best = trick.index(max(trick))
                turn = f"p{(int(seat[1]) + best) % 4 + 1}"
                tricks.append(turn)
                trick = []
    return cards
