"""Settlements per second of every subject in turn, round after round: what the machine does to one it does to all."""

import statistics
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

from tests.bench.ledger import ours, pgbench
from tests.bench.ledger.crowd import Crowd
from tests.bench.ledger.growth import Grown, grown_by
from tests.bench.ledger.subjects import SUBJECTS

Case = tuple[int, bool]
"""How many clients, and whether all of them tax into one account."""
BATCH: Case = (1, False)
"""The one case in which batches are measured."""


class Runs(Protocol):
    """Hands that can be settled."""

    def rate(self, clients: int, seconds: float, *, hot: bool) -> float:
        """Settlements per second."""

    def close(self) -> None:
        """End what runs."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and for how long."""

    clients: tuple[int, ...] = (1, 4, 16)
    rounds: int = 5
    seconds: float = 1.5
    references: bool = True


QUICK = Plan(rounds=1, seconds=0.5)


@dataclass(slots=True)
class Rates:
    """Settlements per second by subject and case, one for each round."""

    titles: dict[str, str]
    rates: dict[tuple[str, Case], list[float]] = field(default_factory=dict)
    latencies: dict[tuple[str, Case], list[tuple[float, float]]] = field(default_factory=dict)
    """Likewise, of the subjects that go through Django: milliseconds of a settlement, median and 99th percentile."""
    statements: dict[str, int] = field(default_factory=dict)
    """Statements a settlement, of those subjects; BEGIN and COMMIT are not counted."""
    grown: Grown | None = None
    """What one of our settlements takes on disk, over all that were made."""

    def median(self, subject: str, case: Case) -> float:
        """Over the rounds."""
        return statistics.median(self.rates[subject, case])

    def ratios(self, subject: str, case: Case, other: str, other_case: Case | None = None) -> list[float]:
        """Round by round."""
        return [
            mine / theirs
            for mine, theirs in zip(self.rates[subject, case], self.rates[other, other_case or case], strict=True)
        ]

    @property
    def ours(self) -> str:
        """The fastest way through Django that the ledger has."""
        return "alone" if "alone" in self.titles else "post"


def measure(plan: Plan) -> Rates:
    """Start every subject, run all of them in turn in each case, round after round."""
    with ExitStack() as stack:
        subjects: dict[str, Runs] = {}
        titles: dict[str, str] = {}
        for name in through_django(plan):
            crowd = subjects[name] = Crowd(name, max(plan.clients))
            titles[name] = SUBJECTS[name].title
            stack.callback(crowd.close)
        tool = pgbench.program()
        for name, make in (("raw", pgbench.raw), ("function", pgbench.function)) if tool else ():
            subject = subjects[name] = make(tool)
            titles[name] = subject.title
        rates = Rates(titles)
        rates.statements = {name: one.statements for name, one in subjects.items() if isinstance(one, Crowd)}
        cases = [(clients, hot) for clients in plan.clients for hot in (False, True)]
        batches = Crowd("batch", 1) if ours.has_batches() else None
        if batches:
            stack.callback(batches.close)
        for subject in subjects.values():  # not counted: connections, plans, first pages
            subject.rate(max(plan.clients), min(plan.seconds, 0.5), hot=False)

        def rounds() -> None:
            for number in range(plan.rounds):
                for case in cases:
                    _round(rates, subjects, case, number, plan.seconds)
                if batches:
                    rate = batches.rate(1, plan.seconds, hot=False)
                    rates.rates.setdefault(("batch", BATCH), []).append(rate)

        rates.grown = grown_by(rounds)
        return rates


def through_django(plan: Plan) -> list[str]:
    """Which subjects this ledger offers."""
    names = ["post"] + ["alone"] * ours.has_alone()
    return names + ["hordak", "plain"] * plan.references


def _round(rates: Rates, subjects: Mapping[str, Runs], case: Case, number: int, seconds: float) -> None:
    """Each subject once; who begins changes from round to round."""
    names = list(subjects)
    turn = number % len(names)
    for name in names[turn:] + names[:turn]:
        clients, hot = case
        subject = subjects[name]
        rates.rates.setdefault((name, case), []).append(subject.rate(clients, seconds, hot=hot))
        if isinstance(subject, Crowd):
            rates.latencies.setdefault((name, case), []).append(subject.latencies[-1])


def table(rates: Rates, plan: Plan) -> list[str]:
    """Medians by subject and clients, and how many times as fast ours is: median (least to most) over the rounds."""
    return [line for hot in (False, True) for line in (*_table(rates, plan, hot), *_latencies(rates, plan, hot))]


def _latencies(rates: Rates, plan: Plan, hot: bool) -> list[str]:
    """Of the subjects that go through Django: statements, and milliseconds of a settlement, medians over the rounds."""
    lines = ["  statements; ms a settlement, p50 and p99 (of the slowest client)"]
    for name, sent in rates.statements.items():
        cells = ""
        for clients in plan.clients:
            halves, ends = zip(*rates.latencies[name, (clients, hot)], strict=True)
            cells += f"{statistics.median(halves):>10.2f} {statistics.median(ends):>9.2f}"
        lines.append(f"  {rates.titles[name]:26}{sent:>3}{cells}")
    return lines


def _table(rates: Rates, plan: Plan, hot: bool) -> list[str]:
    cases: Sequence[Case] = [(clients, hot) for clients in plan.clients]
    heads = "".join(f"{clients:>9} client{'s' if clients > 1 else ' '}  ours is    " for clients in plan.clients)
    lines = [f"{'one house account' if hot else 'spread'}, settlements/s".ljust(28) + heads]
    for name, title in rates.titles.items():
        cells = []
        for case in cases:
            ratios = rates.ratios(rates.ours, case, name)
            times = f"{statistics.median(ratios):5.2f} x ({min(ratios):.2f} to {max(ratios):.2f})"
            cells.append(f"{rates.median(name, case):>8,.0f} {times if name != rates.ours else 'ours':21}")
        lines.append(f"{title:28}" + "".join(cells))
    return lines
