"""``python -m tests.soak.barbu``: random sessions of Barbu, a deal after the other, at tables with random options.

After every deal the money adds up to nothing and no stack is below 0; every tenth deal is written as a record, read
again and replayed, and every fiftieth is judged by the model. A tenth of the sessions is played with hands that the
house does not know. Work goes to one process a core; exit 0 when all is well, 1 after a finding. The same ``--seed``
plays the same deals.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from random import Random

from engine.kernel.cards import FRENCH52
from engine.kernel.hand import Hand
from engine.kernel.rules import parse_rules
from engine.kernel.setup import Setup
from engine.play import random_line
from engine.record.format import format_record, parse_record, record_of
from engine.record.replay import replay
from engine.registry import game_info, start
from tests.model.barbu import judge

GAME = game_info("barbu")
CHOICES: dict[str, tuple[object, ...]] = {
    "settlement": ("chips", "paper"), "scoring": ("pagat", "fifteen", "lagosz", "brader"), "ravage_city": (0, 36, 24),
    "dealer_declares": (False, True), "doubling": ("all", "declarer"), "no_double_no_play": (False, True),
    "early_stop": ("queens", "all"), "heart_ban": ("both", "hearts"), "must_dump": (False, True),
    "trump_void": ("must", "free"), "domino_ace": ("high", "low"), "domino_rank": ("named", "first_card"),
}  # fmt: skip
STACK = 10_000_000


@dataclass
class Tally:
    """What some deals came to."""

    deals: int = 0
    lines: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def session(number: int, seed: str) -> Tally:
    """One session; what went wrong is recorded with the record."""
    random, tally = Random(f"{seed}/{number}"), Tally()
    opt: dict[str, object] = {"unit": 5} | {name: random.choice(values) for name, values in CHOICES.items()}
    hidden = random.random() < 0.1
    names = tuple(random.sample(["a", "b", "c", "d"], 4))
    rules = parse_rules(GAME.rules, Setup("barbu", opt, 4, (STACK,) * 4, ids=names))
    series = GAME.new_series(names, rules)
    money = dict.fromkeys(names, STACK)
    for _ in range(4 * len(rules.contracts)):
        deck = None if hidden else tuple(random.sample(FRENCH52.cards, 52))
        hand = start(Setup("barbu", opt, 4, tuple(money[name] for name in names), 0, 4, deck, series=series, ids=names))
        try:
            play_deal(hand, random, hidden)
            check(hand, names, opt, tally)
        except Exception as error:  # whatever it is, it is a finding
            tally.findings.append(f"{number}: {type(error).__name__}: {error}\n{record_line(hand, names, opt)}")
            return tally
        money = dict(zip(names, hand.stacks, strict=True))
        order = GAME.next_seats(4, series, hand.result.series)
        names, series = tuple(names[at] for at in order), hand.result.series
    if len(money) != 4 or sum(money.values()) != 4 * STACK:
        tally.findings.append(f"{number}: the session does not balance")
    return tally


def play_deal(hand: Hand, random: Random, hidden: bool) -> None:
    """Play it at random; with ``hidden`` some hands are dealt unknown."""
    while not hand.over:
        if hand.actor == "d" and hidden and random.random() < 0.6:
            hand.advance(f"d dh p{hand.legal()[0].target} {'??' * 13}")
        elif random.random() < 0.02 and hand.actor != "d" and hand.pending is None:
            hand.advance(f"{hand.actor} au")
        else:
            hand.advance(random_line(hand, random))


def check(hand: Hand, names: tuple[str, ...], opt: dict[str, object], tally: Tally) -> None:
    """Sums, and now and then the record and the model."""
    result = hand.result
    assert result and sum(result.net) == 0 == hand.pot and min(hand.stacks) >= 0
    tally.deals, tally.lines = tally.deals + 1, tally.lines + len(hand.log)
    tally.endings[result.ending] += 1
    if tally.deals % 10 == 0:
        line = record_line(hand, names, opt)
        outcome = replay(parse_record(line))
        assert outcome.ok and outcome.hand and outcome.hand.moves == hand.moves, outcome.error
        if tally.deals % 50 == 0 and "??" not in line:
            fields = json.loads(line)
            del fields["state"]
            verdict = judge(fields)
            assert verdict.ok, verdict


def record_line(hand: Hand, names: tuple[str, ...], opt: dict[str, object]) -> str:
    """The deal as far as it went, as a record."""
    return format_record(record_of(hand, hand_id="soak", rules_id=GAME.rules_id, seats=names, opt=opt))


def main() -> int:
    """Run it all."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.barbu", description="Random sessions of Barbu.")
    parser.add_argument("--deals", type=int, default=100_000, help="deals, about (100,000)")
    parser.add_argument("--seed", default="soak")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="processes (one a core)")
    arguments = parser.parse_args()
    began, total = time.monotonic(), Tally()
    with multiprocessing.Pool(arguments.workers) as pool:
        numbers = range(max(arguments.deals // 30, 1))
        for tally in pool.imap_unordered(partial(session, seed=arguments.seed), numbers, chunksize=4):
            total.deals += tally.deals
            total.lines += tally.lines
            total.endings += tally.endings
            total.findings += tally.findings
    print(f"barbu: {total.deals:,} deals in {time.monotonic() - began:,.1f} s, {total.lines:,} lines")
    print("  endings: " + ", ".join(f"{name} {count:,}" for name, count in total.endings.most_common()))
    print(*total.findings or ["  no findings"], sep="\n")
    return 1 if total.findings else 0


if __name__ == "__main__":
    sys.exit(main())
