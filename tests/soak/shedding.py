"""``python -m tests.soak.shedding``: random deals of Esel, Pacal and Old Maid, each judged by its referee as well.

Half of the deals are played by the engine, every option now and then, and judged by the referee; the others are played
by the referee and replayed by the engine. Exit 0 when all are good to both, 1 after a finding.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from functools import partial
from random import Random

from engine.play import play_hand
from engine.record.format import format_record, record_of
from engine.registry import game_info, start
from tests.engine.deals import first_fault
from tests.engine.shedding.shedding_kit import IDS, REFEREES, advance, setup, shuffled, some_line
from tests.model.shedding import judge, random_head, random_record

CHUNK = 250


def engines_record(game: str, random: Random) -> str:
    """The record of a deal that the engine has played at some table."""
    info, head = game_info(game), random_head(REFEREES[game], random)
    seats, deck = len(head["seats"]), shuffled(random)
    table = setup(game, seats, opt=head["opt"], deck=deck, stacks=(10**6,) * seats, lost=head["series"]["lost"])
    hand = play_hand(table, random) if random.random() < 0.5 else start(table)
    while not hand.over:
        advance(hand, some_line(hand, random))
    assert hand.result and sum(hand.result.net) == 0
    return format_record(record_of(hand, hand_id="S-1", rules_id=info.rules_id, seats=IDS[:seats], opt=dict(table.opt)))


def play_chunk(game: str, first: int) -> list[str]:
    """Deals by number; the records that either side refuses."""
    findings = []
    for number in range(first, first + CHUNK):
        random = Random(f"{game}/{number}")
        record = json.loads(engines_record(game, random)) if number % 2 else random_record(REFEREES[game], random)
        if first_fault(record) is not None or not judge(REFEREES[game], record).ok:
            findings.append(json.dumps(record))
    return findings


def main() -> int:
    """Play, and print what was refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.shedding", description=__doc__.splitlines()[0])
    parser.add_argument("--hands", type=int, default=100_000, help="random deals a game (100,000)")
    parser.add_argument("--games", nargs="+", choices=tuple(REFEREES), default=list(REFEREES))
    arguments, found = parser.parse_args(), 0
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for game in arguments.games:
            began, findings = time.monotonic(), list[str]()
            for chunk in pool.imap_unordered(partial(play_chunk, game), range(0, arguments.hands, CHUNK)):
                findings += chunk
            print(f"{game}: {arguments.hands:,} deals in {time.monotonic() - began:,.1f} s, {len(findings)} findings")
            for line in findings:
                print(line)
            found += len(findings)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
