"""The tutorial's requests, taken out of the page and played by a shell against a real server in the order given."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deploy.demo import evening
from deploy.demo.seed import found_house
from tests.installation import Installation

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorial"
#: The table that the pages play at.
TABLE = "T4"
#: Stands between the outputs of two blocks.
MARK = "-- next block --"
#: A block that the reader types, and the block that follows it at once where the page shows an answer.
STEP = re.compile(r"^```bash\n(.*?)^```\n(?:^```(json|)\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@pytest.fixture
def house(installed: Installation, tmp_path: Path) -> tuple[str, str, Path]:
    """A new demo house with the table of the pages: its address, its code, and the file of its logins."""
    _, root = installed.up()
    # To rehearse the others takes longer than the pages.
    credentials = found_house(root, [evening.read(None)[TABLE]]).credentials
    credentials.save(tmp_path)
    return root, credentials.house, tmp_path / f"{credentials.house}.json"


def shortened(shown: Any, answer: Any) -> bool:
    """Whether a shown answer is the real one with members left out; lists are shown whole."""
    if isinstance(shown, dict):
        return isinstance(answer, dict) and all(shortened(one, answer.get(name)) for name, one in shown.items())
    if isinstance(shown, list):
        return isinstance(answer, list) and len(shown) == len(answer) and all(map(shortened, shown, answer))
    return type(shown) is type(answer) and bool(shown == answer)


def steps_of(page: str, replaced: dict[str, str]) -> list[tuple[str, str, str]]:
    """The steps of a page: what is typed, the kind of the answer shown, and the answer; with what is otherwise here.
    Raises AssertionError for a replacement that the page does not have."""
    for written, here in replaced.items():
        assert written in page, written
        page = page.replace(written, here)
    return STEP.findall(page)


def play(steps: list[tuple[str, str, str]], folder: Path = ROOT, before: str = "") -> None:
    """Type the steps into one shell, and compare each answer with the one shown. Raises AssertionError."""
    script = before + "".join(f"{typed}\necho; echo '{MARK}'\n" for typed, _, _ in steps)
    done = subprocess.run(["bash"], input=script, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    outputs = done.stdout.split(f"{MARK}\n")[:-1]
    assert len(outputs) == len(steps), done.stderr
    for (typed, kind, shown), output in zip(steps, outputs, strict=True):
        if kind == "json":
            assert shortened(json.loads(shown), json.loads(output)), (typed, shown, output)
        else:
            assert shown.strip() in output, (typed, shown, output, done.stderr)


TYPED = pytest.mark.skipif(
    not os.environ.get("CI") and not all(map(shutil.which, ("bash", "curl", "jq"))), reason="needs bash, curl and jq"
)


@pytest.mark.slow
@TYPED
def test_the_tutorial_is_what_happens(house: tuple[str, str, Path], tmp_path: Path) -> None:
    url, code, logins = house
    replaced = {
        "http://127.0.0.1:8041": url,
        "LOGINS=var/demo/DEMO-1.json": f"LOGINS={logins}",
        "var/demo/evening-trail": str(tmp_path / "trail"),
        "var/demo/verify.pyz": str(tmp_path / "verify.pyz"),
        ".venv/bin/python": sys.executable,
        "DEMO-1": code,
    }
    steps = steps_of((TUTORIALS / "one-evening.md").read_text(), replaced)
    play(steps)
    assert sum(bool(shown) for _, _, shown in steps) >= 25


@pytest.mark.slow
@TYPED
def test_an_evening_takes_fifteen_requests(house: tuple[str, str, Path], tmp_path: Path) -> None:
    url, _, logins = house
    replaced = {"http://127.0.0.1:8041": url, "LOGINS=var/demo/DEMO-1.json": f"LOGINS={logins}"}
    steps = steps_of((TUTORIALS / "fifteen-requests.md").read_text(), replaced)
    (tmp_path / "var" / "demo").mkdir(parents=True)
    # Every request of the page is made by this command.
    counted = 'curl() { echo >> requests; command curl "$@"; }\n'
    play(steps, tmp_path, counted)
    assert len((tmp_path / "requests").read_text().splitlines()) == 15
    assert sum(bool(shown) for _, _, shown in steps) == 12


@pytest.mark.parametrize(
    ("shown", "answer", "same"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 0}, {"a": False}, False),
        ({"a": {"b": []}}, {"a": {"b": [1]}}, False),
        ([{"a": 1}], [{"a": 1, "b": 2}], True),
        ({"a": None}, {}, True),
        ({"a": 1}, [1], False),
    ],
)
def test_a_shortened_answer_leaves_out_and_changes_nothing(shown: Any, answer: Any, same: bool) -> None:
    assert shortened(shown, answer) == same
