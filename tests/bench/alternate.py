"""Alternating runs of a subject and a named reference: what the machine does to one it does to the other."""

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Counted runs of each, after one that is not counted.
RUNS = 7


@dataclass(frozen=True, slots=True)
class Comparison:
    """Medians of units per second, and the median of the ratios run by run."""

    name: str
    unit: str
    subject: float
    reference_name: str
    reference: float
    ratio: float
    low: float
    high: float

    def line(self) -> str:
        """One line for people."""
        return (
            f"{self.name:34} {self.subject:>12,.0f} {self.unit}/s   "
            f"{self.ratio:6.3f} x {self.reference_name} ({self.reference:,.0f}/s; {self.low:.3f} to {self.high:.3f})"
        )


def compare(
    name: str,
    unit: str,
    subject: Callable[[], int],
    reference_name: str,
    reference: Callable[[], int],
    *,
    clock: Callable[[], float] = time.process_time,
    runs: int = RUNS,
) -> Comparison:
    """Run both in turn; each returns how many units it did. `clock` is CPU time unless waiting is what is measured."""
    subject()
    reference()
    pairs = []
    for _ in range(runs):
        pairs.append((_rate(subject, clock), _rate(reference, clock)))
    return compared(name, unit, reference_name, pairs)


def compared(name: str, unit: str, reference_name: str, pairs: Sequence[tuple[float, float]]) -> Comparison:
    """The medians of runs that were made in turn: each pair is a rate of the subject and one of the reference."""
    ratios = [ours / theirs for ours, theirs in pairs]
    return Comparison(
        name=name,
        unit=unit,
        subject=statistics.median(ours for ours, _ in pairs),
        reference_name=reference_name,
        reference=statistics.median(theirs for _, theirs in pairs),
        ratio=statistics.median(ratios),
        low=min(ratios),
        high=max(ratios),
    )


def _rate(job: Callable[[], int], clock: Callable[[], float]) -> float:
    gc.collect()  # neither pays for what the other left behind
    started = clock()
    units = job()
    return units / (clock() - started)
