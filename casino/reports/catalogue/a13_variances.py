"""A13: what counts found over and short, posting by posting and by place, with its trend."""

from collections.abc import Iterator

from casino.bookkeeping.accounts import Account
from casino.reports.frame.columns import Column, Row, Type, count, money, ref, text, time
from casino.reports.frame.filters import DAYS, PERSON, PLACE, DayRange
from casino.reports.frame.movements import Moved, moved, recorded
from casino.reports.frame.reading import stream
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.staff.models import Role

_NUMBERS = (Account.CASH_OVER_SHORT, Account.CHIP_OVER_SHORT)
#: Who counted: of a drawer the cashier of the count, of a tray, a box or the vault who confirmed it.
_BY = """
SELECT id, coalesce(doc -> 'data' -> 'reconciliation' ->> 'counted_by', doc ->> 'actor'),
    coalesce(doc ->> 'approver', '')
FROM audit_event WHERE house_id = %s AND id <= %s AND id = ANY(%s)
"""


def _entries(scope: Scope) -> list[tuple[Moved, str, str]]:
    """Entries of the days and places asked for with who counted and who approved. There are as many as counts."""
    days, place, person = DayRange.of(scope), scope.filters.get("place"), scope.filters.get("person")
    found = [one for one in moved(scope, _NUMBERS) if days.takes(one.day) and place in (None, one.place)]
    rows = stream(_BY, [scope.house.id, scope.as_of.event, sorted({one.event for one in found})])
    by = {event: (counter, approver) for event, counter, approver in rows}
    return [(one, *by[one.event]) for one in found if person is None or person in by[one.event]]


def _rows(scope: Scope) -> Iterator[Row]:
    for one, counter, approver in _entries(scope):
        cash = -one.amount if one.number == Account.CASH_OVER_SHORT else 0
        chips = -one.amount if one.number == Account.CHIP_OVER_SHORT else 0
        explained = one.kind == "variance.offset"
        yield (
            one.at, one.for_day or one.day or None, one.day or None, one.place, one.kind, one.transaction, cash, chips,
            explained, counter, approver,
        )  # fmt: skip


def _trend(scope: Scope) -> Iterator[Row]:
    """By place: counts over and short, their sums, the largest, and how many of the newest have the same sign. What was
    explained later does not count."""
    found: dict[str, dict[int, int]] = {}
    for one, _, _ in _entries(scope):
        if one.kind != "variance.offset":
            of_place = found.setdefault(one.place, {})
            of_place[one.transaction] = of_place.get(one.transaction, 0) - one.amount
    for place, by_posting in sorted(found.items()):
        sizes = [amount for _, amount in sorted(by_posting.items()) if amount]
        run = 0
        for amount in reversed(sizes):
            if (amount > 0) != (sizes[-1] > 0):
                break
            run += 1
        over, short = [one for one in sizes if one > 0], [one for one in sizes if one < 0]
        yield (
            place, len(over), len(short), sum(over), sum(short), sum(map(abs, sizes)), sum(sizes),
            max(sizes, key=abs, default=0), run,
        )  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    place = scope.filters.get("place")
    totals = results["variances"].totals
    if "person" not in scope.filters:
        said = dict.fromkeys(map(str, _NUMBERS), 0)
        for (code, _), net in recorded(scope, _NUMBERS, DayRange.of(scope)).items():
            number, _, where = code.partition("/")
            if place in (None, where):
                said[number] -= net
        yield Equality("cash of these rows = 5200 as the events record it", totals["cash"], said["5200"])
        yield Equality("chips of these rows = 5210 as the events record it", totals["chips"], said["5210"])
    offset = sum(-one.amount for one, _, _ in _entries(scope) if one.kind == "variance.offset")
    yield Equality("what was offset cancels", offset, 0)
    yield Equality("rows = trend by place", totals["cash"] + totals["chips"], results["trend"].totals["sum"])


REPORT = Report(
    id="variances",
    number="A13",
    version=1,
    title="Variances with trend",
    text="What counts found over (above zero) and short (below), by place, and who counted; what a later entry has "
    "explained is marked.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "variances",
            "Variances",
            (
                time("at", "Time"), Column("day", "For day", Type.DAY), Column("booked_in", "Booked in", Type.DAY),
                ref("place", "Place"), text("kind", "Kind"), count("transaction", "Posting", total=False),
                money("cash", "Cash"), money("chips", "Chips"), Column("explained", "Explains another", Type.FLAG),
                ref("counted_by", "Counted by"), ref("approver", "Approved by"),
            ),
            _rows,
            groups=("place", "counted_by", "kind", "day"),
        ),
        Section(
            "trend",
            "Trend by place",
            (
                ref("place", "Place"), count("over_count", "Over"), count("short_count", "Short"),
                money("over", "Sum over"), money("short", "Sum short"), money("size", "Sum of sizes"),
                money("sum", "Sum"), money("largest", "Largest", total=False),
                count("run", "Newest of one sign", total=False),
            ),
            _trend,
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, PLACE, PERSON),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
