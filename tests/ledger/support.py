"""Helpers of the ledger's tests: small books, raw SQL as either role, and hand-made rows for the guards to refuse."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from django.db import DatabaseError, connections, transaction

from ledger import checks, posting
from ledger.errors import LedgerError
from ledger.posting import AccountSpec, Leg, Posted

APP = "default"
OWNER = "owner"
DENIED = "42501"
TABLES = (
    "ledger_account",
    "ledger_transaction",
    "ledger_entry",
    "ledger_period",
    "ledger_hold",
    "ledger_reserve",
    "ledger_snapshot",
    "ledger_snapshot_line",
    "ledger_assertion",
    "ledger_claim",
    "ledger_seal",
)


@dataclass(frozen=True)
class Shop:
    """A book with a till (debit side, no floor), two customers' deposits (credit side, floor 0) and a stock account."""

    book: uuid.UUID
    till: int
    anna: int
    bela: int
    stock: int
    sold: int

    def post(self, key: str, *legs: tuple[int, int], **metadata: Any) -> Posted:
        """Post legs given as (account, amount) in a transaction of its own."""
        with transaction.atomic():
            return posting.post(self.book, key, "test", [Leg(*leg) for leg in legs], metadata)

    def pay_in(self, key: str, customer: int, amount: int) -> Posted:
        """A customer hands in cash."""
        return self.post(key, (self.till, amount), (customer, -amount))


def open_shop() -> Shop:
    """A fresh book with its five accounts."""
    book = uuid.uuid4()
    specs = [
        AccountSpec("till:1", "asset", "EUR", posting.DEBIT, None, 5),
        AccountSpec("deposit:anna", "liability", "EUR", posting.CREDIT),
        AccountSpec("deposit:bela", "liability", "EUR", posting.CREDIT),
        AccountSpec("stock:shelf", "custody", "APPLE", posting.DEBIT, None),
        AccountSpec("stock:sold", "custody", "APPLE", posting.DEBIT, None),
    ]
    with transaction.atomic():
        ids = posting.ensure_accounts(book, specs)
    return Shop(book, *(ids[spec.code, spec.commodity] for spec in specs))


