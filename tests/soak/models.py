"""``python -m tests.soak.models``: random deals of the games that have an independent model, each judged by both.

Half of the deals are played by the model and replayed by the engine; the others are evenings of the engine, at tables
of the model's own making, which the model judges. Exit 0 when all are good to both, 1 after a finding.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

from engine.play import play_hand
from engine.record.format import format_record, parse_object, record_from, record_of
from tests.engine.deals import first_fault
from tests.model import ramsli, ramsli_play

CHUNK = 250
MOST_SHOWN = 20
MODELS: Mapping[str, tuple[Callable[..., dict[str, Any]], Callable[[Mapping[str, Any]], Any]]] = {
    "ramsli": (ramsli_play.random_record, ramsli.judge),
}
"""Game -> the model's random record, with a deck unless ``physical``, and its verdict, which says ``ok``."""


def engines_record(fields: Mapping[str, Any], random: Random) -> dict[str, Any]:
    """The record of a deal that the engine plays at the table of another record."""
    record = record_from(dict(fields))
    hand = play_hand(record.setup(), random)
    played = record_of(hand, hand_id=record.hand, rules_id=record.rules, seats=record.seats, opt=dict(record.opt))
    return parse_object(format_record(played))


def play_chunk(game: str, first: int) -> list[str]:
    """Deals by number; the records that either side refuses."""
    random_record, judge = MODELS[game]
    findings = []
    for number in range(first, first + CHUNK):
        random = Random(f"{game}/{number}")
        record = random_record(random, physical=number % 8 == 0)
        if number % 2:
            record = engines_record(record, random)
        if first_fault(record) is not None or not judge(record).ok:
            findings.append(json.dumps(record))
    return findings


def main() -> int:
    """Play, and print what was refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.models", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hands", type=int, default=100_000, help="random deals a game (100,000)")
    parser.add_argument("--games", nargs="+", choices=MODELS, default=list(MODELS))
    arguments = parser.parse_args()
    wrong = 0
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for game in arguments.games:
            began, findings = time.monotonic(), []
            for found in pool.imap_unordered(partial(play_chunk, game), range(0, arguments.hands, CHUNK)):
                findings += found
            took = time.monotonic() - began
            print(f"{game}: {arguments.hands:,} deals in {took:,.1f} s, {len(findings)} findings")
            for line in findings[:MOST_SHOWN]:
                print(line)
            wrong += len(findings)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
