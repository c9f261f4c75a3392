"""The one way into the ledger: open accounts, post, reverse, close.

Every function is one round trip to one PostgreSQL function (`migrations/sql/posting.sql`), must be called inside
`transaction.atomic` (`post(..., alone=True)` apart), and leaves the database unchanged when it raises. Amounts are
integers in the commodity's smallest unit, debit positive and credit negative; balances count on the account's normal
side.
"""

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from ledger.errors import AmountOutOfRange, InvalidPosting, NotAtomic, translated

DEBIT = 1
CREDIT = -1
MAX_AMOUNT = 2**62 - 1
"""Largest amount of a leg and of a balance, either way: the sum of two fits the database's 64 bits."""
MAX_RANK = 1023
MAX_LANES = 1000
MAX_TEXT = 255
"""Longest key, kind, account code or commodity, in characters."""

Book = str | uuid.UUID


@dataclass(frozen=True, slots=True)
class Leg:
    """One side of a posting: `amount` minor units onto `account_id`, debit positive, credit negative."""

    account_id: int
    amount: int


@dataclass(frozen=True, slots=True)
class Posting:
    """One transaction to be posted: what `post` takes, for `post_many` and for holds."""

    key: str
    kind: str
    legs: Sequence[Leg]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Balance:
    """What an account holds, on its normal side, and the version (number of entries) at which it holds it."""

    balance: int
    version: int


@dataclass(frozen=True, slots=True)
class Posted:
    """The result of a posting; `replayed` says that the key was posted before.

    `balances` is by the account ids of the legs. Where an account has lanes, it is that of the lane that was posted to.
    """

    transaction_id: int
    posted_at: datetime
    balances: Mapping[int, Balance]
    replayed: bool


@dataclass(frozen=True, slots=True)
class AccountSpec:
    """An account to be opened; `normal_side` is DEBIT or CREDIT, `min_balance` None means no floor.

    `lock_rank` (0 to MAX_RANK): accounts are locked in its order; the more shared, the higher, so that a crowded
    account is held for the shortest time.

    `weight`: over all legs of a transaction the sum of weight * amount must be zero. It joins commodities whose values
    must agree: give the debt that tokens stand for weight 1, and tokens in the public's hands what one is worth.

    `lanes` (0 to MAX_LANES): an account that everybody posts to may be spread over so many rows, so that postings do
    not wait for each other; it holds their sum. It needs `min_balance` None, since no row sees what the others hold.
    """

    code: str
    kind: str
    commodity: str
    normal_side: int
    min_balance: int | None = 0
    lock_rank: int = 0
    weight: int = 0
    lanes: int = 0


def post(
    book: Book,
    key: str,
    kind: str,
    legs: Sequence[Leg],
    metadata: Mapping[str, Any],
    occurred_at: datetime | None = None,
    *,
    period: str | None = None,
    alone: bool = False,
    using: str = DEFAULT_DB_ALIAS,
) -> Posted:
    """Post one transaction, or find what `key` posted before.

    Legs sum to zero in each commodity, and weigh zero, over at least two accounts of the book; several legs on one
    account stay separate entries, and its floor counts after the last. The same key with the same kind, legs, metadata
    and occurred_at returns the first result with `replayed`; with anything else it raises KeyReused. `period` names an
    open period of the book; None means the newest open one.
    `alone`: outside any `transaction.atomic`, as a separate database transaction in one round trip; threads that post
    at once are better served by `group.post`. Raises PostingRefused, UnknownAccount, AccountClosed, PeriodNotOpen,
    KeyReused, NotAtomic.
    """
    posting = Posting(key, kind, legs, metadata, occurred_at)
    return post_with(None, book, posting, period, alone=alone, using=using)


def post_with(
    connection: BaseDatabaseWrapper | None,
    book: Book,
    posting: Posting,
    period: str | None,
    *,
    alone: bool,
    using: str = DEFAULT_DB_ALIAS,
) -> Posted:
    """`post` by a connection that is not this thread's own; None means the thread's."""
    rows = call(using, POST_ONE, one_params(book, posting, period), alone=alone, connection=connection)
    return posted_one(posting, rows[0])


