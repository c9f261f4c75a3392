"""What moved on accounts, twice over: as the ledger's entries have it, and as the events record their postings.

The two are written apart, and a report compares them. Both are read up to the moment of the report."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.reports.frame.filters import DayRange
from casino.reports.frame.reading import fetched, stream
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
    undone.id IS NOT NULL,
    coalesce(sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side > 0), 0)::bigint,
    coalesce(-sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side < 0), 0)::bigint
FROM ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction posted ON posted.id = entry.transaction_id
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
LEFT JOIN ledger_period period ON period.id = posted.period_id
WHERE account.book = %s AND split_part(account.code, '/', 1) = ANY(%s) AND posted.id <= %s
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""
#: The postings of an event are taken apart as they are read, by several processes of the database: a million of them is
#: not kept. A mirror is recorded by what it reverses: its legs are those of that posting, with the other sign. Mirrors
#: are few, and read by themselves: what the database asks for each posting would keep it from reading in parallel.
_RECORDED = """
WITH leg AS (
    SELECT (one ->> 'tx')::bigint AS tx, CASE WHEN one ->> 'reverses' IS NULL THEN 1 ELSE -1 END AS sign, leg
    FROM audit_event event CROSS JOIN LATERAL jsonb_array_elements(event.doc -> 'postings') one
    CROSS JOIN LATERAL jsonb_array_elements(one -> 'legs') leg
    WHERE event.house_id = %(house)s AND event.id <= %(event)s
    UNION ALL
    SELECT (one ->> 'tx')::bigint, -1, leg
    FROM ledger_transaction mirror JOIN audit_posting noted ON noted.transaction_id = mirror.id
    JOIN audit_event event ON event.id = noted.event_id
    CROSS JOIN LATERAL jsonb_array_elements(event.doc -> 'postings') one
    JOIN audit_posting earlier ON earlier.transaction_id = (one ->> 'reverses')::bigint
    JOIN audit_event before ON before.id = earlier.event_id
    CROSS JOIN LATERAL jsonb_array_elements(before.doc -> 'postings') undone
    CROSS JOIN LATERAL jsonb_array_elements(undone -> 'legs') leg
    WHERE mirror.book = %(house)s AND mirror.reverses_id IS NOT NULL AND event.id <= %(event)s
    AND (one ->> 'tx')::bigint = mirror.id AND one -> 'legs' IS NULL AND undone -> 'tx' = one -> 'reverses'
)
SELECT coalesce(period.name, ''), leg ->> 0, leg ->> 1, sum(sign * (leg ->> 2)::bigint)::bigint
FROM leg JOIN ledger_transaction posted ON posted.id = leg.tx
LEFT JOIN ledger_period period ON period.id = posted.period_id
WHERE split_part(leg ->> 0, '/', 1) = ANY(%(numbers)s) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
#: The same by the days for which they were booked: a box of yesterday that is counted today is one of yesterday.
_RECORDED_FOR = _RECORDED.replace(
    "SELECT coalesce(period.name, '')",
    "SELECT coalesce(nullif(posted.metadata ->> 'for_day', ''), period.name, '')",
)
#: What was posted on one account between events, but for postings of one kind.
_BETWEEN = """
SELECT width_bucket(noted.event_id, %s::bigint[]), account.commodity, sum(entry.amount * account.normal_side)::bigint
FROM ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction posted ON posted.id = entry.transaction_id
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
JOIN audit_posting noted ON noted.transaction_id = posted.id
WHERE account.book = %s AND account.code = %s AND posted.id <= %s AND coalesce(undone.kind, posted.kind) <> %s
GROUP BY 1, 2
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

    @property
    def belongs_to(self) -> str:
        """The gaming day for which it was booked; that in which it was, where none is named."""
        return self.for_day or self.day


@dataclass(frozen=True, slots=True)
class Turned:
    """What postings of one kind, or their mirrors (`undoes`), moved in a day on one account: in and out of it, on its
    normal side."""

    day: str
    code: str
    commodity: str
    kind: str
    undoes: bool
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


def moved_between(scope: Scope, code: str, bounds: Sequence[int], *, but: str) -> dict[tuple[int, str], int]:
    """What moved on the accounts of a code, but for postings of one kind, by part and commodity: part 0 is before the
    first of the `bounds`, ids of events in their order, part 1 from it to the event before the second one, and so
    on."""
    asked = [list(bounds), scope.house.id, code, scope.as_of.transaction, but]
    return {(part, commodity): net for part, commodity, net in fetched(_BETWEEN, asked)}


def turned(scope: Scope, numbers: Iterable[str]) -> list[Turned]:
    """What moved on the accounts of these numbers, by day, account and kind of posting, mirrors apart."""
    return [Turned(*row) for row in fetched(_SUMS, [scope.house.id, list(map(str, numbers)), scope.as_of.transaction])]


def recorded(
    scope: Scope, numbers: Iterable[str], days: DayRange, *, booked_for: bool = False
) -> dict[tuple[str, str], int]:
    """What events say they have posted in these days, or for them, on the accounts of these numbers: debits less
    credits, by code and commodity."""
    statement = _RECORDED_FOR if booked_for else _RECORDED
    found: dict[tuple[str, str], int] = {}
    asked = {"house": scope.house.id, "event": scope.as_of.event, "numbers": list(map(str, numbers))}
    for day, code, commodity, net in fetched(statement, asked):
        if days.takes(day):
            found[code, commodity] = found.get((code, commodity), 0) + net
    return found


def events(scope: Scope, kinds: Sequence[str]) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    """Events of these kinds up to the moment: id, chain, number in the chain, payload; in flat memory."""
    for event, chain, seq, doc in stream(_EVENTS, [scope.house.id, list(kinds), scope.as_of.event]):
        yield event, chain, seq, json.loads(doc)
