"""Whether a book is right: the trial balance, and a proof of every promise of the ledger from the rows themselves.

Each check is one SQL statement and so sees one snapshot: all of them may run while others post.
"""

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from ledger import catalogue
from ledger.errors import UnknownSnapshot
from ledger.findings import Finding

Book = str | uuid.UUID


@dataclass(frozen=True, slots=True)
class TrialRow:
    """Accounts of one commodity, kind and code prefix: how many, and their debit and credit balances (both >= 0).

    An account with lanes is one account, and what it holds is their sum.
    """

    commodity: str
    kind: str
    prefix: str
    accounts: int
    debit: int
    credit: int


@dataclass(frozen=True, slots=True)
class TrialBalance:
    """Rows sorted by commodity, kind and prefix, with totals per commodity, in minor units."""

    rows: tuple[TrialRow, ...]

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]]) -> "TrialBalance":
        """From rows of a query: the fields of TrialRow in their order, sums as PostgreSQL gives them."""
        return cls(
            tuple(
                TrialRow(commodity, kind, prefix, count, int(debit), int(credit))
                for commodity, kind, prefix, count, debit, credit in rows
            )
        )

    @property
    def totals(self) -> dict[str, tuple[int, int]]:
        """(debit, credit) per commodity."""
        totals: dict[str, tuple[int, int]] = {}
        for row in self.rows:
            debit, credit = totals.get(row.commodity, (0, 0))
            totals[row.commodity] = (debit + row.debit, credit + row.credit)
        return totals

    @property
    def balanced(self) -> bool:
        """Whether debits equal credits in every commodity."""
        return all(debit == credit for debit, credit in self.totals.values())


def trial_balance(book: Book, *, separator: str = ":", using: str = DEFAULT_DB_ALIAS) -> TrialBalance:
    """Debit and credit balances of a book, summed over accounts whose codes agree up to the first `separator`."""
    with connections[using].cursor() as cursor:
        cursor.execute(
            """
            SELECT a.commodity, a.kind, split_part(a.code, %s, 1) AS prefix, count(*),
                   coalesce(sum(n.net) FILTER (WHERE n.net > 0), 0)::numeric,
                   coalesce(-sum(n.net) FILTER (WHERE n.net < 0), 0)::numeric
            FROM (SELECT coalesce(parent_id, id) AS id, sum(balance * normal_side) AS net
                  FROM ledger_account WHERE book = %s::uuid GROUP BY 1) n
            JOIN ledger_account a ON a.id = n.id
            GROUP BY a.commodity, a.kind, prefix ORDER BY a.commodity, a.kind, prefix
            """,
            (separator, str(book)),
        )
        rows = cursor.fetchall()
    return TrialBalance.of(rows)