def one_params(book: Book, posting: Posting, period: str | None = None) -> tuple[Any, ...]:
    """The arguments of the database's ledger_post_one (`POST_ONE`), for who sends it with other statements."""
    ordered = sorted(posting.legs, key=_account)
    return (
        str(book),
        period,
        text("key", posting.key),
        text("kind", posting.kind),
        as_json(posting.metadata),
        moment(posting.occurred_at),
        _numbers(leg.account_id for leg in ordered),
        _numbers(signed(leg.amount) for leg in ordered),
    )


def posted_one(posting: Posting, row: tuple[Any, ...]) -> Posted:
    """The answer of the database's ledger_post_one."""
    transaction_id, posted_at, replayed, balances, versions = row
    accounts = [leg.account_id for leg in sorted(posting.legs, key=_account)]
    left = dict(zip(accounts, map(Balance, balances, versions), strict=True))
    return Posted(transaction_id, posted_at, left, replayed)


def post_many(
    book: Book, postings: Sequence[Posting], *, period: str | None = None, using: str = DEFAULT_DB_ALIAS
) -> list[Posted]:
    """Post transactions in one round trip and one database transaction, all or none; answers in their order.

    Each is judged as by `post`, after those before it; one that its key posted before is replayed, the rest are posted.
    Raises what `post` raises, with the key of the posting in `params`; where several are wrong, that of one of them.
    """
    if not postings:
        return []
    return posted(call(using, POST, post_params(book, postings, period))[0])


def reverse(
    book: Book,
    key: str,
    transaction_id: int,
    metadata: Mapping[str, Any],
    occurred_at: datetime | None = None,
    *,
    kind: str = "reversal",
    period: str | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> Posted:
    """Post the exact mirror of a transaction, linked to it; once per transaction, and never of a reversal.

    Raises ReversalError, and what `post` raises: the mirror too respects floors and closed accounts.
    """
    rows = call(
        using,
        "SELECT * FROM ledger_reverse(%s::uuid, %s::text, %s::text, %s::text, %s::bigint, %s::jsonb, %s::timestamptz)",
        (
            str(book),
            period,
            text("key", key),
            text("kind", kind),
            transaction_id,
            as_json(metadata),
            moment(occurred_at),
        ),
    )
    return posted(rows[0])[0]


def find(book: Book, keys: Iterable[str], *, using: str = DEFAULT_DB_ALIAS) -> dict[str, int]:
    """Transaction ids by key, in the order in which they were posted, of those keys that posted something."""
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT t.idempotency_key, t.id FROM unnest(%s::text[]) q(key) JOIN ledger_transaction t"
            " ON md5(t.book::text || t.idempotency_key)::uuid = md5(%s || q.key)::uuid AND t.idempotency_key = q.key"
            " ORDER BY t.id",
            [list(keys), str(uuid.UUID(str(book)))],
        )
        return dict(cursor.fetchall())


def open_account(
    book: Book,
    code: str,
    kind: str,
    commodity: str,
    normal_side: int,
    min_balance: int | None = 0,
    lock_rank: int = 0,
    *,
    weight: int = 0,
    lanes: int = 0,
    using: str = DEFAULT_DB_ALIAS,
) -> int:
    """Open an account, or find it; return its id. Raises AccountDiffers, AccountClosed, InvalidPosting."""
    spec = AccountSpec(code, kind, commodity, normal_side, min_balance, lock_rank, weight, lanes)
    return ensure_accounts(book, [spec], using=using)[code, commodity]


def ensure_accounts(
    book: Book, specs: Iterable[AccountSpec], *, using: str = DEFAULT_DB_ALIAS
) -> dict[tuple[str, str], int]:
    """Open those accounts that are not there yet, in one round trip; return ids by (code, commodity).

    One that is open with other attributes raises AccountDiffers, a closed one AccountClosed.
    """
    return opened(call(using, *opening(book, specs)))


