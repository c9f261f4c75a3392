"""A13: what counts found over and short, posting by posting and by place, with its trend; how often it was counted
again and signed off, and what was explained later."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import takewhile
from math import sqrt
from statistics import mean, pstdev

from casino.bookkeeping.accounts import AT_BANK, Account
from casino.reports.ended_counts import EndedCount, ended_counts
from casino.reports.frame.charts import Chart, ChartKind, Series
from casino.reports.frame.columns import Column, Row, Type, coded, count, decimal, millionths, money, ref, time
from casino.reports.frame.filters import DAYS, ENTRY_KIND, LEAST, OF_ENTRIES, PERSON, PLACE, DayRange, takes_entry
from casino.reports.frame.movements import Moved, events, moved, of_days, recorded
from casino.reports.frame.reading import fetched, stream
from casino.reports.frame.report import (
    FORMATS,
    Equality,
    Format,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.trail import DaysOfEvents, place
from casino.staff.models import Role

_OFFSET = "variance.offset"
#: What was found later to be a player's, and no player's; the sign of each.
_ATTRIBUTED = {"chips.attributed": 1, "chips.unattributed": -1}
_NUMBERS = (Account.CASH_OVER_SHORT, Account.CHIP_OVER_SHORT)
#: Who stands behind a posting that no count has made: who has explained a difference, or booked one of the bank.
_BY = """
SELECT id, doc ->> 'actor', coalesce(doc ->> 'approver', '')
FROM audit_event WHERE house_id = %s AND id <= %s AND id = ANY(%s)
"""
#: What these kinds of postings took from the accounts of chips that are owed to nobody in particular.
_BY_LEDGER = """
SELECT split_part(account.code, '/', 2),
    coalesce(nullif(posted.metadata ->> 'for_day', ''), period.name, ''),
    -sum(entry.amount * account.normal_side)::bigint
