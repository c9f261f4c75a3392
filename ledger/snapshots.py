"""Snapshots: what every account held at one instant, written down, and ever after checked against the entries."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import DEFAULT_DB_ALIAS, connections

from ledger.checks import TrialBalance
from ledger.findings import Finding
from ledger.models import Snapshot, SnapshotLine
from ledger.posting import Balance, Book, call, text


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot; `replayed` says that its name had been taken before."""

    snapshot_id: int
    taken_at: datetime
    replayed: bool


def take(book: Book, name: str, *, using: str = DEFAULT_DB_ALIAS) -> Taken:
    """Write down the balance and version of every account that ever moved, all at one instant.

    The same name again returns the first snapshot. Needs `transaction.atomic`.
    """
    rows = call(using, "SELECT * FROM ledger_take_snapshot(%s::uuid, %s::text)", (str(book), text("name", name)))
    return Taken(*rows[0])


def newest(book: Book, *, using: str = DEFAULT_DB_ALIAS) -> str | None:
    """The name of the snapshot that was taken last, None where there is none."""
    found = Snapshot.objects.using(using).filter(book=book).order_by("-taken_at", "-id")
    return found.values_list("name", flat=True).first()


def balances(book: str | uuid.UUID, name: str, *, using: str = DEFAULT_DB_ALIAS) -> dict[int, Balance]:
    """Balances and versions in a snapshot by account id; empty if there is no such snapshot."""
    rows = SnapshotLine.objects.using(using).filter(snapshot__book=book, snapshot__name=name)
    return {account: Balance(balance, version) for account, balance, version in rows.values_list(*_FIELDS)}


_FIELDS = ("account_id", "balance", "version")


def trial_balance(book: Book, name: str, *, separator: str = ":", using: str = DEFAULT_DB_ALIAS) -> TrialBalance:
    """What `checks.trial_balance` would have said when the snapshot was taken, of the accounts that had moved by then.

    Without rows where there is no such snapshot.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(*trial(book, name, separator))
        return TrialBalance.of(cursor.fetchall())


def trial(book: Book, name: str, separator: str = ":") -> tuple[str, list[str]]:
    """What `trial_balance` sends, for who sends it with something else; `TrialBalance.of` takes what it has found."""
    return _TRIAL, [separator, str(book), name]


_TRIAL = """
SELECT a.commodity, a.kind, split_part(a.code, %s, 1) AS prefix, count(*),
       coalesce(sum(n.net) FILTER (WHERE n.net > 0), 0), coalesce(-sum(n.net) FILTER (WHERE n.net < 0), 0)
FROM (SELECT coalesce(o.parent_id, o.id) AS id, sum(l.balance * o.normal_side) AS net
      FROM ledger_snapshot s JOIN ledger_snapshot_line l ON l.snapshot_id = s.id
      JOIN ledger_account o ON o.id = l.account_id
      WHERE s.book = %s::uuid AND s.name = %s GROUP BY 1) n
JOIN ledger_account a ON a.id = n.id
GROUP BY a.commodity, a.kind, prefix ORDER BY a.commodity, a.kind, prefix
"""


def differences(book: Book, name: str, *, after: str | None = None, using: str = DEFAULT_DB_ALIAS) -> list[Finding]:
    """The differences between a snapshot and the sums of the entries; empty if it is right.

    `after` names another snapshot, best the one before, that is taken to be right: then only the entries between the
    two are read. A snapshot that is not there is a finding too; one that lost accounts no longer sums to zero.
    """
    values = {"book": str(book), "name": name, "after": after}
    with connections[using].cursor() as cursor:
        cursor.execute(_DIFFERENCES, values)
        return [Finding("snapshot", subject, detail) for subject, detail in cursor.fetchall()]


_DIFFERENCES = """
WITH named AS (
    SELECT n.name, s.id FROM (SELECT %(name)s::text UNION SELECT %(after)s::text) n(name)
    LEFT JOIN ledger_snapshot s ON s.book = %(book)s::uuid AND s.name = n.name WHERE n.name IS NOT NULL
), lines AS (
    SELECT coalesce(l.account_id, b.account_id) AS account_id, coalesce(l.version, 0) AS version,
           coalesce(l.balance, 0) AS balance, coalesce(b.version, 0) AS from_version,
           coalesce(b.balance, 0) AS from_balance, sign(coalesce(l.version, 0) - coalesce(b.version, 0)) AS way
    FROM (SELECT * FROM ledger_snapshot_line WHERE snapshot_id = (SELECT id FROM named WHERE name = %(name)s)) l
    FULL JOIN (SELECT * FROM ledger_snapshot_line WHERE snapshot_id = (SELECT id FROM named WHERE name = %(after)s)) b
           ON b.account_id = l.account_id
)
SELECT name, 'there is no such snapshot' FROM named WHERE id IS NULL
UNION ALL
SELECT a.code || ' ' || a.commodity,
       'holds ' || l.balance || ' at version ' || l.version || ', its entries give '
       || l.from_balance + l.way * a.normal_side * e.total || ' at version ' || l.from_version + l.way * e.entries
FROM lines l
JOIN ledger_account a ON a.id = l.account_id
CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount), 0) AS total, count(*) AS entries FROM ledger_entry
    WHERE account_id = l.account_id AND version > least(l.version, l.from_version)
      AND version <= greatest(l.version, l.from_version)) e
WHERE l.balance <> l.from_balance + l.way * a.normal_side * e.total
   OR l.version <> l.from_version + l.way * e.entries
UNION ALL
SELECT a.commodity, 'sums to ' || sum(a.normal_side * l.balance)
FROM lines l JOIN ledger_account a ON a.id = l.account_id
GROUP BY a.commodity HAVING sum(a.normal_side * l.balance) <> 0
"""
