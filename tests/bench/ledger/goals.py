"""What the ledger was meant to reach, and whether it did."""

import statistics
from dataclasses import dataclass

from tests.bench.ledger.grouped import Grouped
from tests.bench.ledger.growth import Filled, Grown, LookUps
from tests.bench.ledger.speed import BATCH, Plan, Rates

TIMES_HORDAK = 2.3
TIMES_SINGLE = 3.0
"""Postings of many threads written together, against the same threads posting one by one."""
SPREAD_AT_4 = 3_000
HOT_SHARE = 0.8
BATCHED = 10_000
MILLISECONDS = 1.0
BYTES = 700


@dataclass(frozen=True, slots=True)
class Goal:
    """One of them, in words for people."""

    name: str
    wanted: str
    measured: str
    reached: bool

    def line(self) -> str:
        """One line."""
        return f"{'reached' if self.reached else 'SHORT':9}{self.name:52}{self.wanted:>12}   {self.measured}"


def of_rates(rates: Rates, plan: Plan) -> list[Goal]:
    """Those about settlements a second; one that this plan does not measure is left out."""
    goals = []
    for hot in (False, True):
        for clients in plan.clients if plan.references else ():
            ratios = rates.ratios(rates.ours, (clients, hot), "hordak")
            name = f"against django-hordak, {'hot' if hot else 'spread'}, clients: {clients}"
            goals.append(_at_least(name, TIMES_HORDAK, ratios, "x"))
    if 4 in plan.clients:
        name = "settlements a second through Django, spread, clients: 4"
        goals.append(_at_least(name, SPREAD_AT_4, rates.rates[rates.ours, (4, False)], "/s"))
    if 16 in plan.clients:
        shares = rates.ratios(rates.ours, (16, True), rates.ours, (16, False))
        goals.append(_at_least("hot as a share of spread, clients: 16", HOT_SHARE, shares, "x"))
    if ("batch", BATCH) in rates.rates:
        goals.append(_at_least("batched settlements a second", BATCHED, rates.rates["batch", BATCH], "/s"))
    return goals


def of_groups(grouped: list[Grouped]) -> list[Goal]:
    """Those about threads of one process: at the number of threads with which the most is gained."""
    best = max(grouped, key=lambda one: statistics.median(one.ratios))
    return [_at_least(f"coalesced against single postings, threads: {best.threads}", TIMES_SINGLE, best.ratios, "x")]


def of_growth(grown: Grown, filled: Filled, looked_up: list[LookUps]) -> list[Goal]:
    """Those about a book that has become large; the slowest way of asking counts."""
    slowest = max(looked_up, key=lambda one: one.median)
    return [
        Goal(
            f"balance of the past among {filled.entries:,} entries",
            f"< {MILLISECONDS:g} ms",
            f"{slowest.median:.3f} ms ({slowest.name}; p99 {slowest.p99:.3f} ms)",
            slowest.median < MILLISECONDS,
        ),
        Goal("bytes a settlement", f"<= {BYTES}", f"{grown.total:.0f}", grown.total <= BYTES),
    ]


def _at_least(name: str, wanted: float, measured: list[float], unit: str) -> Goal:
    median = statistics.median(measured)
    form = ",.0f" if unit == "/s" else ".2f"
    shown = f"{median:{form}} {unit} ({min(measured):{form}} to {max(measured):{form}})"
    return Goal(name, f">= {wanted:,g} {unit}", shown, median >= wanted)
