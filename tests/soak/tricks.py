"""``python -m tests.soak.tricks``: random deals of the later trick games, each judged by the models of ``tests/model``.

Half of the deals are played by the model and replayed by the engine, half are played by the engine at a table of the
model's and judged by the model; a part of them is played without a deck. Every twentieth log is spoilt in some places,
which both must refuse at the same line. Work goes to one process a core; exit 0 when all is well, 1 after a finding.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from importlib import import_module
from random import Random

from engine.registry import game_info
from tests.engine.against_model import Match
from tests.engine.deals import first_fault, spoilt_logs
from tests.model.course import Model

GAMES = ("siebner_schuster", "rufmariasch", "preferansz")
CHUNK = 250
SPOIL_EVERY, SPOILT = 20, 0.02
"""How often a log is spoilt, and the share of all ways to spoil it that is tried."""


def match_of(game: str) -> Match:
    """The game and its model."""
    model: Model = import_module(f"tests.model.{game}").MODEL
    return Match(game, model, (), "")


def play_chunk(job: tuple[str, int]) -> list[str]:
    """Deals of a game by number; the records on which engine and model differ."""
    game, first = job
    match, findings = match_of(game), []
    for number in range(first, first + CHUNK):
        random = Random(f"soak/{game}/{number}")
        if number % 2:
            record = match.model.random_record(random, physical=number % 8 == 1)
        else:
            record = match.played(random)
        records = [record]
        if number % SPOIL_EVERY == 0:
            pack = game_info(game).pack_for(record["opt"])
            # The digest of the state covers the clock's lines, which the model lets stand.
            spoilt = {key: value for key, value in record.items() if key != "state"}
            records += [{**spoilt, "acts": acts} for acts in spoilt_logs(record["acts"], random, SPOILT, pack=pack)]
        findings += [json.dumps(one) for one in records if first_fault(one) != match.model.judge(one).index]
        if first_fault(record) is not None:
            findings.append(json.dumps(record))
    return findings


def main() -> int:
    """Play, and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.tricks", description="Random deals, judged twice.")
    parser.add_argument("--hands", type=int, default=100_000, help="random deals a game (100,000)")
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="processes (one a core)")
    arguments = parser.parse_args()
    wrong = 0
    with multiprocessing.Pool(arguments.workers) as pool:
        for game in arguments.games:
            began, findings = time.monotonic(), []
            for found in pool.imap_unordered(play_chunk, [(game, at) for at in range(0, arguments.hands, CHUNK)]):
                findings += found
            seconds = time.monotonic() - began
            print(f"{game}: {arguments.hands:,} deals in {seconds:,.1f} s, {len(findings)} findings", flush=True)
            print(*findings, sep="\n", end="\n" if findings else "")
            wrong += len(findings)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
