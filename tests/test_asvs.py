"""The page of ASVS has every requirement of levels 1 and 2 once, and names what is there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explanation" / "asvs.md"
#: The numbers, each with its level, and where they are from.
NUMBERS = Path(__file__).with_name("asvs.txt")
STATES = ("met", "not applicable: ", "not met: ")
_ROW = re.compile(r"\| (\d+\.\d+\.\d+) \| ([^|]+) \| ([^|]+) \|(?: ([^|]+))? \|")
_FILE = re.compile(r"`((?:[\w.@-]+/)+[\w.@-]+|[\w-]+\.(?:md|toml|lock))`")


def rows() -> list[tuple[str, str, str, str]]:
    """Number, what is asked, whether it is met, and what holds it."""
    found = (_ROW.fullmatch(line) for line in PAGE.read_text(encoding="utf-8").splitlines())
    return [(one[1], one[2], one[3], one[4] or "") for one in found if one]


def test_every_requirement_is_there_once() -> None:
    lines = [line for line in NUMBERS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    numbers = [line.split()[0] for line in lines]
    assert len(numbers) == 253 and {line.split()[1] for line in lines} == {"1", "2"}
    assert [number for number, *_ in rows()] == numbers


def test_every_file_that_is_named_is_there() -> None:
    named = _FILE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 250
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_what_is_met_names_what_holds_it_and_what_is_not_says_why() -> None:
    wrong = [
        number
        for number, _, state, held in rows()
        if not (state == "met" and held)
        and not (state.startswith(STATES[1]) and not held)
        and not (state.startswith(STATES[2]) and _FILE.search(held))
    ]
    assert wrong == []


def test_what_is_not_met_stands_at_the_head_and_the_sums_are_right() -> None:
    text = PAGE.read_text(encoding="utf-8")
    head = text.partition("## What is not met")[2].partition("\n## V1 ")[0]
    missing = {number for number, _, state, _ in rows() if state.startswith(STATES[2])}
    assert set(re.findall(r"\d+\.\d+\.\d+", head)) == missing
    count = Counter(next(one for one in STATES if state.startswith(one)) for _, _, state, _ in rows())
    assert f"| {len(rows())} requirements | " + " | ".join(str(count[one]) for one in STATES) + " |" in text
