"""Postings of several threads of one process: together by `ledger.group`, or one by one, in alternating rounds."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.bench.ledger import ours
from tests.bench.ledger.speed import Plan
from tests.bench.ledger.workload import AMOUNTS, KIND, TABLES, Settlement, Stage, settlements

THREADS = (1, 16, 64)
Settle = Callable[[Settlement], object]


@dataclass(slots=True)
class Run:
    """Settlements a second of all threads together, and milliseconds of one of them."""

    rate: float
    p50: float
    p99: float


@dataclass(slots=True)
class Grouped:
    """Both ways with so many threads, a run for each round."""

    threads: int
    single: list[Run] = field(default_factory=list)
    together: list[Run] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Round by round, how many times as fast coalesced postings are."""
        return [many.rate / one.rate for one, many in zip(self.single, self.together, strict=True)]

    def lines(self) -> list[str]:
        """A line for each way."""
        ratio = f"{statistics.median(self.ratios):.2f} x ({min(self.ratios):.2f} to {max(self.ratios):.2f})"
        return [
            f"{name:34}{self.threads:>3} threads{_median(runs, 'rate'):>9,.0f}/s   p50 {_median(runs, 'p50'):7.2f} ms"
            f"   p99 {_median(runs, 'p99'):8.2f} ms   {note}"
            for name, runs, note in (
                ("one process, post alone", self.single, ""),
                ("one process, group.post", self.together, ratio),
            )
        ]


def _median(runs: list[Run], name: str) -> float:
    return statistics.median(getattr(run, name) for run in runs)


def measure(plan: Plan) -> list[Grouped]:
    """Threads spread over the tables, each on its own; both ways in turn, round after round."""
    from ledger import group, posting

    stage = ours.open_book()

    def single(one: Settlement) -> object:
        return posting.post(stage.book, one.key, KIND, _legs(one), one.metadata, alone=True)

    def together(one: Settlement) -> object:
        return group.post(stage.book, one.key, KIND, _legs(one), one.metadata)

    results = []
    hand = 0
    for threads in THREADS:
        found = Grouped(threads)
        crowd = Threads(stage, threads)
        for number in range(plan.rounds + 1):
            for way, runs in ((single, found.single), (together, found.together)):
                hand += 1_000_000
                run = crowd.run(way, plan.seconds if number else min(plan.seconds, 0.5), hand)
                if number:  # the first round makes connections and plans
                    runs.append(run)
        crowd.close()
        results.append(found)
    return results


def _legs(one: Settlement) -> list[object]:
    from ledger.posting import Leg

    return [Leg(account, amount) for account, amount in zip(one.accounts, AMOUNTS, strict=True)]


class Threads:
    """Threads that stay, each with a connection of its own, as those of a web worker do."""

    def __init__(self, stage: Stage, count: int) -> None:
        self.stage = stage
        self.gate = threading.Barrier(count + 1)
        self.order: tuple[Settle, float, int] | None = None
        self.taken: list[list[float]] = [[] for _ in range(count)]
        self.failures: list[BaseException] = []
        self.threads = [threading.Thread(target=self._work, args=(number,), daemon=True) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, settle: Settle, seconds: float, first: int) -> Run:
        """All of them for so long."""
        self.order = (settle, time.monotonic() + seconds, first)
        self.gate.wait()
        self.gate.wait()
        if self.failures:
            raise self.failures[0]
        taken = [one for many in self.taken for one in many]
        quantiles = statistics.quantiles(taken, n=100) if len(taken) > 1 else [0.0] * 99
        return Run(len(taken) / seconds, quantiles[49], quantiles[98])

    def close(self) -> None:
        """Let all of them end."""
        self.order = None
        self.gate.wait()
        for thread in self.threads:
            thread.join()

    def _work(self, number: int) -> None:
        from django.db import connection

        while True:
            self.gate.wait()
            if self.order is None:
                connection.close()
                return
            settle, stop, first = self.order
            try:
                self.taken[number] = _until(stop, settle, self._settlements(number, first))
            except BaseException as error:
                self.failures.append(error)
            self.gate.wait()

    def _settlements(self, number: int, first: int) -> Iterator[Settlement]:
        """Keys of this thread's own: more threads than tables share tables."""
        table = number % TABLES
        return settlements(self.stage, range(table, table + 1), hot=False, first=first + number // TABLES * 500_000)


def _until(stop: float, settle: Settle, work: Iterator[Settlement]) -> list[float]:
    """Milliseconds of each settlement that was over in time."""
    taken: list[float] = []
    started = time.monotonic()
    for one in work:
        settle(one)
        now = time.monotonic()
        if now > stop:
            break
        taken.append((now - started) * 1000)
        started = now
    return taken
