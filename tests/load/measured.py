"""What the clients of a run have met, and how it is summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.load.parts import LOG
from tests.percentiles import percentile

#: KB a hand below which a table is not named.
LEAST = 0.1
#: Shares of all that are named.
SHARES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Sample:
    """One answered request: its operation, the moment at which it was due and that of its answer (`monotonic`), and
    the code of the refusal, empty where it was accepted."""

    operation: str
    due: float
    answered: float
    code: str = ""

    @property
    def seconds(self) -> float:
        """How long the client waited, from when the request was due."""
        return self.answered - self.due


@dataclass
class Taken:
    """Samples of all clients; appending to a list is atomic."""

    samples: list[Sample] = field(default_factory=list)
    #: When (`monotonic`) each hand was seen to be settled.
    hands: list[float] = field(default_factory=list)
    #: Why requests were sent again.
    repeated: Counter[str] = field(default_factory=Counter)
    #: Hands that were due when all tables were busy, and begun late.
    late: int = 0


@dataclass(frozen=True)
class Result:
    """One run: what was done in so many seconds. CPU seconds and ages of settlements by the clocks of the servers."""

    name: str
    seconds: float
    taken: Taken
    cpu: dict[str, float]
    #: Seconds from the end of each hand to its settlement.
    ages: list[float]
    #: Hands a second that were asked for; None in the closed loop.
    rate: float | None = None

    @property
    def hands(self) -> int:
        """Hands that were played and settled."""
        return len(self.taken.hands)

    @property
    def hands_a_second(self) -> float:
        """The rate of settled hands."""
        return self.hands / self.seconds

    def latencies(self, operation: str | None = None) -> list[float]:
        """Milliseconds of every accepted request, or of those of one operation, in order of length."""
        found = (one for one in self.taken.samples if not one.code and operation in (None, one.operation))
        return sorted(1000 * one.seconds for one in found)

    @property
    def refusals(self) -> Counter[str]:
        """Refused requests by code."""
        return Counter(one.code for one in self.taken.samples if one.code)

    def lines(self) -> Iterator[str]:
        """For people."""
        made = len(self.taken.samples)
        asked = "" if self.rate is None else f" of {self.rate:.1f} asked for, {self.taken.late} of them begun late"
        yield (
            f"{self.name}: {self.hands} hands in {self.seconds:.1f} s, {self.hands_a_second:.1f} hands/s{asked}, "
            f"{made / self.seconds:.0f} requests/s, {made / max(self.hands, 1):.1f} a hand"
        )
        yield f"  refused: {_counted(self.refusals)}; sent again: {_counted(self.taken.repeated)}"
        for operation in sorted({one.operation for one in self.taken.samples}):
            if found := self.latencies(operation):
                yield f"  {operation:18} {len(found):6}  {shares(found)}"
        yield f"  {'all':18} {made:6}  {shares(self.latencies())}"
        yield f"  {'settlement':18} {len(self.ages):6}  {shares(sorted(1000 * age for age in self.ages))}"
        yield f"  CPU a hand: {self._cpu()}"

    def _cpu(self) -> str:
        if not self.cpu:
            return "not measured here (no /proc)"
        parts = [f"{name} {1000 * used / max(self.hands, 1):.1f} ms" for name, used in self.cpu.items()]
        total = sum(self.cpu.values())
        return f"{', '.join(parts)}; all {1000 * total / max(self.hands, 1):.1f} ms, {total / self.seconds:.2f} cores"


def grown(before: dict[str, int], after: dict[str, int], hands: int) -> str:
    """What each table has grown by for a hand, in KB, the largest first, and all of them together; the write-ahead log,
    which is kept only until it is archived, last."""
    each = {name: (size - before.get(name, 0)) / 1000 / max(hands, 1) for name, size in after.items()}
    log = each.pop(LOG)
    named = [f"{name} {size:.1f} KB" for name, size in sorted(each.items(), key=lambda one: -one[1]) if size >= LEAST]
    return f"disk a hand: {', '.join(named)}; all {sum(each.values()):.1f} KB, {LOG} {log:.1f} KB"


def shares(ordered: Sequence[float]) -> str:
    """Milliseconds at each of `SHARES`, and the longest."""
    named = [f"p{100 * share:.0f} {percentile(ordered, share):7.1f} ms" for share in SHARES]
    return ", ".join([*named, f"longest {percentile(ordered, 1.0):7.1f} ms"])


def _counted(counted: Counter[str]) -> str:
    return ", ".join(f"{count} x {name}" for name, count in counted.most_common()) or "none"