def run(alias: str, sql: str, params: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
    """One statement, committed, as the application (`APP`) or as the owner (`OWNER`)."""
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def sqlstate(expected: str) -> Iterator[None]:
    """The block must fail in the database with exactly this SQLSTATE."""
    with pytest.raises(DatabaseError) as caught:
        yield
    cause = caught.value.__cause__
    assert getattr(cause, "sqlstate", None) == expected, cause


def both_refuse(sql: str, params: Sequence[object], owner_state: str) -> None:
    """The application may not do it at all, and a trigger stops the owner."""
    with sqlstate(DENIED):
        run(APP, sql, params)
    with sqlstate(owner_state):
        run(OWNER, sql, params)


def refusal(kind: type[LedgerError], shop: Shop, *legs: tuple[int, int], key: str = "refused") -> LedgerError:
    """Post what must be refused as `kind`; the book must be exactly as it was."""
    before = picture(shop.book)
    with pytest.raises(kind) as caught:
        shop.post(key, *legs)
    assert type(caught.value) is kind
    assert picture(shop.book) == before
    return caught.value


def picture(book: uuid.UUID) -> list[list[tuple[Any, ...]]]:
    """Every row of a book."""
    return [run(APP, sql, [book]) for sql in _PICTURE]


_OF_ACCOUNTS = "(SELECT id FROM ledger_account WHERE book = %s)"
_PICTURE = (
    "SELECT * FROM ledger_account WHERE book = %s ORDER BY id",
    "SELECT * FROM ledger_transaction WHERE book = %s ORDER BY id",
    f"SELECT * FROM ledger_entry WHERE account_id IN {_OF_ACCOUNTS} ORDER BY account_id, version",
    "SELECT * FROM ledger_period WHERE book = %s ORDER BY id",
    "SELECT * FROM ledger_hold WHERE book = %s ORDER BY id",
    f"SELECT * FROM ledger_reserve WHERE account_id IN {_OF_ACCOUNTS} ORDER BY hold_id, account_id",
    "SELECT * FROM ledger_snapshot WHERE book = %s ORDER BY id",
    f"SELECT * FROM ledger_snapshot_line WHERE account_id IN {_OF_ACCOUNTS} ORDER BY snapshot_id, account_id",
    "SELECT * FROM ledger_assertion WHERE book = %s ORDER BY id",
    "SELECT c.* FROM ledger_claim c JOIN ledger_hold h ON h.id = c.hold_id WHERE h.book = %s ORDER BY c.digest",
    "SELECT * FROM ledger_seal WHERE book = %s ORDER BY kind, id, hash",
)


@dataclass(frozen=True)
class Row:
    """An entry written by hand."""

    account: int
    version: int
    amount: int
    balance_after: int


def forge(
    book: uuid.UUID,
    rows: Sequence[Row],
    *,
    posted_at: datetime | None = None,
    reverses: int | None = None,
    period: int | None = None,
    into: int | None = None,
    alias: str = OWNER,
) -> int:
    """Write a transaction past the posting functions, as its owner can; returns its id.

    `into` adds the rows to a transaction that is there already. A time of the past needs `backdating`.
    """
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        if into is None:
            into = forge_head(cursor, book, posted_at=posted_at, reverses=reverses, period=period)
        write_entries(cursor, [(into, row) for row in rows])
        return into


@contextmanager
def backdating() -> Iterator[None]:
    """Transactions by hand may carry times of the past: the guard that refuses them sleeps meanwhile."""
    run(OWNER, "ALTER TABLE ledger_transaction DISABLE TRIGGER ledger_transaction_stamped")
    try:
        yield
    finally:
        run(OWNER, "ALTER TABLE ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_stamped")


def forge_head(
    cursor: Any,
    book: uuid.UUID,
    *,
    posted_at: datetime | None = None,
    reverses: int | None = None,
    period: int | None = None,
) -> int:
    """Insert a transaction without its entries; returns its id."""
    cursor.execute(
        "INSERT INTO ledger_transaction (book, idempotency_key, kind, posted_at, metadata, reverses_id, period_id)"
        " VALUES (%s, %s, 'forged', coalesce(%s, clock_timestamp()), '{}', %s, %s) RETURNING id",
        [book, f"forged {uuid.uuid4()}", posted_at, reverses, period],
    )
    return int(cursor.fetchone()[0])


def write_entries(cursor: Any, rows: Sequence[tuple[int, Row]]) -> None:
    """Insert entries, given with their transactions, by one statement."""
    cursor.execute(
        "INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after)"
        " SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])",
        [
            [row.account for _, row in rows],
            [row.version for _, row in rows],
            [into for into, _ in rows],
            [row.amount for _, row in rows],
            [row.balance_after for _, row in rows],
        ],
    )


def bare_post(
    alias: str,
    book: uuid.UUID,
    key: str,
    legs: Sequence[tuple[int, int]],
    *,
    reverses: int | None = None,
    function: str = "ledger_post",
) -> list[tuple[Any, ...]]:
    """Call one of the database's own posting functions, past the checks of `posting.post`."""
    accounts, amounts = [account for account, _ in legs], [amount for _, amount in legs]
    if function == "ledger_post_one":
        sql = "SELECT * FROM ledger_post_one(%s, NULL, %s, 'test', '{}', NULL, %s::bigint[], %s::bigint[])"
        return run(alias, sql, [book, key, accounts, amounts])
    return run(
        alias,
        "SELECT * FROM ledger_post(%s, NULL, ARRAY[%s], ARRAY['test'], ARRAY['{}'::jsonb], ARRAY[NULL::timestamptz],"
        " ARRAY[%s::bigint], array_fill(1, ARRAY[%s]), %s::bigint[], %s::bigint[])",
        [book, key, reverses, len(legs), accounts, amounts],
    )


def verified(book: uuid.UUID) -> None:
    """The book must be in order, proved from its rows."""
    assert checks.verify(book) == []
    assert checks.trial_balance(book).balanced
