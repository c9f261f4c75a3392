"""The bench of reports measures what it says: reports on a generated house whose equalities hold."""

import json
import os
import re
import subprocess
import sys

import pytest

#: Reports that read hands, their replays, the books and the trail.
REPORTS = ("chips", "daily-revenue", "hand-history", "tax-check", "trial-balance")
_LINE = re.compile(r"(\S+) +([\d.]+) s +[\d.]+ s of CPU +(\d+) MB .* ([\d,]+) rows .* (\d+) of (\d+) equalities hold")
#: What a verification finds of a generated house, printed as JSON.
_VERIFIED = """
import json
from tests.bench.database import database
with database():
    from casino.reports import selectors
    from tests.bench.reports.generated import Size, founded, multiply
    size = Size(days=2, hands=3)
    kit = founded(size)
    multiply(kit.house, size)
    kit.sequence()
    found = selectors.verification(kit.house)
    names = ("audit_findings_by_code", "hand_findings", "custody_findings", "leaf_count", "event_count", "hand_count")
    print(json.dumps({name: found[name] for name in names}))
"""


def _python(*arguments: str) -> str:
    """What a Python of its own says, which knows nothing of this test's database."""
    ours = ("DATABASE_", "REDIS_", "CASINO_", "DJANGO_")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run([sys.executable, *arguments], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_chains_and_the_log_of_a_generated_house_are_whole() -> None:
    """What is found is that one hand was played again and again, and that no event has opened the days."""
    found = json.loads(_python("-c", _VERIFIED).splitlines()[-1])
    again = 2 * 8 * 3
    assert found["hand_count"] == again + 8
    assert found["leaf_count"] == found["event_count"] > 5 * again
    by_code = found["audit_findings_by_code"]
    assert by_code.keys() == {
        "stacks_differ", "table_button_differs", "state_differs", "state_extra", "time_went_back",
    }  # fmt: skip
    assert (by_code["stacks_differ"], by_code["state_extra"], by_code["time_went_back"]) == (again, 2, 8)
    assert not found["hand_findings"] and not found["custody_findings"]


@pytest.mark.long
def test_reports_on_a_generated_house_hold() -> None:
    """In a process and a database of its own."""
    said = _python("-m", "tests.bench.reports", "--catalogue", "--days", "2", "--hands", "3", "--only", *REPORTS)
    found = {line[1]: line for line in map(_LINE.match, said.splitlines()) if line}
    assert sorted(found) == sorted(REPORTS), said
    for name, line in found.items():
        assert line[5] == line[6], name
        assert int(line[3]) > 0, name
    # Two days of eight tables with three hands each, and what the house was founded with.
    assert int(found["hand-history"][4].replace(",", "")) > 2 * 8 * 3
