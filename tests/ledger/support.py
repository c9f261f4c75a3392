"""Helpers of the ledger's tests: small books, raw SQL as either role, and hand-made rows for the guards to refuse."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from django.db import DatabaseError, connections, transaction

from ledger import posting
from ledger.errors import LedgerError
from ledger.posting import AccountSpec, Leg, Posted

APP = "default"
OWNER = "owner"
DENIED = "42501"


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


def run(alias: str, sql: str, params: Sequence[object] = ()) -> list[tuple[Any, ...]]:
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
    return [
        run(APP, "SELECT * FROM ledger_account WHERE book = %s ORDER BY id", [book]),
        run(APP, "SELECT * FROM ledger_transaction WHERE book = %s ORDER BY id", [book]),
        run(
            APP,
            "SELECT e.* FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id"
            " WHERE a.book = %s ORDER BY account_id, e.version",
            [book],
        ),
    ]


@dataclass(frozen=True)
class Row:
    """An entry written by hand, and what the account's row is made to say with it (None: leave the account alone)."""

    account: int
    version: int
    amount: int
    balance_after: int
    tip: tuple[int, int] | None = None
    """(balance, version); by default what the entry says."""
    touch: bool = True


def forge(
    book: uuid.UUID,
    rows: Sequence[Row],
    *,
    posted_at: datetime | None = None,
    reverses: int | None = None,
    into: int | None = None,
    remembered: str = "0",
    alias: str = OWNER,
) -> int:
    """Write a transaction past the posting functions, as its owner can; returns its id.

    `into` adds the rows to a transaction that is there already; `remembered` is how far the accounts' own
    posted_at is off.
    """
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        if into is None:
            cursor.execute(
                "INSERT INTO ledger_transaction (book, idempotency_key, request_hash, kind, posted_at, metadata,"
                " reverses_id) VALUES (%s, %s, '', 'forged', coalesce(%s, clock_timestamp()), '{}', %s) RETURNING id",
                [book, f"forged {uuid.uuid4()}", posted_at, reverses],
            )
            into = int(cursor.fetchone()[0])
        touched = [row for row in rows if row.touch]
        tips = [row.tip or (row.balance_after, row.version) for row in touched]
        cursor.execute(
            "WITH moved AS (UPDATE ledger_account a SET balance = m.balance, version = m.version,"
            "   posted_at = (SELECT posted_at + %s::interval FROM ledger_transaction WHERE id = %s)"
            "   FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) m(id, balance, version) WHERE a.id = m.id)"
            " INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after)"
            " SELECT account, version, %s, amount, after"
            " FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[]) e(account, version, amount, after)",
            [
                remembered,
                into,
                [row.account for row in touched],
                [balance for balance, _ in tips],
                [version for _, version in tips],
                into,
                [row.account for row in rows],
                [row.version for row in rows],
                [row.amount for row in rows],
                [row.balance_after for row in rows],
            ],
        )
        return into
