"""What a verification finds, notices and counts."""

from dataclasses import dataclass
from typing import Any


class Unusable(Exception):
    """Input that cannot be read as what it should be: a note, a key, a folder without an export in it."""


KEPT = 500
"""Findings of each code that a report keeps; the rest are only counted, so that none hides those of another code."""
LONGEST = 2_000
"""Characters of what a finding says is wrong."""
LAST = 1 << 62
"""The place of a finding that has no place among the events."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not what it must be: a stable code, the bad place, what is wrong with it.

    `at` is the number of the event, counted over all epochs, where it shows.
    """

    code: str
    place: str
    problem: str
    at: int = LAST

    def as_json(self) -> dict[str, str]:
        """As `--json` prints it."""
        return {"code": self.code, "place": self.place, "problem": self.problem}


#: First words of the codes of the ledger's findings, of the hands', and of those of the house's state.
_PARTS = (
    dict.fromkeys(("transaction", "entry", "account", "unbalanced", "mirror", "balance", "ledger"), 1)
    | dict.fromkeys(("hand", "stacks"), 2)
    | dict.fromkeys(("actor", "device", "drawer", "house", "rehearsal", "same", "signature", "signatures", "state"), 3)
    | dict.fromkeys(("correction", "roles", "table", "terminal"), 3)
)


class Report:
    """What a verification gave: findings, notices (what the reader must know, though nothing is wrong), and counts."""

    KEPT = ("standing",)

    def __init__(self) -> None:
        self.kept: list[Finding] = []
        self.found = 0
        #: How many findings there are of each code.
        self.by_code: dict[str, int] = {}
        self.notices: list[str] = []
        #: For each source of held checkpoints and each epoch: how many there are, and how many leaves they prove.
        self.covered: list[dict[str, Any]] = []
        self.counts: dict[str, int] = dict.fromkeys(
            ("events", "chains", "leaves", "checkpoints", "transactions", "accounts", "hands", "rows"), 0
        )
        #: The number, over all epochs, of the event that is looked at.
        self.now = 0

    @property
    def findings(self) -> list[Finding]:
        """What was found, the first bad place first: of the log, then of the ledger, of hands, and of
        the state; while the log is
        not whole, what it says of the others may not be true."""
        return sorted(self.kept, key=lambda finding: (_PARTS.get(finding.code.split("_")[0], 0), finding.at))

    @property
    def standing(self) -> tuple[int, dict[str, int]]:
        """How many events there were, and what else is counted along."""
        return self.now, {name: self.counts[name] for name in ("hands", "leaves", "checkpoints")}

    @standing.setter
    def standing(self, standing: tuple[int, dict[str, int]]) -> None:
        self.now, counts = standing
        for name, count in counts.items():
            self.counts[name] += count
        self.counts["checkpoints"] -= 1  # the one on which it rests is read again

    def find(self, code: str, place: str, problem: str, at: int | None = None) -> None:
        """Add a finding; its place is the event that is looked at unless `at` says otherwise."""
        self.found += 1
        self.by_code[code] = self.by_code.get(code, 0) + 1
        if self.by_code[code] <= KEPT:
            said = problem if len(problem) <= LONGEST else f"{problem[:LONGEST]}..."
            self.kept.append(Finding(code, place, said, self.now if at is None else at))

    def notice(self, text: str) -> None:
        """Say something that is no finding, once."""
        if text not in self.notices:
            self.notices.append(text)

    def cover(self, source: str, epoch: int, count: int, leaves: int, size: int) -> None:
        """Checkpoints that somebody holds: so many of an epoch, the largest of which proves the first `leaves` of its
        `size` leaves."""
        self.covered.append({"source": source, "epoch": epoch, "checkpoints": count, "leaves": leaves, "of": size})

    def as_json(self) -> dict[str, Any]:
        """Everything, as `--json` prints it."""
        return {
            "ok": not self.found,
            "found": self.found,
            "by_code": dict(sorted(self.by_code.items())),
            "findings": [finding.as_json() for finding in self.findings],
            "notices": self.notices,
            "covered": self.covered,
            "counts": self.counts,
        }


def summary(report: Report, seconds: float) -> str:
    """A report in words."""
    counts = report.counts
    lines = [f"note: {text}" for text in report.notices]
    lines += [
        f"{one['source']}: {one['checkpoints']} checkpoints of epoch {one['epoch']} prove {one['leaves']} of its "
        f"{one['of']} leaves"
        for one in report.covered
    ]
    lines += [f"BAD {finding.code} at {finding.place}: {finding.problem}" for finding in report.findings]
    if report.found > len(report.kept):
        lines += [
            f"and {found - KEPT} more of {code}" for code, found in sorted(report.by_code.items()) if found > KEPT
        ]
    lines.append(", ".join(f"{count:,} {name}" for name, count in counts.items()))
    lines.append(f"{seconds:.1f} s, {counts['events'] / max(seconds, 1e-9):,.0f} events a second")
    lines.append("nothing found" if not report.found else f"{report.found} findings; the first wrong place comes first")
    return "\n".join(map(printable, lines))


def printable(text: str) -> str:
    """A text in which nothing but itself is seen: control characters, those that turn the direction of writing and the
    like stand as escapes."""
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def _escaped(one: str) -> str:
    return one.encode("unicode_escape", "surrogatepass").decode()
