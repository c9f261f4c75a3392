"""A worker has a row for itself for a while, and longer with every step, so that one that dies leaves it to the next.

The row has a column `worked_until`; null: nobody has it. Columns that are given are written with the lease.
"""

from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet

from casino.houses.models import ClockTimestamp


class Ended(Exception):
    """What was worked on has ended meanwhile, or another worker has it."""


def take(row: QuerySet[Any], lease: timedelta, **columns: Any) -> bool:
    """Have the one row that `row` selects for a while; False where another worker has it, or it is not selected."""
    free = Q(worked_until=None) | Q(worked_until__lt=ClockTimestamp())
    return row.filter(free).update(worked_until=ClockTimestamp() + lease, **columns) == 1


def keep(row: QuerySet[Any], lease: timedelta, **columns: Any) -> None:
    """Have it longer. Raises Ended where it is not selected any more."""
    if not row.update(worked_until=ClockTimestamp() + lease, **columns):
        raise Ended


def leave(row: QuerySet[Any]) -> None:
    """Let another worker take it at once."""
    row.update(worked_until=None)
