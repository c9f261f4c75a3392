"""Periods: stretches of a book, such as gaming days. A closed period takes no more transactions.

A book has no periods until its first one is opened; from then on every transaction belongs to one. Several may be open,
yesterday's until it is counted and today's: a posting names its period or goes into the newest. Writes need
`transaction.atomic`.
"""

from dataclasses import dataclass
from datetime import datetime

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
