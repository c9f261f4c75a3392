"""Deals of Esel, Pacal and Old Maid that a person can read through, and counts of how many ways there are to play one.

``golden/GAME/*.txt`` hold the deals line by line: the phase, the line, what was on offer, what the public sees where
that is something else. ``golden/GAME/perft.json`` holds the counts. ``python -m tests.engine.shedding_scenarios
--write`` writes all again, and the difference is then read, not waved through.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from random import Random

from engine.kernel.cards import split_cards
from engine.kernel.hand import Hand
from engine.kernel.legal import Legal
from engine.kernel.purse import place_name
from engine.kernel.setup import Setup
from engine.registry import start, supply
from tests.engine.goldens import Scenario, counts_text, publish
from tests.engine.shedding.shedding_kit import deck_of, example, mixed, setup, shuffled


def recorded(game: str, hand: str) -> tuple[Setup, str]:
    """The table of a recorded deal, and what the seats said in it."""
    record = example(game, hand)
    table = setup(game, opt=record["opt"], deck=split_cards(record["deck"]))
    lines = [line for line in record["acts"] if line.startswith("p")]
    return table._replace(series=record["series"], ids=tuple(record["seats"])), "; ".join(lines)


SEVEN = deck_of("AaAlAbAhKhOhUhXh", "KaOaUaXa9a8a7aKl")
ROWS = deck_of("AaKaObAlKl", "UaOaXa9a8a", "AbKbUbXb9b", "AhKhOhUhXh", "7a", "7b", "9h8h7h", "8l7l")
PAIRS = deck_of("Uh", "AaAlAbKhUb", "7a7l7b7hUa", "KaOlXb9h8a")
SCENARIOS = (
    Scenario("true_shout", "A whole suit, and two others who shout in time", setup("esel", deck=SEVEN),
             "p1 gv Aa; p2 gv Kl; p2 sh; p4 sh; p1 sh"),
    Scenario("false_shout", "The wrong one of nine cards was given away", setup("esel", deck=SEVEN),
             "p1 gv Aa; p2 gv Ka; p2 sh"),
    Scenario("p1_shouts", "p1 breaks its suit of eight and shouts with seven",
             setup("esel", deck=deck_of("AaKaOaUaXa9a8a7a")), "p1 gv 8a; p1 sh; p3 sh; p2 sh"),
    Scenario("void", "Nobody has a suit, and the house ends the deal",
             setup("esel", deck=SEVEN, opt={"max_passes": 5}), "p1 gv Xh; p2 au; p2 gv Ka; p3 gv Ka; p4 gv Ka"),
    Scenario("trumps", "The evening's first deal: trumps are turned up, one is named; the clock plays the rest",
             setup("pacal", deck=ROWS, opt={"max_plies": 12}),
             "p1 up Ob; p2 au; p2 up Oa; p3 up Ab; p3 up Kb; p3 up Ub; p3 up Xb; p3 up 9b; p3 ts l; "
             "p1 pl Ka; p1 pl Ob; p2 ps; p3 pl Xb; p4 pl Ah"),
    Scenario("lost", "An evening's first deal: three are out, the fourth loses", *recorded("pacal", "P2-000001")),
    Scenario("by_the_clock", "A deal of the clock alone, void in the end",
             setup("pacal", deck=shuffled(Random(5)), trumps="lahb", opt={"max_plies": 60})),
    Scenario("pairs", "Pairs before and after the draw", setup("old_maid", 3, deck=PAIRS), ""),
    Scenario("two_seats", "Two seats, one payment to the winner of most pairs",
             setup("old_maid", 2, deck=PAIRS, opt={"sole_winner": True})),
    Scenario("parity", "Pairs at the start of a turn only: with two seats nobody ever loses",
             setup("old_maid", 2, deck=PAIRS, opt={"discard": "turn", "max_turns": 45})),
)  # fmt: skip


def offer_text(offer: Legal) -> str:
    """``p1 pl Aa Al``: actor and verb with the cards, words or numbers that it offers."""
    found = offer.as_dict()
    rest = found.get("cards") or found.get("words") or ([f"1-{found['max']}"] if "max" in found else [])
    return " ".join([offer.actor, offer.verb, *rest])  # type: ignore[misc]


def step(hand: Hand, line: str) -> str:
    """One line said, as a row."""
    phase, offers = hand.phase, ", ".join(map(offer_text, hand.legal()))
    hand.apply(line)
    seen = hand.view("public")["log"][-1]  # type: ignore[index]
    note = "" if seen == line else f"; the public sees {seen.split()[-1]}"
    return f"{phase:<9}{line:<34}{offers}{note}".rstrip()


def rows_of(hand: Hand, lines: list[str]) -> list[str]:
    """The lines with what is forced between them, then what comes with the clock, to the end."""
    rows, waiting = [], lines[::-1]
    while not hand.over:
        supply(hand, mixed)
        forced = hand.forced()
        for line in (forced,) if forced else (waiting.pop(),) if waiting else hand.late():
            rows.append(step(hand, line))
    assert not waiting, "the deal was over before its lines were said"
    return rows


def text_of(scenario: Scenario) -> str:
    """The whole deal."""
    hand = start(scenario.setup)
    rows = scenario.heading(hand.setup)
    rows.append(f"{'phase':<9}{'line':<34}was on offer")
    rows += rows_of(hand, scenario.said())
    assert hand.result
    moves = [f"{place_name(move.source)} to {place_name(move.target)} {move.amount}" for move in hand.moves]
    rows += ["", f"ending   {hand.result.ending}", f"moves    {', '.join(moves)}".rstrip()]
    rows.append(f"net      {' '.join(f'{net:+d}' for net in hand.result.net)}")
    rows.append(f"series   {json.dumps(dict(hand.result.series))}")
    rows += [f"public   {seat['seat']} {' '.join(seat['cards'])}".rstrip() for seat in hand.view("public")["seats"]]  # type: ignore[attr-defined]
    return "\n".join([*rows, f"state    {hand.digest()}"]) + "\n"


# Counts of deals, from a point on in every way.


@dataclass(frozen=True)
class Count:
    """A deal after ``late`` acts by the clock; from there every line is said, to ``depth``. Fans are shuffled as
    always."""

    setup: Setup
    late: int
    depth: int


COUNTS = {
    "esel": {
        "shouts": Count(setup("esel", deck=deck_of("AaKaOaUaXa9a8a7a")), 0, 4),
        "last cards": Count(setup("esel", deck=SEVEN, opt={"max_passes": 12}), 10, 5),
    },
    "pacal": {
        "trumps": Count(setup("pacal", deck=ROWS), 0, 4),
        "first cards": Count(setup("pacal", deck=ROWS, trumps="albh"), 0, 6),
        "to the void": Count(setup("pacal", deck=ROWS, trumps="bhla", opt={"max_plies": 14}), 11, 6),
    },
    "old_maid": {
        "two seats": Count(setup("old_maid", 2, deck=PAIRS), 0, 5),
        "three seats, the end": Count(setup("old_maid", 3, deck=PAIRS), 21, 9),
        "pairs wait": Count(setup("old_maid", 3, deck=PAIRS, opt={"discard": "turn"}), 0, 5),
    },
}


def run_forced(hand: Hand) -> Hand:
    """What leaves nobody a choice, fans included."""
    while not hand.over:
        supply(hand, mixed)
        line = hand.forced()
        if line is None:
            break
        hand.advance(line)
    return hand


def count(what: Count) -> dict[str, object]:
    """Deals ``open`` and ``over`` after 1, 2, ... lines, how they ended, what each seat won or lost in all of them.
    ``au`` changes nothing and is not counted."""
    first = run_forced(start(what.setup))
    for _ in range(what.late):
        for line in first.late():
            first.advance(line)
        run_forced(first)
    still_open: Counter[int] = Counter()
    over: Counter[int] = Counter()
    endings: Counter[str] = Counter()
    net = [0] * what.setup.seats
    waiting = [(first, 1)]
    while waiting:
        hand, depth = waiting.pop()
        for line in (line for offer in hand.legal() for line in offer.lines() if "??" not in line):
            then = hand.copy()
            then.advance(line)
            run_forced(then)
            if then.result is None:
                still_open[depth] += 1
                if depth < what.depth:
                    waiting.append((then, depth + 1))
                continue
            over[depth] += 1
            endings[then.result.ending] += 1
            net = [sum(both) for both in zip(net, then.result.net, strict=True)]
    acts = range(1, max([*over, *still_open]) + 1)
    found = {"open": [still_open[at] for at in acts], "over": [over[at] for at in acts]}
    return {**found, "endings": dict(sorted(endings.items())), "net": net}


def main(arguments: list[str]) -> int:
    """Print everything, or write it to its files."""
    texts = {f"{scenario.setup.game}/{scenario.name}.txt": text_of(scenario) for scenario in SCENARIOS}
    for game, counts in COUNTS.items():
        texts[f"{game}/perft.json"] = counts_text({name: count(what) for name, what in counts.items()})
    return publish(texts, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
