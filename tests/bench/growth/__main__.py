"""`python -m tests.bench.growth`: what a house of eight tables costs at several ages, each against the youngest.

Each size is a database of its own; they are filled one after the other, and then measured in turn. Five years of 72
hands a table and day are a million hands with 20 million entries: some 25 GB of disk for all sizes together, and most
of the time is for filling.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from tests.bench.growth.child import REPORTS, run
from tests.bench.reports.generated import Size

#: Days of the sizes: a month, a year, five years.
DAYS = (30, 365, 1826)
#: Hands of each table in a day.
HANDS = 72
ROUNDS = 5
#: More than this many times the cost of the smallest size is marked, where it is more than these.
MARKED = 1.3
LEAST_MS, LEAST_PAGES = 0.5, 20


class Aged:
    """A house of one size in its process."""

    def __init__(self, days: int, hands: int, reports: Sequence[str]) -> None:
        command = [sys.executable, "-m", "tests.bench.growth", "--one", str(days), "--hands", str(hands)]
        self._process = subprocess.Popen(
            [*command, "--reports", *reports], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        #: Days, hands, rows, bytes a hand, seconds that filling took.
        self.filled = self._said()

    def ask(self, what: str) -> dict[str, tuple[float, float, float]]:
        """Measure; server's CPU, own CPU (ms) and pages of each path."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        return {name: tuple(cost) for name, cost in self._said().items()}

    def end(self) -> None:
        """Let it drop its database, and wait for that."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _said(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a house of the bench has failed")
        return json.loads(line)


def compare(days: Sequence[int], hands: int, rounds: int, reports: Sequence[str]) -> None:
    """Fill and measure every size, and print a line a path."""
    houses: list[Aged] = []
    try:
        for size in days:
            houses.append(Aged(size, hands, reports))
            _print_filled(houses[-1].filled)
        houses[0].ask("round")  # what is built once
        asked = ["round"] * rounds + (["reports"] if reports else [])
        for one in houses[1:]:
            one.ask("round")
        began = time.monotonic()
        costs: dict[str, list[list[tuple[float, float, float]]]] = {}
        for what in asked:
            for number, one in enumerate(houses):
                for name, cost in one.ask(what).items():
                    costs.setdefault(name, [[] for _ in houses])[number].append(cost)
        print(f"measured in {time.monotonic() - began:.0f} s, {rounds} rounds of all sizes in turn; a request costs")
        print(f"{'':34}" + "".join(f"{size:>13,} days" for size in days))
        for name, found in costs.items():
            _print_path(name, found)
    finally:
        for one in houses:
            one.end()


def _print_filled(filled: dict[str, Any]) -> None:
    rows = ", ".join(f"{count:,} of {table}" for table, count in filled["rows"].items())
    total = sum(filled["bytes"].values())
    print(f"{filled['days']:,} days, {filled['hands']:,} hands in {filled['seconds']:.0f} s: {rows}")
    parts = ", ".join(f"{table} {size:,.0f}" for table, size in filled["bytes"].items() if size >= 50)
    print(f"  {total:,.0f} bytes a hand: {parts}", flush=True)


def _print_path(name: str, found: list[list[tuple[float, float, float]]]) -> None:
    for at, what, unit, least in (
        (0, name, "ms of the server", LEAST_MS), (1, "", "ms of Python", LEAST_MS), (2, "", "pages", LEAST_PAGES),
    ):  # fmt: skip
        costs = medians(found, at)
        text = "".join(f"{cost:>10.1f} {cost / costs[0] if costs[0] else 1.0:>5.2f}x " for cost in costs)
        print(f"{what:34}{text} {unit}{'  GROWS' if marked(costs, least) else ''}", flush=True)


def medians(found: Sequence[Sequence[tuple[float, float, float]]], at: int) -> list[float]:
    """By size the median of one of the costs that the rounds had."""
    return [statistics.median(cost[at] for cost in one) for one in found]


def marked(costs: Sequence[float], least: float) -> bool:
    """Whether a cost grows with the size: by `least` at least, and to more than MARKED times the smallest."""
    return max(costs) > MARKED * costs[0] and max(costs) - costs[0] > least


def main() -> None:
    """Of the sizes that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.growth", description=__doc__)
    parser.add_argument("--days", type=int, nargs="+", default=DAYS, help=f"ages of the houses, {DAYS}")
    parser.add_argument("--hands", type=int, default=HANDS, help=f"hands of each table in a day ({HANDS})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"counted rounds ({ROUNDS})")
    parser.add_argument("--reports", nargs="*", metavar="REPORT", help="reports of one day; without names none")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        run(Size(days=given.one, hands=given.hands), given.reports or ())
        return
    reports = given.reports
    if reports is None:
        reports = REPORTS
    compare(given.days, given.hands, given.rounds, reports)


if __name__ == "__main__":
    main()
