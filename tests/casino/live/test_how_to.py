"""The program in docs/how-to/follow-live.md follows a table, also when it is cut."""

from __future__ import annotations

import re
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest

from casino.staff.models import Role, TerminalKind
from tests.casino.kit import Kit
from tests.casino.live.readers import happen
from tests.deploy.web_and_hints import Running

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "follow-live.md"


@pytest.mark.slow
def test_the_program_of_the_page_follows_a_table(up: Running, kit: Kit) -> None:
    [program] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    kit.table()
    token = kit.token(Role.DEALER, TerminalKind.TABLE, "T1")
    command = [sys.executable, "-c", program, up.root, "T1", token]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            seen = [literal_eval(running.stdout.readline())]
            first = happen(kit.house, "table/T1", version=5)
            seen.append(literal_eval(running.stdout.readline()))
            up.processes.kill("hints")
            happen(kit.house, "table/T1", version=6)
            happen(kit.house, "table/T1", version=7)
            seen += [literal_eval(running.stdout.readline()) for _ in range(2)]
        finally:
            running.kill()
    assert [hint["seq"] for hint in seen] == [first - 1, first, first + 1, first + 2]
    assert [hint["version"] for hint in seen[1:]] == [5, 6, 7]
