"""The result of a fault, as a line and as a row of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "faults.md"
BEGIN, END = "<!-- begin: written by make faults -->", "<!-- end -->"
HEAD = (
    "| fault | what happens | hands | sent again, why | longest gap | slowest settlement | well after | violated |",
    "|---|---|---|---|---|---|---|---|",
)


@dataclass(frozen=True)
class Result:
    """What one fault did; times in seconds."""

    name: str
    words: str
    hands: int
    missed: dict[str, int]
    gap: float
    settlement: float
    recovery: float | None
    violations: list[str] = field(default_factory=list)

    def row(self) -> str:
        """A row of the table."""
        missed = ", ".join(f"{count} x {why}" for why, count in sorted(self.missed.items())) or "nothing"
        recovery = "-" if self.recovery is None else f"{self.recovery:.1f} s"
        violated = "; ".join(self.violations) or "nothing"
        cells = (f"`{self.name}`", self.words, self.hands, missed, f"{self.gap:.1f} s", f"{self.settlement:.1f} s")
        return "| " + " | ".join(map(str, (*cells, recovery, violated))) + " |"


def write(results: list[Result]) -> None:
    """Put the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    rows = "\n".join([*HEAD, *(result.row() for result in results)])
    PAGE.write_text(f"{before}{BEGIN}\n{rows}\n{END}{after}", encoding="utf-8")