#: What the checks read: the whole book, or what came after a snapshot. `old` are the accounts as the snapshot has them,
#: `new_entry` the entries behind their versions, `new_transaction` and `new_leg` the transactions from the first of
#: these on with all their legs, `span` that first one and when the snapshot was taken.
_WHOLE = """
    WITH old AS (SELECT account_id, version, balance FROM ledger_snapshot_line WHERE false),
    span AS (SELECT 0::bigint AS first, '-infinity'::timestamptz AS began_at),
    new_entry AS NOT MATERIALIZED (SELECT * FROM ledger_entry),
    new_leg AS NOT MATERIALIZED (SELECT * FROM ledger_entry),
    new_transaction AS NOT MATERIALIZED (SELECT * FROM ledger_transaction)
"""
_SINCE = """
    WITH old AS MATERIALIZED (
        SELECT l.account_id, l.version, l.balance
        FROM ledger_snapshot s JOIN ledger_snapshot_line l ON l.snapshot_id = s.id
        WHERE s.book = %(book)s AND s.name = %(since)s),
    new_entry AS MATERIALIZED (
        SELECT e.* FROM ledger_account a LEFT JOIN old o ON o.account_id = a.id
        CROSS JOIN LATERAL (SELECT * FROM ledger_entry WHERE account_id = a.id AND version > coalesce(o.version, 0)
                            OFFSET 0) e
        WHERE a.book = %(book)s AND a.version > coalesce(o.version, 0)),
    span AS MATERIALIZED (
        SELECT coalesce((SELECT min(transaction_id) FROM new_entry), 9223372036854775807) AS first, taken_at AS began_at
        FROM ledger_snapshot WHERE book = %(book)s AND name = %(since)s),
    new_leg AS NOT MATERIALIZED (SELECT * FROM ledger_entry WHERE transaction_id >= (SELECT first FROM span)),
    new_transaction AS NOT MATERIALIZED (
        SELECT * FROM ledger_transaction WHERE id >= (SELECT first FROM span))
"""
CHECKS: dict[str, str] = {
    # Every row is as it was written, and no written row is missing.
    "seals": """
        SELECT (ARRAY['transaction', 'account', 'closing of account', 'period', 'closing of period', 'hold',
                      'end of hold', 'reserve of hold', 'snapshot', 'lines of snapshot', 'assertion'])[kind]
               || ' ' || id,
               CASE WHEN there AND sealed THEN 'is not as it was written'
                    WHEN sealed THEN 'is gone' ELSE 'was not written by the ledger' END
        FROM (SELECT coalesce(d.kind, s.kind) AS kind, coalesce(d.id, s.id) AS id,
                     bool_or(d.hash IS NOT NULL) AS there, bool_or(s.hash IS NOT NULL) AS sealed
              FROM ledger_seals_due(%(book)s, (SELECT first FROM span)) d
              FULL JOIN (SELECT kind, id, hash FROM ledger_seal
                         WHERE book = %(book)s AND (kind <> 1 OR id >= (SELECT first FROM span))) s
                     ON s.kind = d.kind AND s.id = d.id AND s.hash = d.hash
              WHERE d.hash IS NULL OR s.hash IS NULL GROUP BY 1, 2) o
    """,
    # Every commodity of the book nets to zero over all entries.
    "sum_zero": """
        SELECT a.commodity, 'entries sum to ' || sum(e.amount)
        FROM ledger_account a JOIN new_entry e ON e.account_id = a.id
        WHERE a.book = %(book)s GROUP BY a.commodity HAVING sum(e.amount) <> 0
    """,
    # An account's balance is the sum of its entries, and the balance after the last of them.
    "balance": """
        SELECT a.code, 'holds ' || a.balance || ', entries give ' || coalesce(o.balance, 0) + coalesce(s.total, 0)
                       || ', the last one says ' || coalesce(l.balance_after, 0)
        FROM ledger_account a
        LEFT JOIN old o ON o.account_id = a.id
        LEFT JOIN (SELECT e.account_id, sum(b.normal_side * e.amount) AS total FROM new_entry e
                   JOIN ledger_account b ON b.id = e.account_id AND b.book = %(book)s GROUP BY e.account_id) s
               ON s.account_id = a.id
        LEFT JOIN ledger_entry l ON l.account_id = a.id AND l.version = a.version
        WHERE a.book = %(book)s
          AND (a.balance <> coalesce(o.balance, 0) + coalesce(s.total, 0) OR a.balance <> coalesce(l.balance_after, 0))
    """,
    # No account is below its floor plus its reserves, and a closed one is empty.
    "floor": """
        SELECT code, 'holds ' || balance || ', ' || held || ' of it back, floor ' || coalesce(min_balance::text, 'none')
                     || CASE WHEN closed_at IS NULL THEN '' ELSE ', closed' END
        FROM ledger_account
        WHERE book = %(book)s
          AND (balance < min_balance + held OR (closed_at IS NOT NULL AND (balance <> 0 OR held <> 0)))
    """,
    # What an account holds back is what its unreleased reserves add up to.
    "held": """
        SELECT a.code, 'holds back ' || a.held || ', reserves are ' || coalesce(sum(r.amount), 0)
        FROM ledger_account a LEFT JOIN ledger_reserve r ON r.account_id = a.id AND r.released_at IS NULL
        WHERE a.book = %(book)s GROUP BY a.id HAVING a.held <> coalesce(sum(r.amount), 0)
    """,
    # A hold that has ended sets nothing aside; one that was posted has all its postings.
    "holds": """
        SELECT h.key, 'is ' || h.state || ' but sets aside ' || r.amount || ' on account ' || r.account_id
        FROM ledger_hold h JOIN ledger_reserve r ON r.hold_id = h.id AND r.released_at IS NULL
        WHERE h.book = %(book)s AND h.state <> 'pending'
        UNION ALL
        SELECT h.key, 'is pending but released ' || r.amount || ' on account ' || r.account_id
        FROM ledger_hold h JOIN ledger_reserve r ON r.hold_id = h.id AND r.released_at < h.expires_at
        WHERE h.book = %(book)s AND h.state = 'pending'
        UNION ALL
        SELECT h.key, 'is pending but does not keep ' || coalesce(p ->> 'key', 'a posting without key')
        FROM ledger_hold h CROSS JOIN LATERAL jsonb_array_elements(h.postings) p
        LEFT JOIN ledger_claim c ON c.digest = md5(h.book::text || (p ->> 'key'))::uuid
        WHERE h.book = %(book)s AND h.state = 'pending' AND h.expires_at > clock_timestamp()
          AND c.hold_id IS DISTINCT FROM h.id
        UNION ALL
        SELECT h.key, 'is posted but ' || coalesce(p ->> 'key', 'a posting without key') || ' is not'
        FROM ledger_hold h CROSS JOIN LATERAL jsonb_array_elements(h.postings) p
        WHERE h.book = %(book)s AND h.state = 'posted' AND NOT EXISTS (
            SELECT FROM ledger_transaction t
            WHERE md5(t.book::text || t.idempotency_key)::uuid = md5(h.book::text || (p ->> 'key'))::uuid)
        UNION ALL
        SELECT a.code, 'has a reserve of no hold of the book'
        FROM ledger_reserve r JOIN ledger_account a ON a.id = r.account_id
        LEFT JOIN ledger_hold h ON h.id = r.hold_id AND h.book = a.book
        WHERE a.book = %(book)s AND h.id IS NULL
    """,
    # What stands for one another is worth the same: the weights of all balances cancel.
    "weights": """
        SELECT 'the book', 'balances weigh ' || sum(a.weight::numeric * a.normal_side * a.balance)
        FROM ledger_account a WHERE a.book = %(book)s
        HAVING sum(a.weight::numeric * a.normal_side * a.balance) <> 0
    """,
    # Every transaction weighs nothing.
    "backed": """
        SELECT e.transaction_id::text, 'weighs ' || sum(a.weight * e.amount::numeric)
        FROM new_leg e JOIN ledger_account a ON a.id = e.account_id
        WHERE a.book = %(book)s AND a.weight <> 0
        GROUP BY e.transaction_id HAVING sum(a.weight * e.amount::numeric) <> 0
    """,
    # An account with lanes has all of them, each with its attributes, and no entries itself.
    "lanes": """
        SELECT p.code, 'has ' || count(l.id) || ' of ' || p.lanes || ' lanes, ' || p.version || ' entries of its own'
        FROM ledger_account p
        LEFT JOIN ledger_account l ON l.parent_id = p.id AND l.id BETWEEN p.id + 1 AND p.id + p.lanes AND l.lanes = 0
              AND (l.book, l.kind, l.commodity, l.normal_side, l.weight) = (p.book, p.kind, p.commodity, p.normal_side,
                                                                            p.weight)
              AND l.min_balance IS NULL AND (l.closed_at IS NULL) = (p.closed_at IS NULL)
        WHERE p.book = %(book)s AND p.parent_id IS NULL
        GROUP BY p.id
        HAVING count(l.id) <> p.lanes OR (p.lanes > 0 AND (p.version, p.balance, p.held) <> (0, 0, 0))
        UNION ALL
        SELECT l.code, 'is a lane of no account'
        FROM ledger_account l
        LEFT JOIN ledger_account p ON p.id = l.parent_id AND l.id BETWEEN p.id + 1 AND p.id + p.lanes
        WHERE l.book = %(book)s AND l.parent_id IS NOT NULL AND p.id IS NULL
    """,
    # From the first period on every transaction belongs to one of the book.
    "periods": """
        SELECT t.id::text, 'belongs to ' || coalesce('period ' || t.period_id || ', none of the book', 'no period')
        FROM new_transaction t LEFT JOIN ledger_period p ON p.id = t.period_id AND p.book = t.book
        WHERE t.book = %(book)s AND p.id IS NULL
          AND (t.period_id IS NOT NULL
               OR t.posted_at >= (SELECT min(f.opened_at) FROM ledger_period f WHERE f.book = t.book))
    """,
    # A closed period has a snapshot, and no entry that is not in it.
    "closed": """
        SELECT p.name, CASE WHEN s.id IS NULL THEN 'is closed without a snapshot'
                            ELSE 'has entry ' || e.version || ' of account ' || e.account_id || ', after it closed' END
        FROM ledger_period p
        LEFT JOIN ledger_snapshot s ON s.book = p.book AND s.name = 'period ' || p.name
        LEFT JOIN ledger_transaction t ON t.book = p.book AND t.period_id = p.id AND s.id IS NOT NULL
        LEFT JOIN ledger_entry e ON e.transaction_id = t.id
        LEFT JOIN ledger_snapshot_line l ON l.snapshot_id = s.id AND l.account_id = e.account_id
        WHERE p.book = %(book)s AND p.closed_at >= (SELECT began_at FROM span)
          AND (s.id IS NULL OR e.version > coalesce(l.version, 0))
    """,
    # Each line of a snapshot is the balance after the entry of that version, and together they balance.
    "snapshots": """
        SELECT s.name, 'says ' || l.balance || ' of account ' || l.account_id || ' at version ' || l.version
        FROM ledger_snapshot s JOIN ledger_snapshot_line l ON l.snapshot_id = s.id
        LEFT JOIN ledger_account a ON a.id = l.account_id AND a.book = s.book
        LEFT JOIN ledger_entry e ON e.account_id = a.id AND e.version = l.version
        WHERE s.book = %(book)s AND s.taken_at >= (SELECT began_at FROM span)
          AND e.balance_after IS DISTINCT FROM l.balance
        UNION ALL
        SELECT s.name, 'sums to ' || sum(a.normal_side * l.balance) || ' in ' || a.commodity
        FROM ledger_snapshot s JOIN ledger_snapshot_line l ON l.snapshot_id = s.id
        JOIN ledger_account a ON a.id = l.account_id
        WHERE s.book = %(book)s AND s.taken_at >= (SELECT began_at FROM span)
        GROUP BY s.id, a.commodity HAVING sum(a.normal_side * l.balance) <> 0
    """,
    # Every assertion is true.
    "assertions": """
        SELECT coalesce(a.code, s.account_id::text), 'was said to hold ' || s.balance || ' at version ' || s.version
        FROM ledger_assertion s
        LEFT JOIN ledger_account a ON a.id = s.account_id AND a.book = s.book
        LEFT JOIN ledger_entry e ON e.account_id = a.id AND e.version = s.version
        WHERE s.book = %(book)s AND s.asserted_at >= (SELECT began_at FROM span)
          AND (a.id IS NULL OR CASE WHEN s.version = 0 THEN 0 ELSE e.balance_after END IS DISTINCT FROM s.balance)
    """,
    # Versions of an account are 1, 2, 3, ... up to the account's own.
    "versions": """
        SELECT a.code, 'at version ' || a.version || ' with ' || coalesce(o.version, 0) + count(e.version)
                       || ' entries from ' || coalesce(min(e.version), 0) || ' to '
                       || coalesce(max(e.version), o.version, 0)
        FROM ledger_account a LEFT JOIN old o ON o.account_id = a.id LEFT JOIN new_entry e ON e.account_id = a.id
        WHERE a.book = %(book)s GROUP BY a.id, o.version
        HAVING coalesce(o.version, 0) + count(e.version) <> a.version
            OR coalesce(max(e.version), o.version, 0) <> a.version
            OR coalesce(min(e.version), coalesce(o.version, 0) + 1) <> coalesce(o.version, 0) + 1
    """,
    # Each balance_after is the one before plus the amount, on the normal side.
    "chain": """
        SELECT code, 'version ' || version || ' says ' || balance_after || ' after ' || before
        FROM (SELECT a.code, a.normal_side, e.version, e.amount, e.balance_after,
                     lag(e.balance_after, 1, coalesce(o.balance, 0))
                         OVER (PARTITION BY e.account_id ORDER BY e.version) AS before
              FROM new_entry e JOIN ledger_account a ON a.id = e.account_id
              LEFT JOIN old o ON o.account_id = e.account_id WHERE a.book = %(book)s) c
        WHERE balance_after <> before::numeric + normal_side * amount
    """,
    # Times never fall along an account's versions, and the account remembers the last.
    "time": """
        SELECT code, 'version ' || version || ' is earlier than the one before, or not when the account says'
        FROM (SELECT a.code, a.version AS last_version, a.posted_at AS last_posted_at, e.version, t.posted_at,
                     lag(t.posted_at) OVER (PARTITION BY e.account_id ORDER BY e.version) AS before
              FROM new_entry e JOIN ledger_account a ON a.id = e.account_id
              JOIN ledger_transaction t ON t.id = e.transaction_id WHERE a.book = %(book)s) c
        WHERE posted_at < before OR (version = last_version AND posted_at IS DISTINCT FROM last_posted_at)
    """,
    # Every transaction has legs on two accounts at least, all of its own book.
    "legs": """
        SELECT t.id::text,
               'has ' || count(e.account_id) || ' legs on ' || count(DISTINCT a.id) || ' accounts of the book'
        FROM new_transaction t
        LEFT JOIN new_leg e ON e.transaction_id = t.id
        LEFT JOIN ledger_account a ON a.id = e.account_id AND a.book = t.book
        WHERE t.book = %(book)s GROUP BY t.id
        HAVING count(DISTINCT a.id) < 2 OR count(a.id) <> count(e.account_id)
    """,
    # Every entry of the book's accounts belongs to a transaction of the book.
    "orphans": """
        SELECT a.code, 'version ' || e.version || ' belongs to no transaction of the book'
        FROM new_entry e JOIN ledger_account a ON a.id = e.account_id
        LEFT JOIN ledger_transaction t ON t.id = e.transaction_id AND t.book = a.book
        WHERE a.book = %(book)s AND t.id IS NULL
    """,
    # Every transaction sums to zero in each commodity.
    "balanced": """
        SELECT e.transaction_id::text, a.commodity || ' sums to ' || sum(e.amount)
        FROM new_leg e JOIN ledger_account a ON a.id = e.account_id
        WHERE a.book = %(book)s GROUP BY e.transaction_id, a.commodity HAVING sum(e.amount) <> 0
    """,
    # A key posts once, and a transaction is reversed once.
    "once": """
        SELECT idempotency_key, 'posted ' || count(*) || ' transactions'
        FROM new_transaction WHERE book = %(book)s GROUP BY idempotency_key HAVING count(*) > 1
        UNION ALL
        SELECT reverses_id::text, 'is reversed ' || count(*) || ' times'
        FROM new_transaction WHERE book = %(book)s AND reverses_id IS NOT NULL
        GROUP BY reverses_id HAVING count(*) > 1
    """,
    # A reversal mirrors a transaction of the book that is no reversal itself.
    "mirror": """
        SELECT r.id::text, 'is no exact mirror of ' || r.reverses_id
        FROM new_transaction r
        LEFT JOIN ledger_transaction o ON o.id = r.reverses_id AND o.book = r.book AND o.reverses_id IS NULL
        WHERE r.book = %(book)s AND r.reverses_id IS NOT NULL
          AND (o.id IS NULL OR NOT ledger_is_mirror(r.id, r.reverses_id))
    """,
}
"""The promises as queries that return (subject, detail) of what breaks them."""


