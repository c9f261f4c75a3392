"""A13: what counts found over and short, posting by posting and by place, with its trend."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import takewhile
from math import sqrt
from statistics import mean, pstdev
from typing import Any

from casino.bookkeeping.accounts import AT_BANK, VAULT, Account
from casino.reports.frame.charts import Chart, ChartKind, Series
from casino.reports.frame.columns import Column, Row, Type, coded, count, decimal, millionths, money, ref, time
from casino.reports.frame.filters import DAYS, ENTRY_KIND, LEAST, OF_ENTRIES, PERSON, PLACE, DayRange, takes_entry
from casino.reports.frame.movements import Moved, events, moved, recorded
from casino.reports.frame.reading import stream
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
from casino.reports.frame.trail import DaysOfEvents, at, place
from casino.staff.models import Role

#: Events that end a count, which has found what was expected, or not.
_COUNTS = (
    "drawer.closed", "tray.confirmed", "box.received", "vault.count_signed_off", "fill.received", "credit.received",
    "chips.withdrawn_set_aside",
)  # fmt: skip
#: Counts of which two must agree before something is posted.
_ONE_OF_TWO = ("box.counted", "chips.counted")
_NUMBERS = (Account.CASH_OVER_SHORT, Account.CHIP_OVER_SHORT)
#: Who stands behind a posting that no count has made: who has explained a difference, or booked one of the bank.
_BY = """
SELECT id, doc ->> 'actor', coalesce(doc ->> 'approver', '')
FROM audit_event WHERE house_id = %s AND id <= %s AND id = ANY(%s)
"""


#: Who has counted a box, or chips that are moved, in each round.
_Rounds = dict[tuple[str, int], dict[int, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class _Count:
    """A count that has ended: its kind, where and when, who counted, and who confirmed or received it. `day` is the
    gaming day of one that agreed; what differed is of the day for which it was posted."""

    kind: str
    place: str
    at: datetime
    day: str
    counters: tuple[str, ...]
    approver: str


def _counts(scope: Scope) -> dict[int, _Count]:
    """Every count that has ended, those that agreed among them, by its event."""
    return scope.once("ended counts", _read_counts)


def _read_counts(scope: Scope) -> dict[int, _Count]:
    days, found = DaysOfEvents(scope), dict[int, _Count]()
    rounds: _Rounds = {}
    for event, chain, _, doc in events(scope, _COUNTS + _ONE_OF_TWO):
        data = doc["data"]
        if doc["kind"] in _ONE_OF_TWO:
            _take_down(rounds, doc)
        elif doc["kind"] in _COUNTS:
            day = (data.get("box") or {}).get("for_day") or days.of(event)
            found[event] = _Count(doc["kind"], _where(chain, data), at(doc), day, *_who(doc, rounds))
    return found


def _take_down(rounds: _Rounds, doc: Mapping[str, Any]) -> None:
    data = doc["data"]
    key = ("box", data["box"]["box"]) if "box" in data else ("move", data["move"]["move"])
    of_one, number = rounds.setdefault(key, {}), data["count"]["round"]
    of_one[number] = (*of_one.get(number, ()), doc["actor"])


def _where(chain: str, data: Mapping[str, Any]) -> str:
    """The place at which a difference is posted: of a transfer the table, whichever end receives it."""
    for part, name in (("transfer", "table"), ("box", "table"), ("move", "drawer")):
        if part in data:
            return str(data[part][name] or VAULT)
    return place(chain) or VAULT


def _who(doc: Mapping[str, Any], rounds: _Rounds) -> tuple[tuple[str, ...], str]:
    """Who counted: of a drawer the cashier, of a tray the dealer, of what was brought who took it in, of the rest the
    two who agreed, or who decided; and who signed it off, witnessed it or took it into the vault."""
    data, approver = doc["data"], doc.get("approver") or ""
    match doc["kind"]:
        case "drawer.closed":
            return (data["reconciliation"]["counted_by"],), approver
        case "tray.confirmed":
            return (data["tray_count"]["counted_by"],), approver
        case "box.received":
            box = data["box"]
            of_box = rounds["box", box["box"]]
            return (box["decided_by"],) if box["decided_by"] else of_box[max(of_box)], box["received_by"]
        case "fill.received" | "credit.received":
            return (doc["actor"],), approver
        case "chips.withdrawn_set_aside":
            move = data["move"]
            if move["decided_by"]:
                return (move["decided_by"],), approver
            # Of what a drawer sets aside one person counts, against what was noted; of deliveries two do.
            before = rounds.get(("move", move["move"]), {}).get(data["count"]["round"], ())
            return (*before, doc["actor"]), approver
    part = data["vault_count"]
    last = max(one["round"] for one in part["counts"])
    counters = tuple(one["by"] for one in part["counts"] if one["round"] == last)
    return (part["decided_by"],) if part["decided_by"] else counters, part["signed_by"]


def _every(scope: Scope) -> list[Moved]:
    return scope.once("differences", lambda scope: list(moved(scope, _NUMBERS)))


def _entries(scope: Scope) -> list[tuple[Moved, tuple[str, ...], str]]:
    """Entries of the days and places asked for with who counted and who approved. There are as many as counts."""
    days, place, person = DayRange.of(scope), scope.filters.get("place"), scope.filters.get("person")
    found = [one for one in _every(scope) if days.takes(one.belongs_to) and place in (None, one.place)]
    by = {event: (one.counters, one.approver) for event, one in _counts(scope).items()}
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
        explained = one.kind == "variance.offset"
        yield (
            one.at, one.belongs_to or None, _weekday(one.belongs_to), one.day or None, one.place, one.kind,
            one.transaction, cash, chips, explained, ", ".join(counters), approver,
        )  # fmt: skip


def _weekday(day: str) -> int | None:
    """The day of the week of a gaming day, 1 is Monday (ISO 8601)."""
    return date.fromisoformat(day).isoweekday() if day else None


def _trend(scope: Scope) -> Iterator[Row]:
    """By place: counts over and short, their sums, the largest, and how many of the newest have the same sign. What was
    explained later does not count."""
    found: dict[str, dict[int, tuple[datetime, int]]] = {}
    for one, _, _ in _entries(scope):
        if one.kind != "variance.offset":
            of_place = found.setdefault(one.place, {})
            _, before = of_place.get(one.transaction, (one.at, 0))
            of_place[one.transaction] = one.at, before - one.amount
    for where, by_posting in sorted(found.items()):
        several = [size for _, size in sorted(by_posting.items()) if size[1]]
        sizes = [amount for _, amount in several]
        over, short = [one for one in sizes if one > 0], [one for one in sizes if one < 0]
        yield (
            where, len(over), len(short), sum(over), sum(short), sum(map(abs, sizes)), sum(sizes),
            max(sizes, key=abs, default=0), _run(sizes), *_newest(scope, several),
        )  # fmt: skip


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


def counts_of(scope: Scope) -> dict[tuple[str, str], _Counter]:
    """Every count in these days by its kind and each who counted, those that agreed among them."""
    found: dict[tuple[str, str], _Counter] = {}
    differing: dict[int, int] = {}
    for one, _, _ in _entries(scope):
        differing[one.event] = differing.get(one.event, 0) - one.amount
    days, asked = DayRange.of(scope), scope.filters
    belong = {one.event: one.belongs_to for one in _every(scope)}
    for event, one_count in _counts(scope).items():
        if not days.takes(belong.get(event, one_count.day)) or asked.get("place") not in (None, one_count.place):
            continue
        person = asked.get("person")
        for who in one_count.counters:
            if person is None or _is_of(person, one_count.counters, one_count.approver):
                counter = found.setdefault((one_count.kind, who), _Counter())
                counter.sizes.append((one_count.at, differing.get(event, 0)))
                counter.shared += differing.get(event, 0) if who != one_count.counters[0] else 0
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
            round(pstdev(sizes)), _z(sizes, others), *_newest(scope, counter.sizes),
        )  # fmt: skip


def _z(sizes: Sequence[int], others: Sequence[int]) -> int | None:
    """None of fewer than two others, and where all others agree."""
    if len(others) < 2 or not (spread := pstdev(others)):
        return None
    return millionths(round((mean(sizes) - mean(others)) / (spread / sqrt(len(sizes))), 2))


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    place = scope.filters.get("place")
    totals = results["variances"].totals
    offset = sum(-one.amount for one, _, _ in _entries(scope) if one.kind == "variance.offset")
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
    if not scope.filters.keys() & OF_ENTRIES:
        rows, trend = totals["cash"] + totals["chips"], results["trend"].totals["sum"]
        yield Equality("rows = trend by place", rows, trend, Type.MONEY)


REPORT = Report(
    id="variances",
    number="A13",
    version=4,
    title="Variances with trend",
    text="What counts found over (above zero) and short (below), by place, and who counted, beside all others who have "
    "counted such places; what a later entry has explained is marked. A tray is counted by its dealer, a box and "
    "the vault by both who agreed, or who decided: such a difference stands with each of them.",
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
                ref("place", "Place"), count("over_count", "Over"), count("short_count", "Short"),
                money("over", "Sum over"), money("short", "Sum short"), money("size", "Sum of sizes"),
                money("sum", "Sum"), money("largest", "Largest", total=False),
                count("run", "Newest of one sign", total=False), money("month", "Last 30 days"),
                money("quarter", "Last 90 days"),
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
