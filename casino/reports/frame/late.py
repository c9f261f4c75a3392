"""What was booked in one gaming day for another: reports of a closed day show it beside their figures, which stay as
they were closed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from casino.bookkeeping.chart import face_value, kind_of
from casino.reports.frame.blind import is_blind
from casino.reports.frame.columns import Row, coded, count, day, money, ref, text, time
from casino.reports.frame.filters import DayRange
from casino.reports.frame.reading import stream
from casino.reports.frame.report import Scope, Section

_LATE = """
SELECT posted.metadata ->> 'for_day', coalesce(period.name, ''), posted.posted_at, posted.id,
    coalesce(undone.kind, posted.kind), account.code, account.commodity,
    sum(entry.amount * account.normal_side)::bigint,
    coalesce(posted.metadata ->> 'reason', event.doc ->> 'reason', '')
FROM ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction posted ON posted.id = entry.transaction_id
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
LEFT JOIN ledger_period period ON period.id = posted.period_id
JOIN audit_posting noted ON noted.transaction_id = posted.id
JOIN audit_event event ON event.id = noted.event_id
WHERE account.book = %s AND split_part(account.code, '/', 1) = ANY(%s) AND posted.id <= %s
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
    days = DayRange.of(scope)
    for row in stream(_LATE, [scope.house.id, list(map(str, numbers)), scope.as_of.transaction]):
        one = Late(*row)
        if days.takes(one.for_day) or days.takes(one.day):
            yield one


def _normal(code: str) -> int:
    return 1


def adjustments(
    numbers: Iterable[str], takes: Callable[[Scope, str], bool], sign: Callable[[str], int] = _normal
) -> Section:
    """The section of a report on the accounts of these numbers. `takes`: whether a run shows the account of a code;
    `sign`: 1 where an amount stands as it is on the account's normal side, -1 where it stands the other way round. What
    somebody must still count without knowing it is left out."""
    kept = tuple(numbers)

    def rows(scope: Scope) -> Iterator[Row]:
        for one in late(scope, kept):
            if takes(scope, one.code) and not is_blind(scope, one.code):
                number, _, place = one.code.partition("/")
                yield (
                    one.for_day, one.day or None, one.at, one.transaction, one.kind, number, kind_of(one.code).name,
                    place, one.amount * face_value(one.commodity) * sign(one.code), one.reason,
                )  # fmt: skip

    return Section(
        "later",
        "Later adjustments",
        (
            day("day", "For day"), day("booked_in", "Booked in"), time("at", "At"),
            count("transaction", "Posting", total=False), coded("kind", "Kind"), ref("number", "Account"),
            coded("figure", "Figure"), ref("place", "Place"), money("amount", "Amount"), text("reason", "Reason"),
        ),
        rows,
        groups=("day", "number", "place"),
    )  # fmt: skip
