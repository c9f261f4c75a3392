"""Balance assertions: a stated balance of an account, checked when it is recorded and at every verification after
that."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from ledger.posting import Book, as_json, call, signed


@dataclass(frozen=True, slots=True)
class Asserted:
    """An assertion that held, and the version of the account that it speaks of."""

    assertion_id: int
    version: int
    asserted_at: datetime


def assert_balance(
    book: Book,
    account_id: int,
    expected: int,
    *,
    version: int | None = None,
    metadata: Mapping[str, Any] | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> Asserted:
    """Write down that the account holds `expected` (minor units, on its normal side) now, or held it at a version.

    "Now" locks the account until the transaction ends, so that what is decided on the count is decided on this balance.
    Needs `transaction.atomic`. Raises BalanceDiffers with what it holds instead, UnknownAccount (an account with lanes
    has no version itself).
    """
    rows = call(
        using,
        "SELECT * FROM ledger_assert_balance(%s::uuid, %s::bigint, %s::bigint, %s::bigint, %s::jsonb)",
        (str(book), account_id, version, signed(expected), as_json(metadata or {})),
    )
    return Asserted(*rows[0])


def asserting(
    book: Book, stated: Iterable[tuple[int, int, int]], metadata: Mapping[str, Any]
) -> tuple[str, tuple[Any, ...]]:
    """A statement, with its parameters, that writes down what many accounts held: account, expected balance, and how
    many entries ago (0: at the newest one). For who sends it with others, in a transaction, and translates its errors:
    those of :func:`assert_balance`. All of them hold, or none is written down."""
    accounts, expected, ago = zip(*stated, strict=True)
    units = [signed(amount) for amount in expected]
    return _ASSERT, (list(accounts), units, list(ago), str(book), as_json(metadata))


_ASSERT = """
SELECT made.* FROM
    unnest(%s::bigint[], %s::bigint[], %s::bigint[]) WITH ORDINALITY AS stated (account, expected, ago, n)
    JOIN ledger_account a ON a.id = stated.account
    CROSS JOIN LATERAL ledger_assert_balance(%s::uuid, a.id, a.version - stated.ago, stated.expected, %s::jsonb) AS made
ORDER BY stated.n
"""