def verify(
    book: Book,
    *,
    since: str | None = None,
    using: str = DEFAULT_DB_ALIAS,
    newer: Callable[[], Mapping[str, str]] = dict,
) -> list[Finding]:
    """Prove the whole book from its rows, and that the database still has the triggers that guard them.

    An empty list means that every promise holds. What changed rows and their seals alike is not found: compare with
    what was recorded elsewhere (`recorded`). With `since`, the name of a snapshot that was proved before, entries and
    transactions that it covers are not read again; accounts, periods, holds and what else is not posted are. `newer`:
    the catalogue of a release that replaces this one (`catalogue.compare`). Raises UnknownSnapshot.
    """
    if since is not None:
        _require_snapshot(book, since, using)
    found = catalogue.differences(using=using, newer=newer)
    return found + [finding for check in CHECKS for finding in sorted(_run(check, book, using, since), key=_in_order)]


def _require_snapshot(book: Book, name: str, using: str) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT FROM ledger_snapshot WHERE book = %s::uuid AND name = %s", (str(book), name))
        if cursor.fetchone() is None:
            raise UnknownSnapshot(f"The book has no snapshot {name}.", {"name": name})


def _run(check: str, book: Book, using: str, since: str | None) -> Iterator[Finding]:
    span = _WHOLE if since is None else _SINCE
    with connections[using].cursor() as cursor:
        cursor.execute(f"{span} {CHECKS[check]}", {"book": uuid.UUID(str(book)), "since": since})
        for subject, detail in cursor.fetchall():
            yield Finding(check, subject, detail)


def _in_order(finding: Finding) -> tuple[list[str | int], str]:
    """Findings of one check by subject, numbers in it by their size, so that no plan of PostgreSQL decides."""
    parts = re.split(r"(\d+)", finding.subject)
    return [int(part) if part.isdecimal() else part for part in parts], finding.detail


def recorded(book: Book, *, using: str = DEFAULT_DB_ALIAS) -> str:
    """SHA-256, in hexadecimal digits, over all seals of a book: for who records it where the database's owner cannot
    write. The same book gives the same digits while nothing is written; close a period first to say what they are of.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(_RECORDED, {"book": uuid.UUID(str(book))})
        digits: str = cursor.fetchone()[0]
    return digits


_RECORDED = """
SELECT encode(sha256(coalesce(string_agg(int2send(kind) || int8send(id) || hash, ''::bytea ORDER BY kind, id, hash),
                              '')), 'hex')
FROM ledger_seal WHERE book = %(book)s
"""
