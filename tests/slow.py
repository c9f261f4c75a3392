"""Which tests `make test` leaves to `make slow`, and which both leave to `make long`.

`make test` runs what is not slow, `make slow` what is slow and not long; what is marked `long` is slow, too. A test is
slow where its author marked it, or where it took `LEAST` seconds when it was measured: those stand in `slow.txt`, so
that `make test` stays short. Give the reports of new measurements (`make test ARGS="... --junitxml=report.xml"`) to
`python -m tests.slow report.xml`: it takes up what was slow and takes out what was quick, and leaves what was not
measured.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

import pytest

#: The tests that were slow when they were measured, `PATH::TEST` without its cases, a line each.
LIST = Path(__file__).with_name("slow.txt")
#: Seconds that a case of them took, with what it needs set up, on two cores that run two tests at once.
LEAST = 0.65


def listed() -> set[str]:
    """The tests of the list."""
    return set(LIST.read_text().split())


def mark_measured(items: Iterable[pytest.Item]) -> None:
    """What is listed is slow."""
    found = listed()
    for item in items:
        if item.nodeid.partition("[")[0] in found:
            item.add_marker(pytest.mark.slow)


def measured(report: str) -> dict[str, float]:
    """Seconds of a case of each test in a JUnit report, on average."""
    took: dict[str, list[float]] = defaultdict(list)
    for case in ET.fromstring(report).iter("testcase"):
        if case.find("skipped") is None:
            path = case.attrib["classname"].replace(".", "/")
            took[f"{path}.py::{case.attrib['name'].partition('[')[0]}"].append(float(case.attrib["time"]))
    return {test: mean(seconds) for test, seconds in took.items()}


def main(reports: Iterable[str]) -> None:
    """Renew the list by these files."""
    found = listed()
    for report in reports:
        took = measured(Path(report).read_text())
        found = (found - took.keys()) | {test for test, seconds in took.items() if seconds >= LEAST}
    LIST.write_text("".join(f"{test}\n" for test in sorted(found)))


def mark_long_cases(items: Iterable[pytest.Item]) -> None:
    """Of a test marked `some_now(N)` each N-th case, from the first, runs at once; the others are long.

    The cases are counted in the order in which they were collected, over all that the test is parametrized with.
    """
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("some_now")
        if mark is not None:
            (every,) = mark.args
            test = item.nodeid.partition("[")[0]
            if seen[test] % every:
                item.add_marker(pytest.mark.long)
            seen[test] += 1
        if item.get_closest_marker("long") is not None:
            item.add_marker(pytest.mark.slow)


if __name__ == "__main__":
    main(sys.argv[1:])
