"""Every relative link of the documents leads to a file, and to a heading of it where it names one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path
    for folder in ("", "docs", "engine", "ledger", "casino", "deploy")
    for path in (ROOT / folder).glob("**/*.md" if folder else "*.md")
)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", path.read_text())
    local = [target for target in targets if not target.startswith(("http:", "https:"))]
    assert [target for target in local if not leads_somewhere(path, target)] == []


def leads_somewhere(path: Path, target: str) -> bool:
    """Whether the file exists, and has the heading after `#`."""
    name, _, heading = target.partition("#")
    file = path.parent / name if name else path
    return file.exists() and (not heading or heading in headings(file))


def headings(path: Path) -> set[str]:
    """The headings of a page as GitHub names them in links."""
    titles = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_a_link_to_nothing_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n## What this does not prove: `x.y`\n")
    assert leads_somewhere(page, "page.md#what-this-does-not-prove-xy")
    assert leads_somewhere(page, "#a-page")
    assert not leads_somewhere(page, "#another-page")
    assert not leads_somewhere(page, "other.md")
