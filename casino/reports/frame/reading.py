"""What reports read with: rows in streams of flat memory, and the ledger as it was at a transaction."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connection, transaction

from casino.bookkeeping.chart import kind_of
from casino.reports.frame.report import Scope

#: Rows that are fetched together.
BATCH = 2_000
_BALANCES = """
SELECT coalesce(parent.code, account.code), account.commodity, sum(newest.balance_after)::bigint
FROM ledger_account account
LEFT JOIN ledger_account parent ON parent.id = account.parent_id
CROSS JOIN LATERAL (
    SELECT entry.balance_after FROM ledger_entry entry
    WHERE entry.account_id = account.id AND entry.transaction_id <= %s ORDER BY entry.version DESC LIMIT 1
) newest
WHERE account.book = %s GROUP BY 1, 2 ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Held:
    """What an account held: its code, number and place, its commodity, and its balance on its normal side."""

    code: str
    commodity: str
    balance: int

    @property
    def number(self) -> str:
        """The number of the chart."""
        return self.code.partition("/")[0]

    @property
    def place(self) -> str:
        """What follows the number; empty for accounts of the house."""
        return self.code.partition("/")[2]

    @property
    def kind(self) -> str:
        """The name in the chart."""
        return kind_of(self.code).name


def stream(statement: str, parameters: Sequence[Any] | Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of a query, a batch at a time. All are read: no plan is wanted that has the first of them early."""
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        try:
            with connection.cursor() as setting:
                setting.execute("SET LOCAL cursor_tuple_fraction = 1")
            cursor.execute(statement, parameters)
            while rows := cursor.fetchmany(BATCH):
                yield from rows
        finally:
            # Of a lost connection the first attempt to close the cursor finds that out, and only the second closes it.
            with suppress(psycopg.Error):
                cursor.close()


def fetched(statement: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a query that are few."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def balances(scope: Scope) -> list[Held]:
    """What every account that had moved held at the scope's transaction, by code and commodity. An account's entries
    are in the order of their transactions."""
    with connection.cursor() as cursor:
        cursor.execute(_BALANCES, [scope.as_of.transaction, scope.house.id])
        return [Held(*row) for row in cursor.fetchall()]
