"""The bench of reports measures what it says: reports on a generated house whose equalities hold."""

import os
import re
import subprocess
import sys

import pytest

#: Reports that read hands, their replays, the books and the trail.
REPORTS = ("chips", "daily-revenue", "hand-history", "tax-check", "trial-balance")
_LINE = re.compile(r"(\S+) +([\d.]+) s +(\d+) MB .* ([\d,]+) rows .* (\d+) of (\d+) equalities hold")


@pytest.mark.long
def test_reports_on_a_generated_house_hold() -> None:
    """In a process and a database of its own."""
    ours = ("DATABASE_", "REDIS_", "CASINO_", "DJANGO_")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    command = [sys.executable, "-m", "tests.bench.reports", "--catalogue", "--days", "2", "--hands", "3", "--only"]
    done = subprocess.run([*command, *REPORTS], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {line[1]: line for line in map(_LINE.match, done.stdout.splitlines()) if line}
    assert sorted(found) == sorted(REPORTS), done.stdout
    for name, line in found.items():
        assert line[5] == line[6], name
        assert int(line[3]) > 0, name
    # Two days of eight tables with three hands each, and what the house was founded with.
    assert int(found["hand-history"][4].replace(",", "")) > 2 * 8 * 3
