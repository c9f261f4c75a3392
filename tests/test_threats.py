"""The page of threats names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explanation" / "threats.md"


def test_what_holds_a_defence_is_there() -> None:
    named = re.findall(r"`((?:tests|casino)/[\w./-]+)`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_defence_says_what_holds_it() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## By whom")[2].partition("## What is not")[0]
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert len(rows) > 15 and all("`tests/" in row for row in rows)