def opening(book: Book, specs: Iterable[AccountSpec]) -> tuple[str, Sequence[Any]]:
    """What `ensure_accounts` sends, for who sends it with something else inside `transaction.atomic`; `opened` takes
    what it has found."""
    wanted = list(specs)
    for spec in wanted:
        _check(spec)
    return (
        "SELECT id, code, commodity FROM ledger_open_accounts(%s::uuid, %s::text[], %s::text[], %s::text[],"
        " %s::smallint[], %s::bigint[], %s::integer[], %s::bigint[], %s::smallint[])",
        (
            str(book),
            [text("code", spec.code) for spec in wanted],
            [text("kind", spec.kind) for spec in wanted],
            [text("commodity", spec.commodity) for spec in wanted],
            [spec.normal_side for spec in wanted],
            [spec.min_balance for spec in wanted],
            [spec.lock_rank for spec in wanted],
            [spec.weight for spec in wanted],
            [spec.lanes for spec in wanted],
        ),
    )


def opened(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[str, str], int]:
    """Ids by (code, commodity), by what `opening` has found."""
    return {(code, commodity): account for account, code, commodity in rows}


def close_account(book: Book, account_id: int, *, using: str = DEFAULT_DB_ALIAS) -> datetime:
    """Close an empty account; returns the time (the first one, if it was closed before).

    Raises AccountNotEmpty, UnknownAccount.
    """
    rows = call(using, "SELECT ledger_close_account(%s::uuid, %s::bigint)", (str(book), account_id))
    closed_at: datetime = rows[0][0]
    return closed_at


