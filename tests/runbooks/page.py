"""docs/how-to/runbooks.md: its sections, the commands of each, and the table before them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "runbooks.md"


class Row(NamedTuple):
    """A row of the table: the heading, alerts, and what tries its commands."""

    heading: str
    alerts: list[str]
    tried: list[str]


def text() -> str:
    """The whole page."""
    return PAGE.read_text(encoding="utf-8")


def rows() -> list[Row]:
    """The table."""
    found = re.findall(r"^\| \[(.+?)\]\(#.+?\) \| (.+?) \| (.+?) \|$", text(), re.MULTILINE)
    return [
        Row(heading, re.findall(r"`(\w+)`", alerts), re.findall(r"`(.+?)`", tried)) for heading, alerts, tried in found
    ]


def sections() -> dict[str, str]:
    """What stands under each heading."""
    parts = re.split(r"^## (.+)$", text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands(heading: str) -> list[str]:
    """The commands of a section, in their order."""
    blocks = re.findall(r"^```\n(.*?)^```$", sections()[heading], re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def words(line: str) -> list[str]:
    """A command as its words, without `sudo` and its user."""
    found = shlex.split(line)
    if found[0] == "sudo":
        found = found[3:] if found[1] == "-u" else found[1:]
    return found
