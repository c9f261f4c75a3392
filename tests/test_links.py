"""Every relative link of the documents leads to something."""

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
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text())
    local = [target for target in targets if not target.startswith(("http:", "https:"))]
    assert [target for target in local if not (path.parent / target).exists()] == []