def call(
    using: str,
    sql: str,
    params: Sequence[Any],
    *,
    alone: bool = False,
    connection: BaseDatabaseWrapper | None = None,
) -> list[tuple[Any, ...]]:
    """Run one of the ledger's functions and fetch its rows; database errors become the ledger's own.

    `connection` is one of the caller's own instead of the thread's.
    """
    connection = connection or connections[using]
    if alone:
        check_alone(using)
    elif not connection.in_atomic_block:
        raise NotAtomic("the ledger is written inside transaction.atomic only")
    with translated(using), _cursor(connection) as cursor:
        cursor.execute(sql, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def check_alone(using: str) -> None:
    """Raises NotAtomic where a statement by itself would not be committed when it returns."""
    connection = connections[using]
    if connection.in_atomic_block or not connection.get_autocommit():
        raise NotAtomic("a posting by itself needs autocommit, outside transaction.atomic")


@contextmanager
def _cursor(connection: BaseDatabaseWrapper) -> Iterator[Any]:
    """A cursor whose parameters the server binds, so that a statement can stay prepared on its connection (set
    `prepare_threshold` in the database's OPTIONS); Django's own where somebody listens to its queries."""
    connection.ensure_connection()
    if connection.execute_wrappers or connection.queries_logged:
        with connection.cursor() as cursor:
            yield cursor
        return
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        yield cursor


POST_ONE = (
    "SELECT * FROM ledger_post_one(%s::uuid, %s::text, %s::text, %s::text, %s::jsonb, %s::timestamptz, %s::bigint[],"
    " %s::bigint[])"
)
POST = (
    "SELECT * FROM ledger_post(%s::uuid, %s::text, %s::text[], %s::text[], %s::jsonb[], %s::timestamptz[],"
    " %s::bigint[], %s::integer[], %s::bigint[], %s::bigint[])"
)


def post_params(book: Book, postings: Sequence[Posting], period: str | None) -> tuple[Any, ...]:
    """The arguments of the database's ledger_post: an element a posting, then an element a leg, by account."""
    legs = sorted(
        (
            (leg.account_id, number, signed(leg.amount))
            for number, posting in enumerate(postings, 1)
            for leg in posting.legs
        ),
        key=_by_account,
    )
    return (
        str(book),
        period,
        [text("key", posting.key) for posting in postings],
        [text("kind", posting.kind) for posting in postings],
        [as_json(posting.metadata) for posting in postings],
        [moment(posting.occurred_at) for posting in postings],
        [None] * len(postings),
        _numbers(number for _, number, _ in legs),
        _numbers(account for account, _, _ in legs),
        _numbers(amount for _, _, amount in legs),
    )


def _numbers(values: Iterable[int]) -> str:
    """Integers as PostgreSQL writes an array: in batches psycopg's own conversion of lists costs more than the rest."""
    return f"{{{','.join(map(str, values))}}}"


#: Stable, so that several legs on one account keep their order.
_by_account = itemgetter(0, 1)
_account = attrgetter("account_id")


def posted(row: tuple[Any, ...]) -> list[Posted]:
    """The database's answer, an element a posting, with its legs' balances gathered; the last leg of an account has
    what it holds."""
    transactions, posted_at, replayed, numbers, accounts, balances, versions = row
    gathered: list[dict[int, Balance]] = [{} for _ in transactions]
    for number, account, balance, version in zip(numbers, accounts, balances, versions, strict=True):
        gathered[number - 1][account] = Balance(balance, version)
    return [Posted(*one) for one in zip(transactions, posted_at, gathered, replayed, strict=True)]


_LANE = re.compile(r"#[0-9]+\Z")


def _check(spec: AccountSpec) -> None:
    """Refuse an account that makes no sense before the database is asked."""
    if _LANE.search(spec.code):
        raise InvalidPosting(f"{spec.code} is the name of a lane: no account's code ends in # and digits")
    if spec.normal_side not in (DEBIT, CREDIT):
        raise InvalidPosting(f"normal_side is {spec.normal_side!r}, not 1 or -1")
    if spec.min_balance is not None and not -MAX_AMOUNT <= spec.min_balance <= 0:
        raise InvalidPosting(f"min_balance of {spec.code} is above zero, where the account starts, or out of range")
    if not 0 <= spec.lock_rank <= MAX_RANK:
        raise InvalidPosting(f"lock_rank of {spec.code} is 0 to {MAX_RANK}, not {spec.lock_rank}")
    if not 0 <= spec.lanes <= MAX_LANES or (spec.lanes and spec.min_balance is not None):
        raise InvalidPosting(f"lanes of {spec.code} are 0 to {MAX_LANES}, and with lanes min_balance is None")
    if not -MAX_AMOUNT <= spec.weight <= MAX_AMOUNT:
        raise InvalidPosting(f"weight of {spec.code} is beyond {MAX_AMOUNT}")


def signed(value: int) -> int:
    """An amount that fits the database. Raises InvalidPosting, AmountOutOfRange."""
    if type(value) is not int:
        raise InvalidPosting(f"an amount is an integer of minor units, not {value!r}")
    if not -MAX_AMOUNT <= value <= MAX_AMOUNT:
        raise AmountOutOfRange(f"{value} is beyond {MAX_AMOUNT}", {"amount": value})
    return value


def text(name: str, value: str) -> str:
    """A key, kind, code or name that the database can store. Raises InvalidPosting."""
    storable = "\0" not in value and (value.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in value))
    if not storable or not 1 <= len(value) <= MAX_TEXT:
        raise InvalidPosting(f"{name} has 1 to {MAX_TEXT} characters, none of them NUL or half a surrogate pair")
    return value


def as_json(value: Any) -> str:
    """Metadata as JSON text. Raises InvalidPosting."""
    try:
        return json.dumps(dict(value) if isinstance(value, Mapping) else value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidPosting(f"metadata is not JSON: {error}") from error


def moment(value: datetime | None) -> datetime | None:
    """A time with its time zone. Raises InvalidPosting."""
    if value is not None and value.tzinfo is None:
        raise InvalidPosting("occurred_at needs a time zone")
    return value
