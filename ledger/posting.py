"""The one way into the ledger: open accounts, post, reverse, close.

Every function is one round trip to one PostgreSQL function (`migrations/sql/posting.sql`), must be called inside
`transaction.atomic`, and leaves the database unchanged when it raises. Amounts are integers in the commodity's smallest
unit, debit positive and credit negative; balances count on the account's normal side.
"""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from ledger.errors import AmountOutOfRange, InvalidPosting, NotAtomic, translated

DEBIT = 1
CREDIT = -1
MAX_AMOUNT = 2**63 - 1
"""Largest amount of a leg, either way."""
MAX_TEXT = 255
"""Longest key, kind, account code or commodity, in characters."""

Book = str | uuid.UUID


@dataclass(frozen=True, slots=True)
class Leg:
    """One side of a posting: `amount` minor units onto `account_id`, debit positive, credit negative."""

    account_id: int
    amount: int


@dataclass(frozen=True, slots=True)
class Balance:
    """What an account holds, on its normal side, and the version (number of entries) at which it holds it."""

    balance: int
    version: int


@dataclass(frozen=True, slots=True)
class Posted:
    """What a posting did; `balances` is by account id, `replayed` says that the key had done it before."""

    transaction_id: int
    posted_at: datetime
    balances: Mapping[int, Balance]
    replayed: bool


@dataclass(frozen=True, slots=True)
class AccountSpec:
    """An account to be opened; `normal_side` is DEBIT or CREDIT, `min_balance` None means no floor.

    `lock_rank`: accounts are locked in the order of (lock_rank, id); the more shared, the higher, so that a crowded
    account is held for the shortest time.
    """

    code: str
    kind: str
    commodity: str
    normal_side: int
    min_balance: int | None = 0
    lock_rank: int = 0


def post(
    book: Book,
    key: str,
    kind: str,
    legs: Sequence[Leg],
    metadata: Mapping[str, Any],
    occurred_at: datetime | None = None,
    *,
    using: str = DEFAULT_DB_ALIAS,
) -> Posted:
    """Post one transaction, or find what `key` posted before.

    Legs sum to zero in each commodity and touch at least two accounts of the book; several legs on one account stay
    separate entries, and its floor counts after the last. The same key with the same kind, legs, metadata and
    occurred_at returns the first result with `replayed`; with anything else it raises KeyReused.
    Raises PostingRefused, UnknownAccount, AccountClosed, KeyReused, NotAtomic.
    """
    row = _call(
        using,
        "SELECT * FROM ledger_post(%s::uuid, %s::text, %s::text, %s::bigint[], %s::bigint[], %s::jsonb,"
        " %s::timestamptz)",
        (
            str(book),
            _text("key", key),
            _text("kind", kind),
            [leg.account_id for leg in legs],
            [_amount(leg.amount) for leg in legs],
            _json(metadata),
            _moment(occurred_at),
        ),
    )[0]
    return _posted(row)


def reverse(
    book: Book,
    key: str,
    transaction_id: int,
    metadata: Mapping[str, Any],
    occurred_at: datetime | None = None,
    *,
    kind: str = "reversal",
    using: str = DEFAULT_DB_ALIAS,
) -> Posted:
    """Post the exact mirror of a transaction, linked to it; once per transaction, and never of a reversal.

    Raises ReversalError, and what `post` raises: the mirror too respects floors and closed accounts.
    """
    row = _call(
        using,
        "SELECT * FROM ledger_reverse(%s::uuid, %s::text, %s::text, %s::bigint, %s::jsonb, %s::timestamptz)",
        (str(book), _text("key", key), _text("kind", kind), transaction_id, _json(metadata), _moment(occurred_at)),
    )[0]
    return _posted(row)


def open_account(
    book: Book,
    code: str,
    kind: str,
    commodity: str,
    normal_side: int,
    min_balance: int | None = 0,
    lock_rank: int = 0,
    *,
    using: str = DEFAULT_DB_ALIAS,
) -> int:
    """Open an account, or find it; return its id. Raises AccountDiffers, AccountClosed, InvalidPosting."""
    spec = AccountSpec(code, kind, commodity, normal_side, min_balance, lock_rank)
    return ensure_accounts(book, [spec], using=using)[code, commodity]


def ensure_accounts(
    book: Book, specs: Iterable[AccountSpec], *, using: str = DEFAULT_DB_ALIAS
) -> dict[tuple[str, str], int]:
    """Open those accounts that are not there yet, in one round trip; return ids by (code, commodity).

    One that is open with other attributes raises AccountDiffers, a closed one AccountClosed.
    """
    wanted = list(specs)
    for spec in wanted:
        if spec.normal_side not in (DEBIT, CREDIT):
            raise InvalidPosting(f"normal_side is {spec.normal_side!r}, not 1 or -1")
        if spec.min_balance is not None and not -MAX_AMOUNT <= spec.min_balance <= 0:
            raise InvalidPosting(f"min_balance of {spec.code} is above zero, where the account starts, or out of range")
    rows = _call(
        using,
        "SELECT id, code, commodity FROM ledger_open_accounts(%s::uuid, %s::text[], %s::text[], %s::text[],"
        " %s::smallint[], %s::bigint[], %s::integer[])",
        (
            str(book),
            [_text("code", spec.code) for spec in wanted],
            [_text("kind", spec.kind) for spec in wanted],
            [_text("commodity", spec.commodity) for spec in wanted],
            [spec.normal_side for spec in wanted],
            [spec.min_balance for spec in wanted],
            [spec.lock_rank for spec in wanted],
        ),
    )
    return {(code, commodity): account for account, code, commodity in rows}


def close_account(book: Book, account_id: int, *, using: str = DEFAULT_DB_ALIAS) -> datetime:
    """Close an empty account for good; return when that happened (the first time, if it is closed already).

    Raises AccountNotEmpty, UnknownAccount.
    """
    rows = _call(using, "SELECT ledger_close_account(%s::uuid, %s::bigint)", (str(book), account_id))
    closed_at: datetime = rows[0][0]
    return closed_at


def _call(using: str, sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    connection = connections[using]
    if not connection.in_atomic_block:
        raise NotAtomic("the ledger is written inside transaction.atomic only")
    with translated(using), connection.cursor() as cursor:
        cursor.execute(sql, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _posted(row: tuple[Any, ...]) -> Posted:
    transaction_id, posted_at, replayed, accounts, balances, versions = row
    pairs = zip(accounts, map(Balance, balances, versions), strict=True)
    return Posted(transaction_id, posted_at, dict(pairs), replayed)


def _amount(value: int) -> int:
    if type(value) is not int:
        raise InvalidPosting(f"an amount is an integer of minor units, not {value!r}")
    if not -MAX_AMOUNT <= value <= MAX_AMOUNT:
        raise AmountOutOfRange(f"{value} does not fit a signed 64-bit integer", {"amount": value})
    return value


def _text(name: str, value: str) -> str:
    storable = "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
    if not storable or not 1 <= len(value) <= MAX_TEXT:
        raise InvalidPosting(f"{name} has 1 to {MAX_TEXT} characters, none of them NUL or half a surrogate pair")
    return value


def _json(metadata: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(metadata), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidPosting(f"metadata is not JSON: {error}") from error


def _moment(value: datetime | None) -> datetime | None:
    if value is not None and value.tzinfo is None:
        raise InvalidPosting("occurred_at needs a time zone")
    return value
