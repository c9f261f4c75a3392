"""``python -m tests.soak``: random hands by the million, statistics of deals, and deep counts.

Every hand is played at a random table of :mod:`tests.engine.chance`: any number of seats, every option now and then,
commitments and redeals included. After each line the money is added up from the events alone; every tenth hand is
written as a record, read again and replayed. Then every hand of the small tables of :mod:`tests.engine.perft` is
played and counted. A hand that is stuck, unbalanced or refused is reported with its record, which replays it.

Work goes to one process a core. Ctrl-C ends it with the figures so far. Exit 0 when all is well, 1 after a finding, 130
when interrupted. The same ``--seed`` plays the same hands, whatever the number of cores.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.pool import IMapIterator, Pool
from random import Random

from engine.errors import EngineError
from engine.kernel.hand import Hand
from engine.record.format import format_record, parse_record, record_of
from engine.record.replay import replay
from engine.registry import game_info, start
from tests.engine import perft
from tests.engine.chance import GAMES, Players, random_setup
from tests.engine.money import watch_money
from tests.soak import shuffles

CHUNK = 500
REPLAY_EVERY = 10
PATIENCE = 120
"""Seconds without any news from the workers after which the run says so."""


@dataclass
class Tally:
    """What some hands came to."""

    hands: int = 0
    lines: int = 0
    longest: int = 0
    redeals: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    options: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take in what other hands came to."""
        self.hands += other.hands
        self.lines += other.lines
        self.longest = max(self.longest, other.longest)
        self.redeals += other.redeals
        self.endings += other.endings
        self.options += other.options
        self.findings += other.findings

    def note(self, hand: Hand) -> None:
        """Take in one hand that is over."""
        self.hands += 1
        self.lines += len(hand.log)
        self.longest = max(self.longest, len(hand.log))
        self.redeals += len(hand.setup.redeals)
        self.endings[hand.result.ending if hand.result else "none"] += 1
        self.options.update(hand.setup.opt.keys())


def play_chunk(job: tuple[str, str, int, int]) -> Tally:
    """The hands of one game from one number up to another."""
    game, seed, first, end = job
    tally = Tally()
    for number in range(first, end):
        random = Random(f"{seed}/{game}/{number}")
        try:
            hand = start(random_setup(game, random))
        except EngineError as error:
            tally.findings.append(f"{game} {seed}/{number}: not started: {type(error).__name__}: {error}")
            continue
        try:
            watch_money(hand, Players(random))
            if number % REPLAY_EVERY == 0:
                require_replay(hand)
        except (AssertionError, EngineError, LookupError, TypeError, ValueError) as error:
            tally.findings.append(f"{game} {seed}/{number}: {type(error).__name__}: {error}\n{record_line(hand)}")
        tally.note(hand)
    return tally


def record_line(hand: Hand) -> str:
    """The hand as far as it went, as a record."""
    setup = hand.setup
    names = tuple(f"s{seat}" for seat in range(1, setup.seats + 1))
    rules = game_info(setup.game).rules_id
    return format_record(record_of(hand, hand_id="soak", rules_id=rules, seats=names, opt=dict(setup.opt)))


def require_replay(hand: Hand) -> None:
    """The record, written and read again, replays to the same."""
    line = record_line(hand)
    outcome = replay(parse_record(line))
    if outcome.error:
        raise outcome.error
    assert outcome.hand and outcome.hand.digest() == hand.digest(), "replay gives another state"
    assert outcome.hand.moves == hand.moves, "replay moves other money"


def count_deep(name: str) -> tuple[str, bool, int]:
    """Whether a table's deep counts are those on record, and how many lines were said."""
    table = perft.TABLES[name]
    found = perft.count(table, perft.WHOLE)
    counts = [count for key in ("open", "over") for count in found[key]]  # type: ignore[attr-defined]
    return name, found == perft.golden()["soak"].get(name), sum(counts)


def jobs(game: str, seed: str, hands: int) -> Iterator[tuple[str, str, int, int]]:
    """The run, cut into pieces."""
    for first in range(0, hands, CHUNK):
        yield game, seed, first, min(first + CHUNK, hands)


