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
    [asserted] = assert_balances(book, [(account_id, expected, version)], metadata=metadata, using=using)
    return asserted


def assert_balances(
    book: Book,
    stated: Iterable[tuple[int, int, int | None]],
    *,
    metadata: Mapping[str, Any] | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> list[Asserted]:
    """As :func:`assert_balance` for many accounts in one round trip: account, expected balance, and version or None for
    now. All of them hold, or none is written down."""
    wanted = list(stated)
    accounts, expected, versions = ([one[place] for one in wanted] for place in range(3))
    units = [signed(amount) for amount in expected]
    rows = call(using, _ASSERT, (accounts, versions, units, str(book), as_json(metadata or {})))
    return [Asserted(*row) for row in rows]


_ASSERT = """
SELECT made.* FROM
    unnest(%s::bigint[], %s::bigint[], %s::bigint[]) WITH ORDINALITY AS stated (account, version, expected, n)
CROSS JOIN LATERAL ledger_assert_balance(%s::uuid, stated.account, stated.version, stated.expected, %s::jsonb) AS made
ORDER BY stated.n
"""
