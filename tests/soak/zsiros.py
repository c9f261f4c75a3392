"""``python -m tests.soak.zsiros``: random deals of Zsíros, each judged by the independent referee as well.

Half of the deals are played by the engine, every option now and then, and judged by the referee; the others are played
by the referee and replayed by the engine. Exit 0 when all are good to both, 1 after a finding.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from random import Random

from engine.play import play_hand
from engine.record.format import format_record, record_of
from tests.engine.deals import first_fault, shuffled
from tests.engine.tricks.zsiros_tables import IDS, setup, sheet
from tests.model.zsiros import judge
from tests.model.zsiros_play import random_record

CHUNK = 250


def engines_record(random: Random) -> str:
    """The record of a deal that the engine has played at some table."""
    seats, target = random.choice((2, 4)), random.choice((5, 10))
    opt: dict[str, object] = {"stake": random.choice((0, 1, 250)), "target": target}
    opt |= {"draw_mode": random.choice(("batch", "single")), "deal_model": random.choice(("draw", "preassigned"))}
    score = [random.randrange(target), random.randrange(target)]
    table = setup(seats, opt=opt, deck=shuffled(random), series=sheet(IDS[:seats], score=score))
    hand = play_hand(table, random)
    assert hand.result and sum(hand.result.net) == 0
    record = record_of(hand, hand_id="S-1", rules_id="zsiros/1", seats=IDS[:seats], opt=dict(table.opt))
    return format_record(record)


def play_chunk(first: int) -> list[str]:
    """Deals by number; the records that either side refuses."""
    findings = []
    for number in range(first, first + CHUNK):
        random = Random(f"zsiros/{number}")
        record = json.loads(engines_record(random)) if number % 2 else random_record(random, physical=number % 8 == 0)
        if first_fault(record) is not None or not judge(record).ok:
            findings.append(json.dumps(record))
    return findings


def main() -> int:
    """Play, and print what was refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.zsiros", description=__doc__.splitlines()[0])
    parser.add_argument("--hands", type=int, default=100_000, help="random deals (100,000)")
    arguments = parser.parse_args()
    began, findings = time.monotonic(), []
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for found in pool.imap_unordered(play_chunk, range(0, arguments.hands, CHUNK)):
            findings += found
    print(f"zsiros: {arguments.hands:,} deals in {time.monotonic() - began:,.1f} s, {len(findings)} findings")
    for line in findings:
        print(line)
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
