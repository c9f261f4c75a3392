"""What the deals on record of every game share: how a deal is written out, and how its files are written and read.

A scenario is a table and what its seats say. ``golden/GAME`` holds the deals line by line (``*.txt``) and the counts of
how many ways there are to play one (``perft.json``). Each game's module says how a line reads and what is counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.kernel.hand import Hand
from engine.kernel.setup import Setup

GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True)
class Scenario:
    """``name`` is that of its file; ``lines`` are parted by semicolons, the rest is played by itself."""

    name: str
    title: str
    setup: Setup
    lines: str = ""

    def said(self) -> list[str]:
        """The lines, in their order."""
        return self.lines.split("; ") if self.lines else []

    def heading(self, setup: Setup) -> list[str]:
        """The first rows of its text: title, and the table as the engine has completed it."""
        deck = setup.deck or ()
        return [
            self.title, "=" * len(self.title), "", f"seats    {' '.join(setup.names)}",
            f"options  {json.dumps(dict(setup.opt))}", f"series   {json.dumps(dict(setup.series))}",
            f"deck     {' '.join(deck[:16])}", f"         {' '.join(deck[16:])}", "",
        ]  # fmt: skip


def rows_of(hand: Hand, lines: Sequence[str], step: Callable[[Hand, str], str]) -> list[str]:
    """The lines as `step` writes them, with the deals between them, then every seat's automatic act to the end."""
    rows, waiting = [], list(lines)[::-1]
    while not hand.over:
        line = hand.forced() or (waiting.pop() if waiting else hand.automatic())
        rows.append(step(hand, line or ""))
    assert not waiting, "the deal was over before its lines were said"
    return rows


def counts_text(counts: Mapping[str, object]) -> str:
    """The text of ``perft.json``: a count a line."""
    return "{\n" + ",\n".join(f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in counts.items()) + "\n}\n"


def counts_on_record(game: str) -> dict[str, dict[str, object]]:
    """The counts of a game's golden file, by name."""
    return json.loads((GOLDEN / game / "perft.json").read_text())  # type: ignore[no-any-return]


def publish(texts: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Print the texts, by their files below `GOLDEN`; with ``--write`` write them there. Returns 0, the exit code."""
    for name, text in texts.items():
        if "--write" in arguments:
            (GOLDEN / name).parent.mkdir(exist_ok=True)
            (GOLDEN / name).write_text(text)
        else:
            print(text)
    return 0
