"""Periods: stretches of a book, such as gaming days. A closed period takes no more transactions.

A book has no periods until its first one is opened; from then on every transaction belongs to one. Several may be open,
yesterday's until it is counted and today's: a posting names its period or goes into the newest. Its metadata may say,
as `for_day`, to which period it belongs: what is counted late is posted late. Writes need `transaction.atomic`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from ledger.models import Period
from ledger.posting import Book, call, text


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed period and the snapshot of all balances that was taken as it closed."""

    period_id: int
    opened_at: datetime
    closed_at: datetime
    snapshot_id: int


@dataclass(frozen=True, slots=True)
class Turnover:
    """What a period moved on one account: debits and credits (both >= 0, in minor units) and how many entries."""

    account_id: int
    code: str
    commodity: str
    debit: int
    credit: int
    entries: int


@dataclass(frozen=True, slots=True)
class Late:
    """A transaction that belongs to one period and was posted in another: what it moved, by account."""

    transaction_id: int
    kind: str
    period: str
    posted_at: datetime
    metadata: Mapping[str, Any]
    moved: list[Turnover] = field(default_factory=list)


def open_period(book: Book, name: str, *, using: str = DEFAULT_DB_ALIAS) -> int:
    """Open a period, or find it open; returns its id. Raises PeriodNotOpen for one that was closed."""
    rows = call(using, "SELECT id FROM ledger_open_period(%s::uuid, %s::text)", (str(book), text("period", name)))
    period: int = rows[0][0]
    return period


def close_period(book: Book, name: str, *, using: str = DEFAULT_DB_ALIAS) -> Closed:
    """Close a period, after waiting for the postings under way; a repeated call returns the first time.

    Raises PeriodNotOpen for one that never was.
    """
    rows = call(using, "SELECT * FROM ledger_close_period(%s::uuid, %s::text)", (str(book), text("period", name)))
    return Closed(*rows[0])


def periods(book: Book, *, using: str = DEFAULT_DB_ALIAS) -> list[Period]:
    """The book's periods in the order in which they were opened."""
    return list(Period.objects.using(using).filter(book=book).order_by("id"))


def turnover(book: Book, name: str, *, using: str = DEFAULT_DB_ALIAS) -> list[Turnover]:
    """What a period moved, by account; the sum of debits equals that of credits in every commodity."""
    with connections[using].cursor() as cursor:
        cursor.execute(_TURNOVER, {"book": str(book), "name": name})
        return [
            Turnover(account, code, commodity, int(debit), int(credit), entries)
            for account, code, commodity, debit, credit, entries in cursor.fetchall()
        ]


def late(book: Book, name: str, *, using: str = DEFAULT_DB_ALIAS) -> list[Late]:
    """What belongs to a period, by the `for_day` of its metadata, and was posted in another one; the oldest first."""
    found: dict[int, Late] = {}
    with connections[using].cursor() as cursor:
        cursor.execute(_LATE, {"book": str(book), "name": name})
        for number, kind, period, posted_at, metadata, account, code, commodity, debit, credit, entries in cursor:
            one = found.setdefault(number, Late(number, kind, period, posted_at, json.loads(metadata)))
            one.moved.append(Turnover(account, code, commodity, int(debit), int(credit), entries))
    return list(found.values())


_TURNOVER = """
SELECT a.id, a.code, a.commodity, coalesce(sum(e.amount) FILTER (WHERE e.amount > 0), 0),
       coalesce(-sum(e.amount) FILTER (WHERE e.amount < 0), 0), count(*)
FROM ledger_period p
JOIN ledger_transaction t ON t.book = p.book AND t.period_id = p.id
JOIN ledger_entry e ON e.transaction_id = t.id
JOIN ledger_account a ON a.id = e.account_id
WHERE p.book = %(book)s::uuid AND p.name = %(name)s
GROUP BY a.id ORDER BY a.commodity, a.code
"""

_LATE = """
SELECT t.id, t.kind, p.name, t.posted_at, t.metadata::text, a.id, a.code, a.commodity,
       coalesce(sum(e.amount) FILTER (WHERE e.amount > 0), 0),
       coalesce(-sum(e.amount) FILTER (WHERE e.amount < 0), 0), count(*)
FROM ledger_transaction t
JOIN ledger_period p ON p.id = t.period_id
JOIN ledger_entry e ON e.transaction_id = t.id
JOIN ledger_account a ON a.id = e.account_id
WHERE t.book = %(book)s::uuid AND t.metadata ? 'for_day' AND t.metadata ->> 'for_day' = %(name)s AND p.name <> %(name)s
GROUP BY t.id, p.name, a.id ORDER BY t.id, a.commodity, a.code
"""
