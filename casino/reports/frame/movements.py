"""What moved on accounts, twice over: as the ledger's entries have it, and as the events record their postings.

The two are written apart, and a report compares them. Both are read up to the moment of the report."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from casino.reports.frame.filters import DayRange
from casino.reports.frame.reading import stream
from casino.reports.frame.report import Scope

_POSTED = """
SELECT posted.id, coalesce(undone.kind, posted.kind), posted.reverses_id, coalesce(period.name, ''),
    coalesce(posted.metadata ->> 'for_day', ''), posted.posted_at, account.code, account.commodity,
    (entry.amount * account.normal_side)::bigint, noted.event_id
FROM ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction posted ON posted.id = entry.transaction_id
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
LEFT JOIN ledger_period period ON period.id = posted.period_id
JOIN audit_posting noted ON noted.transaction_id = posted.id
WHERE account.book = %s AND split_part(account.code, '/', 1) = ANY(%s) AND posted.id <= %s
ORDER BY posted.id, account.code, account.commodity, entry.version
"""
_SUMS = """
SELECT coalesce(period.name, ''), account.code, account.commodity, coalesce(undone.kind, posted.kind),
    coalesce(sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side > 0), 0)::bigint,
    coalesce(-sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side < 0), 0)::bigint
FROM ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction posted ON posted.id = entry.transaction_id
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
LEFT JOIN ledger_period period ON period.id = posted.period_id
WHERE account.book = %s AND split_part(account.code, '/', 1) = ANY(%s) AND posted.id <= %s
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""
#: A mirror is recorded by what it reverses: its legs are those of that posting, with the other sign.
_RECORDED = """
WITH posting AS (
    SELECT (one ->> 'tx')::bigint AS tx, (one ->> 'reverses')::bigint AS reverses, one -> 'legs' AS legs
    FROM audit_event event CROSS JOIN LATERAL jsonb_array_elements(event.doc -> 'postings') one
    WHERE event.house_id = %s AND event.id <= %s AND event.doc ? 'postings'
)
SELECT coalesce(period.name, ''), leg ->> 0, leg ->> 1,
    sum((leg ->> 2)::bigint * CASE WHEN posting.reverses IS NULL THEN 1 ELSE -1 END)::bigint
FROM posting
LEFT JOIN posting undone ON undone.tx = posting.reverses
CROSS JOIN LATERAL jsonb_array_elements(coalesce(posting.legs, undone.legs)) leg
JOIN ledger_transaction posted ON posted.id = posting.tx
LEFT JOIN ledger_period period ON period.id = posted.period_id
WHERE split_part(leg ->> 0, '/', 1) = ANY(%s) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
_EVENTS = """
SELECT event.id, chain.name, event.seq, event.doc::text FROM audit_event event
JOIN audit_chainhead chain ON chain.id = event.chain_id
WHERE event.house_id = %s AND event.doc ->> 'kind' = ANY(%s) AND event.id <= %s ORDER BY event.id
"""


@dataclass(frozen=True, slots=True)
class Moved:
    """One entry: `amount` is on the account's normal side, in minor units or pieces; `kind` is that of the posting, of
    a mirror that of what it undoes."""

    transaction: int
    kind: str
    undoes: int | None
    day: str
    for_day: str
    at: datetime
    code: str
    commodity: str
    amount: int
    event: int

    @property
    def number(self) -> str:
        """The number of the chart."""
        return self.code.partition("/")[0]

    @property
    def place(self) -> str:
        """What follows the number."""
        return self.code.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Turned:
    """What postings of one kind moved in a day on one account: in and out of it, on its normal side."""

    day: str
    code: str
    commodity: str
    kind: str
    into: int
    out: int

    @property
    def number(self) -> str:
        """The number of the chart."""
        return self.code.partition("/")[0]

    @property
    def place(self) -> str:
        """What follows the number."""
        return self.code.partition("/")[2]

    @property
    def net(self) -> int:
        """In less out."""
        return self.into - self.out


def moved(scope: Scope, numbers: Iterable[str]) -> Iterator[Moved]:
    """Every entry of the accounts of these numbers, in the order of the postings, in flat memory."""
    parameters = [scope.house.id, list(map(str, numbers)), scope.as_of.transaction]
    return (Moved(*row) for row in stream(_POSTED, parameters))


def turned(scope: Scope, numbers: Iterable[str]) -> list[Turned]:
    """What moved on the accounts of these numbers, by day, account and kind of posting."""
    return [Turned(*row) for row in _rows(_SUMS, [scope.house.id, list(map(str, numbers)), scope.as_of.transaction])]


def recorded(scope: Scope, numbers: Iterable[str], days: DayRange) -> dict[tuple[str, str], int]:
    """What events say they have posted in these days on the accounts of these numbers: debits less credits, by code and
    commodity."""
    found: dict[tuple[str, str], int] = {}
    for day, code, commodity, net in _rows(_RECORDED, [scope.house.id, scope.as_of.event, list(map(str, numbers))]):
        if days.takes(day):
            found[code, commodity] = found.get((code, commodity), 0) + net
    return found


def events(scope: Scope, kinds: Sequence[str]) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    """Events of these kinds up to the moment: id, chain, number in the chain, payload; in flat memory."""
    for event, chain, seq, doc in stream(_EVENTS, [scope.house.id, list(kinds), scope.as_of.event]):
        yield event, chain, seq, json.loads(doc)


def _rows(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