def collect(results: IMapIterator[Tally], tally: Tally, say: Progress) -> None:
    """Add up what the workers send."""
    while True:
        try:
            tally.add(results.next(timeout=PATIENCE))
        except multiprocessing.TimeoutError:
            print(f"no news for {PATIENCE} s: a hand may be stuck", file=sys.stderr, flush=True)
            continue
        except StopIteration:
            return
        say.progress(tally)


class Progress:
    """A line now and then on standard error."""

    def __init__(self, game: str, hands: int) -> None:
        self.game, self.hands = game, hands
        self.began = self.said = time.monotonic()

    def progress(self, tally: Tally) -> None:
        """At most one line in five seconds."""
        now = time.monotonic()
        if now - self.said >= 5:
            self.said = now
            done = f"{self.game} {tally.hands:,} of {self.hands:,}"
            print(
                f"{done}, {self.rate(tally):,.0f} hands/s, {len(tally.findings)} findings", file=sys.stderr, flush=True
            )

    def rate(self, tally: Tally) -> float:
        """Hands a second so far."""
        return tally.hands / max(time.monotonic() - self.began, 1e-9)


def report(game: str, tally: Tally, say: Progress) -> None:
    """What the hands of one game came to."""
    seconds = time.monotonic() - say.began
    print(f"{game}: {tally.hands:,} hands in {seconds:,.1f} s, {say.rate(tally):,.0f} hands/s, {tally.lines:,} lines")
    print(f"  longest {tally.longest} lines, {tally.redeals:,} packs dealt face up, {len(tally.findings)} findings")
    for title, counts in (("endings", tally.endings), ("options", tally.options)):
        print(f"  {title}: " + ", ".join(f"{name} {count:,}" for name, count in counts.most_common()))
    for finding in tally.findings:
        print(finding)


def play_games(pool: Pool, arguments: argparse.Namespace) -> int:
    """Random hands of each game; the number of findings."""
    findings = 0
    for game in arguments.games:
        tally, say = Tally(), Progress(game, arguments.hands)
        try:
            collect(pool.imap_unordered(play_chunk, jobs(game, arguments.seed, arguments.hands)), tally, say)
        finally:
            report(game, tally, say)
        findings += len(tally.findings)
    return findings


def count_tables(pool: Pool) -> int:
    """Deep counts of all small tables; how many were wrong."""
    began, wrong, lines = time.monotonic(), 0, 0
    for name, right, said in pool.imap_unordered(count_deep, perft.TABLES):
        print(f"perft {name}: {said:,} lines, {'as on record' if right else 'NOT AS ON RECORD'}", flush=True)
        wrong, lines = wrong + (not right), lines + said
    print(f"perft: {lines:,} lines in {time.monotonic() - began:,.1f} s")
    return wrong


def like_chance(pool: Pool) -> bool:
    """Whether deals from seeds look like chance (:mod:`tests.soak.shuffles`)."""
    began = time.monotonic()
    batches = [shuffles.Batch(number) for number in range(shuffles.BATCHES)]
    found = pool.map(shuffles.examine, batches, chunksize=1)
    return shuffles.report(found, time.monotonic() - began, batches[0])


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(prog="python -m tests.soak", description="Random hands and deep counts.")
    found.add_argument("--hands", type=int, default=1_000_000, help="random hands a game (1,000,000)")
    found.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    found.add_argument("--seed", default="soak")
    found.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="processes (one a core)")
    found.add_argument("--no-statistics", action="store_true", help="leave out the statistics of deals")
    found.add_argument("--no-perft", action="store_true", help="leave out the deep counts")
    return found


def main() -> int:
    """Run it all."""
    arguments = parser().parse_args()
    ignore = (signal.SIGINT, signal.SIG_IGN)
    with multiprocessing.Pool(arguments.workers, signal.signal, ignore) as pool:
        try:
            wrong = play_games(pool, arguments) if arguments.hands else 0
            wrong += 0 if arguments.no_statistics else not like_chance(pool)
            wrong += 0 if arguments.no_perft else count_tables(pool)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
