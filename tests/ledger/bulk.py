"""Many entries quickly: written by the tables' owner, thousands in a statement, under the guards of any posting."""

import uuid

from django.db import connections, transaction

from ledger import posting
from ledger.posting import AccountSpec
from tests.ledger.support import OWNER, backdating

LEGS = 4
_TRANSACTIONS = """
    INSERT INTO ledger_transaction (book, idempotency_key, kind, posted_at, metadata)
    SELECT %(book)s, 'bulk-' || n, 'bulk', timestamptz '2026-01-01 00:00Z' + n * %(apart)s::interval,
           jsonb_build_object('n', n)
    FROM generate_series(%(first)s::int, %(last)s::int) n ORDER BY n
"""
_ENTRIES = """
    WITH legs AS (
        SELECT t.id, t.posted_at, l.account, l.amount, a.balance, a.normal_side,
               a.version + row_number() OVER (PARTITION BY l.account ORDER BY t.id) AS version,
               a.balance + a.normal_side * sum(l.amount) OVER (PARTITION BY l.account ORDER BY t.id) AS after
        FROM ledger_transaction t
        CROSS JOIN LATERAL (SELECT (t.metadata->>'n')::bigint AS n) m
        CROSS JOIN LATERAL unnest(%(accounts)s::bigint[],
                                  ARRAY[n %% 97 + 1, n %% 31 + 1, -(n %% 97) - 1, -(n %% 31) - 1]) l(account, amount)
        JOIN ledger_account a ON a.id = l.account
        WHERE t.book = %(book)s AND (t.metadata->>'n')::bigint BETWEEN %(first)s AND %(last)s
    )
    INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after)
    SELECT account, version, id, amount, after FROM legs
"""


def open_bulk() -> tuple[uuid.UUID, list[int]]:
    """A book with two debit and two credit accounts."""
    book = uuid.uuid4()
    sides = (posting.DEBIT, posting.CREDIT, posting.CREDIT, posting.DEBIT)
    specs = [AccountSpec(f"bulk:{number}", "bulk", "EUR", side, None) for number, side in enumerate(sides)]
    with transaction.atomic():
        ids = posting.ensure_accounts(book, specs)
    return book, [ids[spec.code, spec.commodity] for spec in specs]


def fill(book: uuid.UUID, accounts: list[int], first: int, last: int, apart: str = "1 minute") -> None:
    """Transactions number `first` to `last`, each with LEGS entries, so far `apart` from 1 January 2026 on.

    The guard that ties a transaction's time to its database transaction sleeps meanwhile.
    """
    params = {"book": book, "accounts": accounts, "first": first, "last": last, "apart": apart}
    with backdating(), transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        cursor.execute(_TRANSACTIONS, params)
        cursor.execute(_ENTRIES, params)
