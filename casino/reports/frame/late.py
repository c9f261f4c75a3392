"""What was booked in one gaming day for another: reports of a closed day show it beside their figures, which stay as
they were closed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from casino.bookkeeping.chart import face_value, kind_of
from casino.reports.frame import late_events
from casino.reports.frame.blind import is_blind
from casino.reports.frame.columns import Row, Type, coded, count, day, money, ref, text, time
from casino.reports.frame.filters import DayRange
from casino.reports.frame.reading import stream
from casino.reports.frame.report import Equality, Scope, Section
from casino.reports.frame.span import span

#: Postings that name a day are few, and found by that: in a step of its own, as the planner knows too little of them.
_LATE = """
WITH named AS MATERIALIZED (
    SELECT id, period_id, reverses_id, posted_at, kind, metadata FROM ledger_transaction
    WHERE book = %(house)s AND metadata ? 'for_day' AND id <= %(transaction)s
)
SELECT posted.metadata ->> 'for_day', coalesce(period.name, ''), posted.posted_at, posted.id,
    coalesce(undone.kind, posted.kind), account.code, account.commodity,
    sum(entry.amount * account.normal_side)::bigint,
    coalesce(posted.metadata ->> 'reason', event.doc ->> 'reason', '')
FROM named posted
JOIN ledger_entry entry ON entry.transaction_id = posted.id
JOIN ledger_account account ON account.id = entry.account_id
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
LEFT JOIN ledger_period period ON period.id = posted.period_id
JOIN audit_posting noted ON noted.transaction_id = posted.id
JOIN audit_event event ON event.id = noted.event_id
WHERE account.book = %(house)s AND split_part(account.code, '/', 1) = ANY(%(numbers)s)
AND (%(whole)s OR period.id = ANY(%(periods)s) OR posted.metadata ->> 'for_day' = ANY(%(days)s))
AND coalesce(posted.metadata ->> 'for_day', '') NOT IN ('', coalesce(period.name, ''))
GROUP BY 1, 2, 3, 4, 5, 6, 7, 9 ORDER BY 4, 6, 7
"""


@dataclass(frozen=True, slots=True)
class Late:
    """What one posting moved on one account: minor units on its normal side, of chips their worth."""

    for_day: str
    day: str
    at: datetime
    transaction: int
    kind: str
    code: str
    commodity: str
    amount: int
    reason: str


def late(scope: Scope, numbers: Iterable[str]) -> Iterator[Late]:
    """Postings on the accounts of these numbers that were booked for another day than the one that took them, of which
    the run has asked for one or the other."""
    days, lies = DayRange.of(scope), span(scope)
    asked = {
        "house": scope.house.id, "numbers": list(map(str, numbers)), "transaction": scope.as_of.transaction,
        "whole": lies.is_whole, "periods": lies.ids, "days": lies.names,
    }  # fmt: skip
    for row in stream(_LATE, asked):
        one = Late(*row)
        if days.takes(one.for_day) or days.takes(one.day):
            yield one


def _normal(code: str) -> int:
    return 1


@dataclass(frozen=True, slots=True)
class Later:
    """What a report on the accounts of these numbers says of later adjustments. `takes`: whether a run shows the
    account of a code; `sign`: 1 where an amount stands as it is on the account's normal side, -1 where it stands the
    other way round. What somebody must still count without knowing it is left out."""

    numbers: tuple[str, ...]
    takes: Callable[[Scope, str], bool]
    sign: Callable[[str], int] = _normal

    def section(self) -> Section:
        """The section with every one of them."""
        return Section(
            "later",
            "Later adjustments",
            (
                day("day", "For day"), day("booked_in", "Booked in"), time("at", "At"),
                count("transaction", "Posting", total=False), coded("kind", "Kind"), ref("number", "Account"),
                coded("figure", "Figure"), ref("place", "Place"), money("amount", "Amount"), text("reason", "Reason"),
            ),
            self._rows,
            groups=("day", "number", "place"),
        )  # fmt: skip

    def equalities(self, scope: Scope) -> Iterator[Equality]:
        """The ledger's adjustments against what the events of later work say: how many there are, that each is for and
        of the same days in both, and what they come to."""
        booked = {
            (one.for_day, one.day, one.transaction, one.code, one.commodity): one.amount for one in self._late(scope)
        }
        recorded = {
            (one.for_day, one.day, one.transaction, one.code, one.commodity): one.amount
            for one in late_events.said(scope, self.numbers)
            if self._shows(scope, one.code)
        }
        same = len(booked.items() & recorded.items())
        yield Equality("later adjustments = those of the events", len(booked), len(recorded), Type.COUNT)
        yield Equality("later adjustments that the events have so = all", same, len(booked), Type.COUNT)
        yield Equality(
            "amounts of later adjustments = those of the events",
            sum(amount * self._worth(key[3], key[4]) for key, amount in booked.items()),
            sum(amount * self._worth(key[3], key[4]) for key, amount in recorded.items()),
            Type.MONEY,
        )

    def _rows(self, scope: Scope) -> Iterator[Row]:
        for one in self._late(scope):
            number, _, place = one.code.partition("/")
            yield (
                one.for_day, one.day or None, one.at, one.transaction, one.kind, number, kind_of(one.code).name,
                place, one.amount * self._worth(one.code, one.commodity), one.reason,
            )  # fmt: skip

    def _late(self, scope: Scope) -> Iterator[Late]:
        return (one for one in late(scope, self.numbers) if self._shows(scope, one.code))

    def _shows(self, scope: Scope, code: str) -> bool:
        return self.takes(scope, code) and not is_blind(scope, code)

    def _worth(self, code: str, commodity: str) -> int:
        """What one unit counts as in the section."""
        return face_value(commodity) * self.sign(code)
