"""A5: what the house earned and bore, by gaming day and table, as the day was booked; later adjustments beside it."""

from collections.abc import Iterator

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import CREDIT, kind_of
from casino.reports.frame.columns import Column, Row, Type, count, money, ref, text
from casino.reports.frame.filters import DAYS, PLACE, DayRange
from casino.reports.frame.movements import events, moved, recorded, turned
from casino.reports.frame.reading import balances
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.staff.models import Role

#: Columns by number of the chart; income above zero, cost below.
_OF = {
    Account.HOUSE_TAX: "tax", Account.TABLE_FEES: "fees", Account.OTHER_INCOME: "other", Account.BONUS: "bonus",
    Account.GOODWILL: "goodwill", Account.CASH_OVER_SHORT: "cash_variance", Account.CHIP_OVER_SHORT: "chip_variance",
    Account.FOREIGN_LOSS: "foreign_loss", Account.COUNTERFEITS: "counterfeits",
}  # fmt: skip
_NAMES = tuple(_OF.values())


def _earned(code: str) -> int:
    """1 where what is on the account's normal side is income, -1 where it is a cost."""
    return 1 if kind_of(code).normal_side == CREDIT else -1


def _sums(scope: Scope) -> dict[tuple[str, str], dict[str, int]]:
    """By day and place."""
    days, place = DayRange.of(scope), scope.filters.get("place")
    found: dict[tuple[str, str], dict[str, int]] = {}
    for one in turned(scope, _OF):
        if days.takes(one.day) and place in (None, one.place):
            row = found.setdefault((one.day, one.place), dict.fromkeys(_NAMES, 0))
            row[_OF[Account(one.number)]] += one.net * _earned(one.code)
    return found


def _rows(scope: Scope) -> Iterator[Row]:
    for (day, place), row in sorted(_sums(scope).items()):
        yield day or None, place, *row.values(), sum(row.values())


def _months(scope: Scope) -> Iterator[Row]:
    found: dict[str, list[int]] = {}
    for (day, _), row in sorted(_sums(scope).items()):
        sums = found.setdefault(day[:7], [0] * len(row))
        for at, amount in enumerate(row.values()):
            sums[at] += amount
    for month, sums in sorted(found.items()):
        yield month, *sums, sum(sums)


def _later(scope: Scope) -> Iterator[Row]:
    """What was booked for a day in another one, which its own figures do not have."""
    days, place = DayRange.of(scope), scope.filters.get("place")
    for one in moved(scope, _OF):
        if one.for_day not in ("", one.day) and days.takes(one.for_day) and place in (None, one.place):
            name = _OF[Account(one.number)]
            yield (
                one.for_day,
                one.day or None,
                one.transaction,
                one.kind,
                one.place,
                name,
                one.amount * _earned(one.code),
            )


def _taxed(scope: Scope) -> tuple[int, int]:
    """Tax as results of hands and rulings have it, less what was refunded; and what closings gave to the house."""
    taxed, given = 0, 0
    for _, _, _, doc in events(scope, ("hand.settled", "hand.ruled", "hand.ruled_later", "table.closed")):
        data = doc["data"]
        if doc["kind"] == "hand.settled":
            taxed += data["result"]["tax"]
        elif doc["kind"] == "hand.ruled":
            taxed += data["tax"]
        elif doc["kind"] == "hand.ruled_later":
            taxed -= sum(data["tax_refunded"].values())
        else:
            given += sum(amount for code, amount in data["shares"].items() if code.startswith(f"{Account.HOUSE_TAX}/"))
    return taxed, given


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    days, place = DayRange.of(scope), scope.filters.get("place")
    said = dict.fromkeys(_NAMES, 0)
    for (code, _), net in recorded(scope, _OF, days).items():
        number, _, where = code.partition("/")
        if place in (None, where):
            said[_OF[Account(number)]] -= net
    totals = results["revenue"].totals
    for name in _NAMES:
        yield Equality(f"{name} of these rows = what the events record", totals[name], said[name])
    yield Equality("results of the days = results of the months", totals["result"], results["months"].totals["result"])
    held = dict.fromkeys(_NAMES, 0)
    for one in balances(scope):
        if one.number in _OF:
            held[_OF[Account(one.number)]] += one.balance * _earned(one.code)
    if not scope.filters:
        for name in _NAMES:
            yield Equality(f"{name} of all days = balance of the accounts", totals[name], held[name])
    yield Equality("tax by hands, rulings and closings = balance of 4010", sum(_taxed(scope)), held["tax"])


_AMOUNTS = (
    money("tax", "Tax"), money("fees", "Fees"), money("other", "Other income"), money("bonus", "Bonuses"),
    money("goodwill", "Goodwill"), money("cash_variance", "Cash over/short"), money("chip_variance", "Chip over/short"),
    money("foreign_loss", "Lost on chips of others"), money("counterfeits", "Counterfeits"), money("result", "Result"),
)  # fmt: skip

REPORT = Report(
    id="daily-revenue",
    number="A5",
    version=1,
    title="Daily revenue",
    text="What the house earned (above zero) and bore (below) by gaming day and place, as it was booked in the day; "
    "what was booked later for a day stands apart.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "revenue",
            "By day and place",
            (Column("day", "Gaming day", Type.DAY), ref("place", "Place"), *_AMOUNTS),
            _rows,
            groups=("day", "place"),
        ),
        Section("months", "By month", (text("month", "Month"), *_AMOUNTS), _months),
        Section(
            "later",
            "Later adjustments",
            (
                Column("day", "For day", Type.DAY),
                Column("booked_in", "Booked in", Type.DAY),
                count("transaction", "Posting", total=False),
                text("kind", "Kind"),
                ref("place", "Place"),
                text("column", "Figure"),
                money("amount", "Amount"),
            ),
            _later,
            groups=("day", "place"),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, PLACE),
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
)
