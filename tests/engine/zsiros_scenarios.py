"""Deals of Zsíros that a person can read through, and counts of how many ways there are to play one to its end.

Every scenario is a table and what its seats say; cards are dealt by themselves, and what a scenario leaves open is
played by the automatic act of each seat. In ``golden/zsiros`` the ``*.txt`` hold the deals line by line, ``perft.json``
the counts. A test plays and counts again; ``python -m tests.engine.zsiros_scenarios --write`` writes them again, and
the difference is then read, not waved through.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any

from engine.kernel.hand import Hand
from engine.kernel.legal import Legal
from engine.kernel.purse import place_name
from engine.registry import start
from tests.engine.deals import deck_of, run_forced, say, shuffled
from tests.engine.goldens import Scenario, counts_text, publish, rows_of
from tests.engine.tricks.zsiros_tables import IDS, setup, sheet

ABCD = deck_of("AaAlOa7a", "XaXl9a7l", "KaKl8a7b", "AbObUa7h")
"""Hands of the example of a multiple trick in the rules text."""
TWO_ROUNDS = "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h; p1 pl Al; p2 pl 9a; p3 pl 7b; p4 pl Ab; p1 ps"


SCENARIOS = (
    Scenario("three_rounds", "A trick of three rounds, won by who leads it", setup(deck=ABCD),
             "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h; p1 pl Al; p2 pl 7l; p3 pl 7b; p4 pl Ab; "
             "p1 pl 7a; p2 pl 9a; p3 pl Ka; p4 pl Ua"),
    Scenario("conceded", "A trick given up after two rounds; hands are filled up two cards at once",
             setup(deck=ABCD), TWO_ROUNDS),
    Scenario("single_draws", "The same, and hands are filled up one card at a time",
             setup(deck=ABCD, opt={"draw_mode": "single"}), TWO_ROUNDS),
    Scenario("cards_laid_ready", "The same with a talon of cards that lie ready for each seat",
             setup(deck=ABCD, opt={"deal_model": "preassigned"}), TWO_ROUNDS),
    Scenario("seven_led", "A seven that is led is only a seven",
             setup(deck=deck_of("7aAaOa7h", "7bOlUlXl", "KhKaKlKb", "Xb9a8a8l")),
             "p1 pl 7a; p2 pl 7b; p3 pl Kh; p4 pl Xb; p1 pl 7h; p2 pl Ol"),
    Scenario("calls_and_clock", "The partner calls; the clock runs out for a seat that leads and for one that is asked",
             setup(deck=ABCD),
             "p3 cl ne_uss; p3 cl zsirt; p1 au; p1 pl Aa; p4 cl uss; p2 pl 7l; p3 pl Kl; p4 pl Ua; p3 cl uss; "
             "p1 au; p1 ps"),
    Scenario("bald", "Two players: all points, but not all tricks",
             setup(2, deck=shuffled(Random(4)), opt={"stake": 50, "target": 10})),
    Scenario("forty_each", "Two players: of forty points each the last trick decides",
             setup(2, deck=shuffled(Random(45)))),
    Scenario("game_won", "Every trick, and with it the game: both sides start again from nothing",
             setup(ids=(*IDS[1:], IDS[0]), series=sheet(IDS, deals="ann", score=[4, 3], games=[1, 0]),
                   deck=deck_of("AaAlKaKl", "8a8l9a9l", "OaOl7a7l", "UaUlXaXl",
                                "Ab9bObUb", "Ah9hOhUh", "Kb8b7bXb", "Kh8h7hXh")),
             ),
)  # fmt: skip


def offer_text(offer: Legal) -> str:
    """``pl Aa Al``: a verb with its cards; the partner's calls are known."""
    cards = offer.as_dict().get("cards")
    return " ".join([offer.verb, *cards]) if isinstance(cards, list) and offer.verb == "pl" else offer.verb


def step(hand: Hand, line: str) -> str:
    """One line said, as a row."""
    phase, offers = hand.phase, ", ".join(map(offer_text, hand.legal()))
    hand.apply(line)
    view = hand.view("auditor")
    held, points = view["holder"] or "", view["points"]
    return f"{phase:<8}{line:<20}{held:<5}{view['talon']!s:>3}  {view['tricks']!s:<8} {points!s:<9} {offers}".rstrip()


def text_of(scenario: Scenario) -> str:
    """The whole deal."""
    hand = start(scenario.setup)
    rows = scenario.heading(hand.setup)
    rows.append(f"{'phase':<8}{'line':<20}{'held':<5}talon tricks points  was on offer")
    rows += rows_of(hand, scenario.said(), step)
    assert hand.result
    moves = [f"{place_name(move.source)} to {place_name(move.target)} {move.amount}" for move in hand.moves]
    rows += ["", f"ending   {hand.result.ending}, winner p{hand.result.winner}", f"moves    {', '.join(moves)}"]
    rows += [
        f"net      {' '.join(f'{net:+d}' for net in hand.result.net)}",
        f"series   {json.dumps(hand.result.series)}",
    ]
    return "\n".join([*rows, f"state    {hand.digest()}"]) + "\n"


# Counts of whole deals.


@dataclass(frozen=True)
class Ending:
    """A deal played by automatic acts until so many cards are left at a lead, and from there in every way."""

    seats: int
    seed: int
    left: int
    opt: dict[str, Any]


ENDINGS = {
    "two seats": Ending(2, 1, 10, {}),
    "two seats, single draws": Ending(2, 7, 10, {"draw_mode": "single"}),
    "two seats, cards laid ready": Ending(2, 2, 10, {"deal_model": "preassigned"}),
    "four seats": Ending(4, 3, 12, {}),
    "four seats, cards laid ready one by one": Ending(4, 4, 12, {"deal_model": "preassigned", "draw_mode": "single"}),
}


def last_cards(ending: Ending) -> Hand:
    """The deal where the counting begins."""
    hand = run_forced(start(setup(ending.seats, deck=shuffled(Random(ending.seed)), opt=ending.opt)))
    while hand.phase != "lead" or 32 - sum(" pl " in line for line in hand.log) > ending.left:
        say(hand, hand.automatic() or "")
    return hand


def count(ending: Ending) -> dict[str, object]:
    """Deals ``open`` and ``over`` after 1, 2, ... acts, how they ended, what each seat won or lost in all of them.
    Calls and ``au`` change nothing and are not counted."""
    still_open: Counter[int] = Counter()
    over: Counter[int] = Counter()
    endings: Counter[str] = Counter()
    net = [0] * ending.seats
    waiting = [(last_cards(ending), 1)]
    while waiting:
        hand, depth = waiting.pop()
        for line in (line for offer in hand.legal() if offer.verb != "cl" for line in offer.lines()):
            then = say(hand.copy(), line)
            if then.result is None:
                still_open[depth] += 1
                waiting.append((then, depth + 1))
                continue
            over[depth] += 1
            endings[f"{then.result.ending}, p{then.result.winner}"] += 1
            net = [sum(both) for both in zip(net, then.result.net, strict=True)]
    acts = range(1, max(over) + 1)
    found = {"open": [still_open[at] for at in acts], "over": [over[at] for at in acts]}
    return {**found, "endings": dict(sorted(endings.items())), "net": net}


def main(arguments: list[str]) -> int:
    """Print everything, or write it to its files."""
    texts = {f"zsiros/{scenario.name}.txt": text_of(scenario) for scenario in SCENARIOS}
    texts["zsiros/perft.json"] = counts_text({name: count(ending) for name, ending in ENDINGS.items()})
    return publish(texts, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
