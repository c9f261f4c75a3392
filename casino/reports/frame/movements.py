"""What moved on accounts, twice over: as the ledger's entries have it, and as the events record their postings.

The two are written apart, and a report compares them. Both are read up to the moment of the report."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.reports.frame import span
from casino.reports.frame.filters import EVER, DayRange
from casino.reports.frame.reading import balances, fetched, stream
from casino.reports.frame.report import Scope

_POSTED = """
SELECT posted.id, coalesce(undone.kind, posted.kind), posted.reverses_id, coalesce(period.name, ''),
    coalesce(posted.metadata ->> 'for_day', ''), posted.posted_at, account.code, account.commodity,
    (entry.amount * account.normal_side)::bigint, noted.event_id
FROM {entries}
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
LEFT JOIN ledger_period period ON period.id = posted.period_id
JOIN audit_posting noted ON noted.transaction_id = posted.id
WHERE {posted} AND account.book = %(house)s AND split_part(account.code, '/', 1) = ANY(%(numbers)s)
ORDER BY posted.id, account.code, account.commodity, entry.version
"""
_SUMS = """
SELECT coalesce(period.name, ''), account.code, account.commodity, coalesce(undone.kind, posted.kind),
    undone.id IS NOT NULL,
    coalesce(sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side > 0), 0)::bigint,
    coalesce(-sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side < 0), 0)::bigint
FROM {entries}
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
LEFT JOIN ledger_period period ON period.id = posted.period_id
WHERE {posted} AND account.book = %(house)s AND split_part(account.code, '/', 1) = ANY(%(numbers)s)
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""
#: Entries from the accounts on, as the planner likes; and from few transactions on, where it would read all entries of
#: the accounts, knowing nothing of how old they are.
_BY_ACCOUNT = """ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction posted ON posted.id = entry.transaction_id"""
_BY_TRANSACTION = """ledger_transaction posted
CROSS JOIN LATERAL (
    SELECT account_id, version, amount FROM ledger_entry WHERE transaction_id = posted.id OFFSET 0
) entry JOIN ledger_account account ON account.id = entry.account_id"""
#: Which transactions: all up to the moment, or those of periods, which stand together.
_ALL = "posted.id <= %(transaction)s"
_OF_PERIODS = f"{_ALL} AND posted.book = %(house)s AND posted.period_id = ANY(%(periods)s)"
#: Those of periods, or for them wherever they are; and those that some events record.
_FOR_PERIODS = f"""{_ALL} AND posted.book = %(house)s AND (posted.period_id = ANY(%(periods)s)
OR posted.metadata ? 'for_day' AND posted.metadata ->> 'for_day' = ANY(%(days)s))"""
_OF_EVENTS = """posted.id <= %(transaction)s AND posted.id IN (
    SELECT transaction_id FROM audit_posting WHERE event_id = ANY(%(events)s))"""
