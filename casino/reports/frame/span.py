"""Where the gaming days that a run asks for lie in the trail and in the ledger, so that a report of one day reads no
other day.

What is recorded in a day, and what posts in it, is an event between those that opened and closed it: ids are given out
in that order, for nobody posts in a day before its opening is committed, nor after its closing, which waits for the
postings under way. Transactions of a day name it. What an account held before comes from the snapshot that an earlier
closing has taken; a verification (A32) compares each snapshot with all entries before it.
"""

from bisect import bisect_right
from dataclasses import dataclass

from casino.houses.days import closing_snapshot
from casino.reports.frame.filters import DayRange
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope

_TURNS = """
SELECT id, doc ->> 'kind' = 'day.opened', doc #>> '{data,day}' FROM audit_event
WHERE house_id = %s AND doc ->> 'kind' IN ('day.opened', 'day.closed') AND id <= %s ORDER BY id
"""
_PERIODS = "SELECT id, name, opened_at <= %s FROM ledger_period WHERE book = %s ORDER BY id"
_SNAPSHOT = "SELECT id FROM ledger_snapshot WHERE book = %s AND name = %s"


@dataclass(frozen=True, slots=True)
class Turn:
    """An event that opened or closed a gaming day."""

    event: int
    opens: bool
    day: str


@dataclass(frozen=True, slots=True)
class Span:
    """Of the days that a run asks for: the first and the last event that can be of them, both with it, and the names
    and ids of their periods in the ledger. `is_whole`: everything up to the moment may be of them, and `periods` is
    empty."""

    is_whole: bool
    first_event: int
    last_event: int
    periods: tuple[tuple[int, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """The days that the ledger knows, the first one first."""
        return [name for _, name in self.periods]

    @property
    def ids(self) -> list[int]:
        """Their periods."""
        return [number for number, _ in self.periods]


@dataclass(frozen=True, slots=True)
class Basis:
    """Of what balances are made: a snapshot, None where there is none, and periods whose postings it lacks, or has too
    many."""

    snapshot: int | None
    periods: list[int]


def turns(scope: Scope) -> list[Turn]:
    """Every opening and closing of a gaming day up to the moment, in their order; read once in a run."""
    return scope.once(
        "turns of days", lambda scope: [Turn(*row) for row in fetched(_TURNS, [scope.house.id, scope.as_of.event])]
    )


def span(scope: Scope) -> Span:
    """Where the days lie that a run asks for. Without a first day everything up to the moment is of them, for what was
    booked without a day is before all days."""
    return within(scope, DayRange.of(scope))


def within(scope: Scope, days: DayRange) -> Span:
    """The same of other days than a run asks for."""
    until, opened, closed = scope.as_of.event, dict[str, int](), dict[str, int]()
    whole = Span(True, 0, until)
    if days.first is None:
        return whole
    for turn in turns(scope):
        if turn.opens:
            opened.setdefault(turn.day, turn.event)
        else:
            closed[turn.day] = turn.event
    periods = [(number, name, begun) for number, name, begun in _periods(scope) if days.takes(name)]
    if any(begun and name not in opened for _, name, begun in periods):
        return whole  # no event has opened that day: nothing says where it begins
    taken = [day for day in opened if days.takes(day)]
    if not taken:
        return Span(False, until + 1, until)
    last = until if days.last is None else max(closed.get(day, until) for day in taken)
    return Span(False, min(opened[day] for day in taken), last, tuple((number, name) for number, name, _ in periods))


def before(scope: Scope, day: str) -> Basis:
    """Of what the balances before a day are made: the newest snapshot that was taken as a day closed before this one
    was opened, which has nothing of it; with the periods before the day that were not closed then."""
    earlier = [(number, name) for number, name, _ in _periods(scope) if name < day]
    opened = next((turn.event for turn in turns(scope) if turn.opens and turn.day >= day), scope.as_of.event + 1)
    closings = [turn for turn in turns(scope) if not turn.opens and turn.day < day]
    known = bisect_right([turn.event for turn in closings], opened)
    for turn in reversed(closings[:known]):
        if found := fetched(_SNAPSHOT, [scope.house.id, closing_snapshot(turn.day)]):
            closed = {one.day for one in closings if one.event <= turn.event}
            return Basis(found[0][0], [number for number, name in earlier if name not in closed])
    return Basis(None, [number for number, _ in earlier])


def after(scope: Scope, day: str) -> Basis:
    """Of what the balances at the end of a day are made: the snapshot of its closing, without one the balances of the
    moment; without the periods after the day that had begun by then."""
    closed = next((turn.event for turn in reversed(turns(scope)) if not turn.opens and turn.day == day), None)
    found = None if closed is None else fetched(_SNAPSHOT, [scope.house.id, closing_snapshot(day)])
    until = closed if found and closed is not None else scope.as_of.event
    begun = {turn.day for turn in turns(scope) if turn.opens and turn.event < until}
    later = [number for number, name, _ in _periods(scope) if name > day and name in begun]
    return Basis(found[0][0] if found else None, later)


def _periods(scope: Scope) -> list[tuple[int, str, bool]]:
    """The periods of the house: ids, names, whether each had been opened at the moment; read once in a run."""
    return scope.once("periods", lambda scope: fetched(_PERIODS, [scope.as_of.at, scope.house.id]))
