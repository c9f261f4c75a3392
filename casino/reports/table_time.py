"""For how long tables were open, and who dealt at them, by gaming day.

A table is paused from the moment its dealer leaves without being relieved until the next one takes over or deals. A
session that goes on into the next gaming day is divided where that day was opened."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from casino.reports.frame.filters import DEALER, DayRange
from casino.reports.frame.reading import stream
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import place

_KINDS = ["day.opened", "day.closed", "table.opened", "table.closed", "dealer.took_over", "dealer.left"]
#: Of the deals only those that end a pause: the first one of a table after its dealer has left.
_EVENTS = """
WITH said AS (
    SELECT id, chain_id, doc ->> 'kind' AS kind, (doc ->> 'at')::timestamptz AS at,
        coalesce(nullif(doc #>> '{data,day}', ''), nullif(doc #>> '{data,dealer}', ''), doc ->> 'actor') AS who
    FROM audit_event WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = ANY(%s)
), resumed AS (
    SELECT DISTINCT deal.id, deal.chain_id, 'hand.dealt', deal.at, deal.who FROM said CROSS JOIN LATERAL (
        SELECT id, chain_id, (doc ->> 'at')::timestamptz AS at, doc ->> 'actor' AS who FROM audit_event
        WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = 'hand.dealt' AND id > said.id
        AND chain_id = said.chain_id ORDER BY id LIMIT 1
    ) deal WHERE said.kind = 'dealer.left'
)
SELECT found.kind, chain.name, found.at, found.who FROM (
    SELECT * FROM said UNION ALL SELECT * FROM resumed
) found JOIN audit_chainhead chain ON chain.id = found.chain_id ORDER BY found.id
"""


@dataclass(slots=True)
class _Table:
    """A table that is open: since when it is not paused, and the dealer who has taken it over."""

    since: datetime | None
    dealer: str = ""
    dealer_since: datetime | None = None


@dataclass(slots=True)
class Times:
    """Seconds by gaming day and table, and by gaming day, table and dealer."""

    tables: dict[tuple[str, str], int] = field(default_factory=dict)
    dealers: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def open_of(self, day: str, table: str) -> int:
        """Seconds that a table was open in a day."""
        return self.tables.get((day, table), 0)

    def of_dealer(self, dealer: str) -> "Times":
        """The same of the turns of one dealer: tables are open while the dealer has them."""
        turns = {key: spent for key, spent in self.dealers.items() if key[2] == dealer}
        return Times({(day, table): spent for (day, table, _), spent in turns.items()}, turns)


class _Clock:
    def __init__(self, days: DayRange) -> None:
        self.range, self.found, self.day = days, Times(), ""
        self.tables: dict[str, _Table] = {}

    def turn(self, now: datetime) -> None:
        """Book what has passed, of every table, up to a moment."""
        for code, table in self.tables.items():
            self.book(code, table, now)
            if table.since is not None:
                table.since = now
            self.book_turn(code, table, now)
            if table.dealer_since is not None:
                table.dealer_since = now

    def book(self, code: str, table: _Table, now: datetime) -> None:
        """Book for how long a table was open."""
        if spent := self.spent(table.since, now):
            sums, key = self.found.tables, (self.day, code)
            sums[key] = sums.get(key, 0) + spent

    def book_turn(self, code: str, table: _Table, now: datetime) -> None:
        """Book for how long its dealer has had it."""
        if spent := self.spent(table.dealer_since, now):
            turns, turn = self.found.dealers, (self.day, code, table.dealer)
            turns[turn] = turns.get(turn, 0) + spent

    def spent(self, since: datetime | None, now: datetime) -> int:
        """Whole seconds; none of a day that is not asked for."""
        return 0 if since is None or not self.range.takes(self.day) else int((now - since).total_seconds())

    def leave(self, code: str, now: datetime) -> None:
        """Book the turn of the dealer of a table, if there is one."""
        table = self.tables[code]
        self.book_turn(code, table, now)
        table.dealer, table.dealer_since = "", None


def times(scope: Scope) -> Times:
    """Of the days, and of the dealer if it names one, that a run asks for, up to its moment."""
    found = counted(_events(scope), DayRange.of(scope), scope.as_of.at)
    dealer = scope.filters.get(DEALER.name)
    return found if dealer is None else found.of_dealer(dealer)


def counted(moments: Iterable[tuple[str, str, datetime, str]], days: DayRange, until: datetime) -> Times:
    """The times that these events make (kind, table, moment, the day or the dealer), in their order, up to a moment."""
    clock, open_days = _Clock(days), list[str]()
    for kind, code, now, who in moments:
        if kind.startswith("day."):
            clock.turn(now)
            open_days = [day for day in open_days if day != who] + ([who] if kind == "day.opened" else [])
            clock.day = open_days[-1] if open_days else ""
        elif kind == "table.opened":
            clock.tables[code] = _Table(now)
        elif (table := clock.tables.get(code)) is None:
            continue
        elif kind == "table.closed":
            clock.leave(code, now)
            clock.book(code, table, now)
            del clock.tables[code]
        elif kind == "dealer.left":
            clock.leave(code, now)
            clock.book(code, table, now)
            table.since = None
        else:
            table.since = table.since or now
            if kind == "dealer.took_over":
                clock.leave(code, now)
                table.dealer, table.dealer_since = who, now
    clock.turn(until)
    return clock.found


def _events(scope: Scope) -> Iterator[tuple[str, str, datetime, str]]:
    """Kind, table, moment, and the day or the dealer."""
    asked = [scope.house.id, scope.as_of.event]
    for kind, chain, moment, who in stream(_EVENTS, [*asked, _KINDS, *asked]):
        yield kind, place(chain), moment, who