_NO_PERIOD = "posted.period_id IS NULL"
#: Balances before a day: what a snapshot has, and what was posted in the days that were open when it was taken.
_OPENING = f"""
SELECT code, commodity, sum(amount)::bigint FROM (
    SELECT account.code, account.commodity, line.balance AS amount
    FROM ledger_snapshot_line line JOIN ledger_account account ON account.id = line.account_id
    WHERE line.snapshot_id = %(snapshot)s AND split_part(account.code, '/', 1) = ANY(%(numbers)s)
    UNION ALL
    SELECT account.code, account.commodity, entry.amount * account.normal_side
    FROM {_BY_TRANSACTION}
    LEFT JOIN ledger_snapshot_line line ON line.snapshot_id = %(snapshot)s AND line.account_id = account.id
    WHERE {_OF_PERIODS} AND account.book = %(house)s AND split_part(account.code, '/', 1) = ANY(%(numbers)s)
    AND entry.version > coalesce(line.version, 0)
) moved GROUP BY 1, 2 ORDER BY 1, 2
"""  # noqa: S608 - constants only
#: The postings of an event are taken apart as they are read, by several processes of the database: a million of them is
#: not kept. A mirror is recorded by what it reverses: its legs are those of that posting, with the other sign. Mirrors
#: are few, and read by themselves: what the database asks for each posting would keep it from reading in parallel.
_RECORDED = """
WITH leg AS (
    SELECT (one ->> 'tx')::bigint AS tx, CASE WHEN one ->> 'reverses' IS NULL THEN 1 ELSE -1 END AS sign, leg
    FROM audit_event event CROSS JOIN LATERAL jsonb_array_elements(event.doc -> 'postings') one
    CROSS JOIN LATERAL jsonb_array_elements(one -> 'legs') leg
    WHERE event.house_id = %(house)s AND {events}
    UNION ALL
    SELECT (one ->> 'tx')::bigint, -1, leg
    FROM ledger_transaction mirror JOIN audit_posting noted ON noted.transaction_id = mirror.id
    JOIN audit_event event ON event.id = noted.event_id
    CROSS JOIN LATERAL jsonb_array_elements(event.doc -> 'postings') one
    JOIN audit_posting earlier ON earlier.transaction_id = (one ->> 'reverses')::bigint
    JOIN audit_event before ON before.id = earlier.event_id
    CROSS JOIN LATERAL jsonb_array_elements(before.doc -> 'postings') undone
    CROSS JOIN LATERAL jsonb_array_elements(undone -> 'legs') leg
    WHERE mirror.book = %(house)s AND mirror.reverses_id IS NOT NULL AND {events}
    AND (one ->> 'tx')::bigint = mirror.id AND one -> 'legs' IS NULL AND undone -> 'tx' = one -> 'reverses'
)
SELECT coalesce(period.name, ''), leg ->> 0, leg ->> 1, sum(sign * (leg ->> 2)::bigint)::bigint
FROM leg JOIN ledger_transaction posted ON posted.id = leg.tx AND {posted}
LEFT JOIN ledger_period period ON period.id = posted.period_id
WHERE split_part(leg ->> 0, '/', 1) = ANY(%(numbers)s) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
#: What was posted in later days before a snapshot was taken; without one, all that was.
_LATER = f"""
SELECT coalesce(parent.code, account.code), account.commodity, sum(entry.amount * account.normal_side)::bigint
FROM {_BY_TRANSACTION}
LEFT JOIN ledger_account parent ON parent.id = account.parent_id
LEFT JOIN ledger_snapshot_line line ON line.snapshot_id = %(snapshot)s AND line.account_id = account.id
WHERE {_OF_PERIODS} AND account.book = %(house)s AND split_part(account.code, '/', 1) = ANY(%(numbers)s)
AND (%(snapshot)s::bigint IS NULL OR entry.version <= line.version)
GROUP BY 1, 2
"""  # noqa: S608 - constants only
_SNAPPED = """
SELECT coalesce(parent.code, account.code), account.commodity, sum(line.balance)::bigint
FROM ledger_snapshot_line line JOIN ledger_account account ON account.id = line.account_id
LEFT JOIN ledger_account parent ON parent.id = account.parent_id
WHERE line.snapshot_id = %s AND split_part(account.code, '/', 1) = ANY(%s) GROUP BY 1, 2
"""
#: The same by the days for which they were booked: a box of yesterday that is counted today is one of yesterday.
_RECORDED_FOR = _RECORDED.replace(
    "SELECT coalesce(period.name, '')",
    "SELECT coalesce(nullif(posted.metadata ->> 'for_day', ''), period.name, '')",
)
#: Events of days, and others that have posted for them.
_BETWEEN_EVENTS = "event.id BETWEEN %(first)s AND %(last)s"
_AND_FOR_DAYS = f"({_BETWEEN_EVENTS} OR event.id = ANY(%(for_days)s))"
_FOR_DAYS = """
SELECT DISTINCT noted.event_id FROM ledger_transaction posted
JOIN audit_posting noted ON noted.transaction_id = posted.id
WHERE posted.book = %s AND posted.metadata ? 'for_day' AND posted.metadata ->> 'for_day' = ANY(%s)
AND noted.event_id <= %s
"""
#: What `with_opening` says of balances before the first day; no posting is of this kind.
_OPENED = "opening"
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
WHERE event.house_id = %s AND event.doc ->> 'kind' = ANY(%s) AND event.id BETWEEN %s AND %s ORDER BY event.id
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


def moved(scope: Scope, numbers: Iterable[str], days: DayRange = EVER, *, booked_for: bool = False) -> Iterator[Moved]:
    """Every entry on the accounts of these numbers, in the order of the postings, in flat memory; of days with a first
    one, or, where asked, for them, few others."""
    statement, asked = of_days(scope, _POSTED, numbers, days, booked_for=booked_for)
    return (Moved(*row) for row in stream(statement, asked))


def moved_by(scope: Scope, numbers: Iterable[str], by: Iterable[int]) -> Iterator[Moved]:
    """Every entry on the accounts of these numbers that one of these events records."""
    asked = {"house": scope.house.id, "numbers": list(map(str, numbers)), "transaction": scope.as_of.transaction}
    statement = _POSTED.replace("{posted}", _OF_EVENTS).replace("{entries}", _BY_TRANSACTION)
    found = fetched(statement, asked | {"events": list(by)})
    return (Moved(*row) for row in found)


def moved_between(scope: Scope, code: str, bounds: Sequence[int], *, but: str) -> dict[tuple[int, str], int]:
    """What moved on the accounts of a code, but for postings of one kind, by part and commodity: part 0 is before the
    first of the `bounds`, ids of events in their order, part 1 from it to the event before the second one, and so
    on."""
    asked = [list(bounds), scope.house.id, code, scope.as_of.transaction, but]
    return {(part, commodity): net for part, commodity, net in fetched(_BETWEEN, asked)}


def turned(scope: Scope, numbers: Iterable[str], days: DayRange = EVER) -> list[Turned]:
    """What moved on the accounts of these numbers, by day, account and kind of posting, mirrors apart; of days with a
    first one no others."""
    return [Turned(*row) for row in fetched(*of_days(scope, _SUMS, numbers, days))]


def of_days(
    scope: Scope, statement: str, numbers: Iterable[str], days: DayRange, *, booked_for: bool = False
) -> tuple[str, dict[str, Any]]:
    """A statement on `{entries}` of transactions that are `{posted}`, with its parameters `house` and `numbers`: on
    those up to the moment, or, where the days have a first one, of these days, or, where asked, for them too."""
    asked = {"house": scope.house.id, "numbers": list(map(str, numbers)), "transaction": scope.as_of.transaction}
    lies = span.within(scope, days)
    if lies.is_whole:
        return statement.replace("{posted}", _ALL).replace("{entries}", _BY_ACCOUNT), asked
    bounds = _FOR_PERIODS if booked_for else _OF_PERIODS
    statement = statement.replace("{posted}", bounds).replace("{entries}", _BY_TRANSACTION)
    return statement, asked | {"periods": lies.ids, "days": lies.names}


def held_before(scope: Scope, numbers: Iterable[str], day: str | None) -> dict[tuple[str, str], int]:
    """What the accounts of these numbers held before a day, by code and commodity, on their normal side; of those that
    had moved by then. Empty where no day is named."""
    if day is None:
        return {}
    known = span.before(scope, day)
    asked = {"house": scope.house.id, "numbers": list(map(str, numbers)), "transaction": scope.as_of.transaction,
             "snapshot": known.snapshot, "periods": known.periods}  # fmt: skip
    found = {(code, commodity): balance for code, commodity, balance in fetched(_OPENING, asked)}
    if known.snapshot is None:  # what was posted before the first day of all
        statement = _SUMS.replace("{posted}", f"{_ALL} AND {_NO_PERIOD}").replace("{entries}", _BY_ACCOUNT)
        for row in fetched(statement, asked):
            one = Turned(*row)
            found[one.code, one.commodity] = found.get((one.code, one.commodity), 0) + one.net
    return dict(sorted(found.items()))


def held_after(scope: Scope, numbers: Iterable[str], day: str | None) -> dict[tuple[str, str], int]:
    """What the accounts of these numbers held at the end of a day, by code and commodity, on their normal side: by the
    snapshot of its closing, or as long as there is none by their balances. Without a day their balances."""
    wanted = list(map(str, numbers))
    known = span.Basis(None, []) if day is None else span.after(scope, day)
    if known.snapshot is None:
        found = {(one.code, one.commodity): one.balance for one in balances(scope) if one.number in wanted}
    else:
        held = fetched(_SNAPPED, [known.snapshot, wanted])
        found = {(code, commodity): balance for code, commodity, balance in held}
    asked = {"house": scope.house.id, "numbers": wanted, "transaction": scope.as_of.transaction,
             "snapshot": known.snapshot, "periods": known.periods}  # fmt: skip
    for code, commodity, amount in fetched(_LATER, asked) if known.periods else ():
        found[code, commodity] -= amount
    return found


def with_opening(scope: Scope, numbers: Sequence[str], days: DayRange) -> list[Turned]:
    """What moved in these days, after what the accounts held before the first of them: as if that had moved without a
    day, which is before all days."""
    held = held_before(scope, numbers, days.first)
    opened = [
        Turned("", code, commodity, _OPENED, False, max(balance, 0), max(-balance, 0))
        for (code, commodity), balance in held.items()
    ]
    return opened + turned(scope, numbers, days)


def recorded(
    scope: Scope, numbers: Iterable[str], days: DayRange, *, booked_for: bool = False
) -> dict[tuple[str, str], int]:
    """What events say they have posted in these days, or for them, on the accounts of these numbers: debits less
    credits, by code and commodity."""
    statement, lies = _RECORDED_FOR if booked_for else _RECORDED, span.within(scope, days)
    found: dict[tuple[str, str], int] = {}
    statement, asked = of_days(scope, statement, numbers, days, booked_for=booked_for)
    asked |= {"first": lies.first_event, "last": lies.last_event}
    bounds = _BETWEEN_EVENTS
    if booked_for and not lies.is_whole:
        late = fetched(_FOR_DAYS, [scope.house.id, lies.names, scope.as_of.event])
        asked["for_days"], bounds = [event for (event,) in late], _AND_FOR_DAYS
    for day, code, commodity, net in fetched(statement.replace("{events}", bounds), asked):
        if days.takes(day):
            found[code, commodity] = found.get((code, commodity), 0) + net
    return found


def events(scope: Scope, kinds: Sequence[str], days: DayRange = EVER) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    """Events of these kinds up to the moment: id, chain, number in the chain, payload; in flat memory. Of days with a
    first one only those from its opening to the closing of the last one."""
    lies = span.within(scope, days)
    asked = [scope.house.id, list(kinds), lies.first_event, lies.last_event]
    for event, chain, seq, doc in stream(_EVENTS, asked):
        yield event, chain, seq, json.loads(doc)
