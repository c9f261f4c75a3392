"""Cases of a test of which `make test` runs some, and `make long` the others.

What is marked `long` is slow, too: `make test` runs what is not slow, `make slow` what is slow and not long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest


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
