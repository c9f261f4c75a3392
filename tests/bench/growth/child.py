"""One house of one size, in a process and a database of its own: it says when it is there, and measures a round when a
line comes in. What it says are lines of JSON."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import astuple

from tests.bench.database import database
from tests.bench.reports.generated import Size

#: Reports that are made of one day.
REPORTS = ("cage-summary", "daily-revenue", "hand-history", "player-statement", "table-result")


def run(size: Size, reports: Sequence[str]) -> None:
    """Until its input ends."""
    with database():
        from tests.bench.growth import house, meter
        from tests.bench.growth.paths import Paths

        began = time.monotonic()
        meter.count_alone()
        grown = house.grow(size)
        _say({"days": size.days, "hands": grown.hands, "rows": grown.rows, "bytes": grown.bytes_each(),
              "seconds": time.monotonic() - began})  # fmt: skip
        paths = Paths(grown, reports)
        for line in sys.stdin:
            found = dict(paths.reports()) if line.strip() == "reports" else paths.round()
            _say({name: astuple(cost) for name, cost in found.items()})
        grown.kit.close()


def _say(what: object) -> None:
    print(json.dumps(what), flush=True)