FROM {entries}
LEFT JOIN ledger_period period ON period.id = posted.period_id
WHERE {posted} AND posted.book = %(house)s AND posted.kind = ANY(%(kinds)s)
AND split_part(account.code, '/', 1) = ANY(%(numbers)s)
GROUP BY 1, 2
"""
_OFFSETS = """
SELECT coalesce(sum((doc #>> '{data,amount}')::bigint), 0)::bigint FROM audit_event
WHERE house_id = %s AND id = ANY(%s) AND doc ->> 'kind' = %s
"""


def _every(scope: Scope) -> list[Moved]:
    """All of them, of days with a first one those that are of these days or for them."""
    days = DayRange.of(scope)
    return scope.once("differences", lambda scope: list(moved(scope, _NUMBERS, days, booked_for=True)))


def _entries(scope: Scope) -> list[tuple[Moved, tuple[str, ...], str]]:
    """Entries of the days and places asked for with who counted and who approved. There are as many as counts."""
    days, place, person = DayRange.of(scope), scope.filters.get("place"), scope.filters.get("person")
    found = [one for one in _every(scope) if days.takes(one.belongs_to) and place in (None, one.place)]
    by = {event: (one.counters, one.approver) for event, one in ended_counts(scope).items()}
    others = sorted({one.event for one in found} - by.keys())
    rows = stream(_BY, [scope.house.id, scope.as_of.event, others])
    by |= {event: ((actor,), approver) for event, actor, approver in rows}
    return [(one, *by[one.event]) for one in found if person is None or _is_of(person, *by[one.event])]


def _is_of(person: str, counters: Sequence[str], approver: str) -> bool:
    return person in counters or person == approver


def _rows(scope: Scope) -> Iterator[Row]:
    for one, counters, approver in _entries(scope):
        cash = -one.amount if one.number == Account.CASH_OVER_SHORT else 0
        chips = -one.amount if one.number == Account.CHIP_OVER_SHORT else 0
        if not takes_entry(scope, one.kind, one.amount):
            continue
        explained = one.kind == _OFFSET
        yield (
            one.at, one.belongs_to or None, _weekday(one.belongs_to), one.day or None, one.place, one.kind,
            one.transaction, cash, chips, explained, ", ".join(counters), approver,
        )  # fmt: skip


def _weekday(day: str) -> int | None:
    """The day of the week of a gaming day, 1 is Monday (ISO 8601)."""
    return date.fromisoformat(day).isoweekday() if day else None


def _trend(scope: Scope) -> Iterator[Row]:
    """By place: counts, second ones and those signed off; counts over and short, their sums, the largest, and how many
    of the newest have the same sign. What was explained later does not count, and stands beside them."""
    found: dict[str, dict[int, tuple[datetime, int]]] = {}
    for one, _, _ in _entries(scope):
        if one.kind != _OFFSET:
            of_place = found.setdefault(one.place, {})
            _, before = of_place.get(one.transaction, (one.at, 0))
            of_place[one.transaction] = one.at, before - one.amount
    made, explained = _made(scope), _explained(scope)
    for where in sorted(found.keys() | made.keys() | explained.keys()):
        several = [size for _, size in sorted(found.get(where, {}).items()) if size[1]]
        sizes = [amount for _, amount in several]
        over, short = [one for one in sizes if one > 0], [one for one in sizes if one < 0]
        counts = made.get(where, [])
        yield (
            where, len(counts), *_again(counts), len(over), len(short), sum(over), sum(short), sum(map(abs, sizes)),
            sum(sizes), max(sizes, key=abs, default=0), _run(sizes), *_newest(scope, several),
            *explained.get(where, (0, 0)),
        )  # fmt: skip


def _made(scope: Scope) -> dict[str, list[EndedCount]]:
    """The counts that a run asks for, by place."""
    found: dict[str, list[EndedCount]] = {}
    for _, one in _asked(scope):
        found.setdefault(one.place, []).append(one)
    return found


def _asked(scope: Scope) -> Iterator[tuple[int, EndedCount]]:
    """Counts of the days, the place and the person that a run asks for, with their events."""
    days, asked, person = DayRange.of(scope), scope.filters, scope.filters.get("person")
    belong = {one.event: one.belongs_to for one in _every(scope)}
    for event, one in ended_counts(scope).items():
        mine = person is None or _is_of(person, one.counters, one.approver)
        if mine and days.takes(belong.get(event, one.day)) and asked.get("place") in (None, one.place):
            yield event, one


def _again(counts: Sequence[EndedCount]) -> tuple[int, int]:
    """How often these were counted again, and how many were signed off or decided by a second person."""
    return sum(one.recounts for one in counts), sum(one.is_signed_off for one in counts)


def _explained(scope: Scope) -> dict[str, tuple[int, int]]:
    """By place: how much cash and chips of its counts was found later to cancel each other, and how much of the chips
    that it owed to nobody in particular was found later to be a player's; minor units."""
    offset: dict[str, int] = {}
    for one, _, _ in _entries(scope):
        if one.kind == _OFFSET and one.number == Account.CASH_OVER_SHORT:
            offset[one.place] = offset.get(one.place, 0) + abs(one.amount)
    attributed = _attributed(scope)
    return {where: (offset.get(where, 0), attributed.get(where, 0)) for where in offset.keys() | attributed.keys()}


def _attributed(scope: Scope) -> dict[str, int]:
    """Chips that became a player's, less those that ceased to be one's, by place and as the events say."""
    days, asked, found = DaysOfEvents(scope), scope.filters, dict[str, int]()
    for event, chain, _, doc in events(scope, (*_ATTRIBUTED, "cage.corrected")):
        data = doc["data"]
        where, amount = data.get("place") or place(chain), data.get("attributed") or data.get("amount", 0)
        mine = asked.get("person") in (None, doc["actor"], doc.get("approver"))
        day = data.get("for_day") or days.of(event)
        if mine and amount and days.range.takes(day) and asked.get("place") in (None, where):
            found[where] = found.get(where, 0) + amount * _ATTRIBUTED.get(doc["kind"], 1)
    return found


def _run(sizes: Sequence[int]) -> int:
    """How many of the newest differences have the sign of the newest."""
    newest = list(takewhile(lambda size: (size > 0) == (sizes[-1] > 0), reversed(sizes)))
    return len(newest)


def _newest(scope: Scope, several: Iterable[tuple[datetime, int]]) -> tuple[int, int]:
    """Sums of the 30 and of the 90 days before the moment of the report."""
    ages = [((scope.as_of.at - at).days, amount) for at, amount in several]
    month, quarter = (sum(amount for age, amount in ages if age < days) for days in (30, 90))
    return month, quarter


@dataclass(slots=True)
class _Counter:
    """Counts of one person, the oldest first: when, and how much was found over or, below zero, short."""

    sizes: list[tuple[datetime, int]] = field(default_factory=list)
    #: The sum of those of them that stand with who counted besides, too.
    shared: int = 0
    counts: list[EndedCount] = field(default_factory=list)


def counts_of(scope: Scope) -> dict[tuple[str, str], _Counter]:
    """Every count in these days by its kind and each who counted, those that agreed among them."""
    found: dict[tuple[str, str], _Counter] = {}
    differing: dict[int, int] = {}
    for one, _, _ in _entries(scope):
        differing[one.event] = differing.get(one.event, 0) - one.amount
    for event, one_count in _asked(scope):
        for who in one_count.counters:
            counter = found.setdefault((one_count.kind, who), _Counter())
            counter.sizes.append((one_count.at, differing.get(event, 0)))
            counter.shared += differing.get(event, 0) if who != one_count.counters[0] else 0
            counter.counts.append(one_count)
    return found


def people(scope: Scope) -> Iterator[Row]:
    """Each person beside all others who have counted the same kind of place: z is how many standard errors the mean of
    a person is from the mean of the others, by the spread of the others' counts (z = (m - M) / (S / sqrt(n)))."""
    counts = counts_of(scope)
    for (kind, who), counter in sorted(counts.items()):
        sizes = [amount for _, amount in counter.sizes]
        differing = [amount for amount in sizes if amount]
        others = [
            amount for key, one in counts.items() if key[0] == kind and key[1] != who for _, amount in one.sizes
        ]  # fmt: skip
        yield (
            who, kind, len(sizes), sum(one > 0 for one in sizes), sum(one < 0 for one in sizes), sum(sizes),
            sum(map(abs, sizes)), max(differing, key=abs, default=0), _run(differing), round(mean(sizes)),
            round(pstdev(sizes)), _z(sizes, others), *_newest(scope, counter.sizes), *_again(counter.counts),
        )  # fmt: skip


def _z(sizes: Sequence[int], others: Sequence[int]) -> int | None:
    """None of fewer than two others, and where all others agree."""
    if len(others) < 2 or not (spread := pstdev(others)):
        return None
    return millionths(round((mean(sizes) - mean(others)) / (spread / sqrt(len(sizes))), 2))


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    place = scope.filters.get("place")
    totals = results["variances"].totals
    offset = sum(-one.amount for one, _, _ in _entries(scope) if one.kind == _OFFSET)
    if "person" not in scope.filters:
        said, at_bank = dict.fromkeys(map(str, _NUMBERS), 0), 0
        for (code, _), net in recorded(scope, _NUMBERS, DayRange.of(scope), booked_for=True).items():
            number, _, where = code.partition("/")
            if place in (None, where):
                said[number] -= net
                at_bank -= net if where == AT_BANK else 0
        if not scope.filters.keys() & OF_ENTRIES:
            cash, chips = said["5200"], said["5210"]
            yield Equality("cash of these rows = 5200 as the events record it", totals["cash"], cash, Type.MONEY)
            yield Equality("chips of these rows = 5210 as the events record it", totals["chips"], chips, Type.MONEY)
        by_person = results["people"].totals["sum"] - sum(one.shared for one in counts_of(scope).values())
        yield Equality(
            "sums by person, of two who counted together once = 5200 and 5210 by the events, but for the bank",
            by_person, sum(said.values()) - at_bank, Type.MONEY,
        )  # fmt: skip
    yield Equality("what was offset cancels", offset, 0, Type.MONEY)
    yield from _of_later(scope, results["trend"].totals)
    again = [(one.said, one.recounts) for _, one in _asked(scope) if one.said is not None]
    yield Equality(
        "recounts, as the ends of the counts have them = by their own events",
        sum(ended for ended, _ in again), sum(recounts for _, recounts in again), Type.COUNT,
    )  # fmt: skip
    if not scope.filters.keys() & OF_ENTRIES:
        rows, trend = totals["cash"] + totals["chips"], results["trend"].totals["sum"]
        yield Equality("rows = trend by place", rows, trend, Type.MONEY)


def _of_later(scope: Scope, trend: Mapping[str, int]) -> Iterator[Equality]:
    """What was explained later, by the ledger and by the events."""
    ids = sorted({one.event for one, _, _ in _entries(scope) if one.kind == _OFFSET})
    [(offset,)] = fetched(_OFFSETS, [scope.house.id, ids, _OFFSET])
    yield Equality("offset later on 5200 = offsets by the events", trend["offset"], offset, Type.MONEY)
    if "person" not in scope.filters:
        days, asked = DayRange.of(scope), scope.filters.get("place")
        numbers = (Account.CHIPS_UNATTRIBUTED,)
        statement, parameters = of_days(scope, _BY_LEDGER, numbers, days, booked_for=True)
        rows = fetched(statement, parameters | {"kinds": list(_ATTRIBUTED)})
        taken = sum(amount for where, day, amount in rows if days.takes(day) and asked in (None, where))
        yield Equality("attributed later by the events = 2015 by it", trend["attributed"], taken, Type.MONEY)


REPORT = Report(
    id="variances",
    number="A13",
    version=5,
    title="Variances with trend",
    text="What counts found over (above zero) and short (below), by place, and who counted, beside all others who have "
    "counted such places; how often it was counted again, and signed off or decided by a second person; what was "
    "explained later: cash and chips of a count that cancel, chips that were a player's. A tray is counted by its "
    "dealer, a box and the vault by both who agreed, or who decided: such a difference stands with each of them.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.CAGE_SUPERVISOR),
    sections=(
        Section(
            "variances",
            "Variances",
            (
                time("at", "Time"), Column("day", "For day", Type.DAY),
                count("weekday", "Weekday, 1 is Monday", total=False), Column("booked_in", "Booked in", Type.DAY),
                ref("place", "Place"), coded("kind", "Kind"), count("transaction", "Posting", total=False),
                money("cash", "Cash"), money("chips", "Chips"), Column("explained", "Explains another", Type.FLAG),
                ref("counted_by", "Counted by"), ref("approver", "Approved by"),
            ),
            _rows,
            groups=("place", "counted_by", "kind", "day", "weekday"),
        ),
        Section(
            "trend",
            "Trend by place",
            (
                ref("place", "Place"), count("counts", "Counts"), count("recounts", "Recounts"),
                count("signed_off", "Signed off or decided"), count("over_count", "Over"),
                count("short_count", "Short"), money("over", "Sum over"), money("short", "Sum short"),
                money("size", "Sum of sizes"), money("sum", "Sum"), money("largest", "Largest", total=False),
                count("run", "Newest of one sign", total=False), money("month", "Last 30 days"),
                money("quarter", "Last 90 days"), money("offset", "Offset later"),
                money("attributed", "Attributed later"),
            ),
            _trend,
        ),
        Section(
            "people",
            "By person, beside the others",
            (
                ref("counted_by", "Counted by"), coded("kind", "Kind"), count("counts", "Counts"),
                count("over_count", "Over"), count("short_count", "Short"), money("sum", "Sum"),
                money("size", "Sum of sizes"), money("largest", "Largest", total=False),
                count("run", "Newest of one sign", total=False), money("mean", "Mean", total=False),
                money("deviation", "Standard deviation", total=False), decimal("z", "z beside the others"),
                money("month", "Last 30 days"), money("quarter", "Last 90 days"),
                count("recounts", "Recounts", total=False),
                count("signed_off", "Signed off or decided", total=False),
            ),
            people,
            groups=("counted_by", "kind"),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, PLACE, PERSON, ENTRY_KIND, LEAST),
    formats=(*FORMATS, Format.SVG),
    charts=(
        Chart(
            name="trend", title="Sum of variances up to each gaming day",
            text="What counts found over (above zero) and short (below), added up.", section="variances",
            kind=ChartKind.LINES, x="day", series=(Series("Cash", "cash"), Series("Chips", "chips")), running=True,
        ),
    ),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
