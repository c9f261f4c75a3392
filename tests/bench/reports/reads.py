"""`python -m tests.bench.reports.reads DAYS HANDS`: how many rows each report of the last closed day of a generated
house reads, as JSON.

Rows are those that the server counts for its tables (`pg_stat_user_tables`), in a database of its own.
"""

import json
import sys
from typing import Any

from tests.bench.database import database
from tests.bench.reports.generated import Size

#: What grows with the days.
TABLES = ("audit_event", "audit_posting", "ledger_entry", "ledger_transaction", "hands_hand", "hands_handline")
_READ = """
SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables
WHERE relname = ANY(%s)
"""
_NAMED = {"player": "T1-u1"}


def main(size: Size) -> None:
    """Print it."""
    with database():
        from tests.bench.reports.generated import founded, multiply

        kit = founded(size)
        multiply(kit.house, size)
        print(json.dumps(reads(kit.house)))
        kit.close()


def reads(house: Any) -> dict[str, int]:
    """By report that can be asked for by days."""
    from django.db import connections

    from casino.reports.frame import as_of, registry
    from casino.reports.frame.columns import Sums
    from casino.reports.frame.filters import FROM_DAY
    from casino.reports.frame.report import Scope
    from ledger.models import Period

    day = Period.objects.filter(book=house.id).exclude(closed_at=None).latest("id").name
    moment, found = as_of.now(house), {}
    with connections["default"].cursor() as cursor:
        cursor.execute("SET max_parallel_workers_per_gather = 0")

    def count() -> int:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT pg_stat_force_next_flush()")
            cursor.execute("SELECT 1")
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(_READ, [list(TABLES)])
            [rows] = cursor.fetchone()
        return int(rows)

    for report in registry.reports().values():
        names = {one.name for one in report.filters}
        if FROM_DAY.name not in names:
            continue
        filters = {name: _NAMED[name] for name in names & _NAMED.keys() if name in _required(report)}
        scope, results = Scope(house, moment, filters | {"from": day, "until": day}), {}
        before = count()
        for section in report.sections:
            results[section.name] = sums = Sums(section.columns)
            for row in section.rows(scope):
                sums.add(row)
        list(report.equalities(scope, results))
        found[report.id] = count() - before
    return found


def _required(report: Any) -> set[str]:
    return {one.name for one in report.filters if one.required}


if __name__ == "__main__":
    main(Size(days=int(sys.argv[1]), hands=int(sys.argv[2])))
