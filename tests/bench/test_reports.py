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
    from casino.reports import verifying
    from tests.bench.reports.generated import Size, founded, multiply
    size = Size(days=2, hands=3)
    kit = founded(size)
    multiply(kit.house, size)
    kit.sequence()
    found = verifying.verification(kit.house)
    names = ("audit_findings_by_code", "hand_findings", "custody_findings", "leaf_count", "event_count", "hand_count")
    print(json.dumps({name: found[name] for name in names}))
"""


def own_python(*arguments: str) -> str:
    """What a Python of its own says, which knows nothing of this test's database."""
    ours = ("DATABASE_", "REDIS_", "CASINO_", "DJANGO_")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run([sys.executable, *arguments], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_chains_and_the_log_of_a_generated_house_are_whole() -> None:
    """What is found is that one hand was played again and again, and that nobody has approved the closings of days,
    which do not say what they carry over."""
    found = json.loads(own_python("-c", _VERIFIED).splitlines()[-1])
    again = 2 * 8 * 3
    assert found["hand_count"] == again + 8
    assert found["leaf_count"] == found["event_count"] > 5 * again
    by_code = found["audit_findings_by_code"]
    assert by_code.keys() == {
        "stacks_differ", "table_button_differs", "state_differs", "time_went_back", "approval_missing", "not_an_event",
    }  # fmt: skip
    assert (by_code["stacks_differ"], by_code["time_went_back"]) == (again, 9)
    assert by_code["approval_missing"] == by_code["not_an_event"] == 2
    assert not found["hand_findings"] and not found["custody_findings"]


@pytest.mark.long
def test_a_report_of_a_day_reads_no_more_where_there_are_more_days_before() -> None:
    """Rows of the tables that grow with the days, in houses of their own. The duty return looks back to the first of
    the month, and sums of flows over windows of weeks: both are left out."""
    few, many = (json.loads(own_python("-m", "tests.bench.reports.reads", days, "72").splitlines()[-1])
                 for days in ("10", "40"))  # fmt: skip
    assert few.keys() == many.keys() and len(few) > 20
    looks_back = {"duty-return", "linked-transactions"}
    # Openings and closings of days are two more events a day; some plans read the rows of all hands while they are few.
    grown = {name: (few[name], rows) for name, rows in many.items() if rows > 1.6 * few[name] + 5_000}
    assert grown.keys() <= looks_back, grown


@pytest.mark.long
def test_reports_on_a_generated_house_hold() -> None:
    """In a process and a database of its own."""
    said = own_python("-m", "tests.bench.reports", "--catalogue", "--days", "2", "--hands", "3", "--only", *REPORTS)
    found = {line[1]: line for line in map(_LINE.match, said.splitlines()) if line}
    assert sorted(found) == sorted(REPORTS), said
    for name, line in found.items():
        assert line[5] == line[6], name
        assert int(line[3]) > 0, name
    # Two days of eight tables with three hands each, and what the house was founded with.
    assert int(found["hand-history"][4].replace(",", "")) > 2 * 8 * 3
