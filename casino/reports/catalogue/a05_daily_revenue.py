"""A5: what the house earned and bore, by gaming day and table, as the day was booked; later adjustments beside it."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from types import MappingProxyType

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import CREDIT, face_value, kind_of
from casino.reports.frame import places
from casino.reports.frame.charts import Chart, ChartKind, Series
from casino.reports.frame.columns import Column, Row, Type, count, money, ref, share, text
from casino.reports.frame.filters import AREA, DAYS, GAME, PLACE, DayRange
from casino.reports.frame.late import Later
from casino.reports.frame.movements import Turned, held_before, recorded, turned
from casino.reports.frame.reading import balances
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
from casino.reports.frame.trail import SetUp, is_asked, tables
from casino.reports.table_hands import ends, played, taxed
from casino.reports.table_time import times
from casino.staff.models import Role

#: Columns by number of the chart; income above zero, cost below.
_OF = {
    Account.HOUSE_TAX: "tax", Account.TABLE_FEES: "fees", Account.OTHER_INCOME: "other", Account.BONUS: "bonus",
    Account.GOODWILL: "goodwill", Account.CASH_OVER_SHORT: "cash_variance", Account.CHIP_OVER_SHORT: "chip_variance",
    Account.FOREIGN_LOSS: "foreign_loss", Account.COUNTERFEITS: "counterfeits",
    Account.STAKES_GIVEN_BACK: "stakes_given_back",
}  # fmt: skip
_NAMES = tuple(_OF.values())
_NOTHING: Mapping[str, tuple[int, int]] = MappingProxyType({})
#: Of a drawer, the vault and the bank.
_NO_TABLE = SetUp("", "")


def _earned(code: str) -> int:
    """1 where what is on the account's normal side is income, -1 where it is a cost."""
    return 1 if kind_of(code).normal_side == CREDIT else -1


def _turned(scope: Scope) -> list[Turned]:
    """What moved on the accounts of the columns, and in the tax boxes; read once in a run."""
    return scope.once("revenue accounts", lambda scope: turned(scope, (*_OF, Account.TAX_BOX), DayRange.of(scope)))


def sums(scope: Scope) -> dict[tuple[str, str], dict[str, int]]:
    """By day and place; read once in a run."""
    return scope.once("revenue by day and place", _sums)


def _sums(scope: Scope) -> dict[tuple[str, str], dict[str, int]]:
    days = DayRange.of(scope)
    found: dict[tuple[str, str], dict[str, int]] = {}
    for one in _turned(scope):
        if one.number != Account.TAX_BOX and days.takes(one.day) and is_asked(scope, one.place):
            row = found.setdefault((one.day, one.place), dict.fromkeys(_NAMES, 0))
            row[_OF[Account(one.number)]] += one.net * _earned(one.code)
    return found


def _played(scope: Scope) -> dict[tuple[str, str], tuple[int, int]]:
    """Hands that were settled or ruled on, and the money that seats played for in them, by day and table."""
    return {key: found for key, found in played(scope).items() if is_asked(scope, key[1])}


def _minutes(scope: Scope) -> dict[tuple[str, str], int]:
    """Whole minutes that tables were open, by day and table."""
    return {key: spent // 60 for key, spent in times(scope).tables.items() if is_asked(scope, key[1])}


def _rows(scope: Scope) -> Iterator[Row]:
    booked, hands_of, minutes, of_tables = sums(scope), _played(scope), _minutes(scope), tables(scope)
    nothing = dict.fromkeys(_NAMES, 0)
    for key in sorted(booked.keys() | hands_of.keys() | minutes.keys()):
        row, (hands, handle) = booked.get(key, nothing), hands_of.get(key, (0, 0))
        table = of_tables.get(key[1], _NO_TABLE)
        yield (
            key[0] or None, key[1], table.game or None, table.area or None, minutes.get(key, 0), hands, handle,
            *row.values(), sum(row.values()), share(row["tax"], handle),
        )  # fmt: skip


def _months(scope: Scope) -> Iterator[Row]:
    found: dict[str, list[int]] = {}
    for (day, _), row in sorted(sums(scope).items()):
        of_month = found.setdefault(day[:7], [0] * len(row))
        for at, amount in enumerate(row.values()):
            of_month[at] += amount
    for month, of_month in sorted(found.items()):
        yield month, *of_month, sum(of_month)


def compared(
    results: Mapping[str, tuple[int, int]], days: DayRange, begun: Mapping[str, tuple[int, int]] = _NOTHING
) -> Iterator[Row]:
    """By day: tax and result, those of a week before, the result's change, and both to date in the month and in the
    year. `results`: tax and result by day, of all days, or of those from a week before the first one, with what the
    month and the year of that day had come to before it (`begun`); a day of a week before without any had none."""
    to_date = dict(begun)
    for day, (tax, result) in sorted(results.items()):
        for span in (day[:7], day[:4]):
            taxed, earned = to_date.get(span, (0, 0))
            to_date[span] = taxed + tax, earned + result
        if days.takes(day):
            before = (date.fromisoformat(day) - timedelta(days=7)).isoformat()
            then = results.get(before)
            change = None if then is None else result - then[1]
            yield day, tax, result, *(then or (None, None)), change, *to_date[day[:7]], *to_date[day[:4]]


def _compared(scope: Scope) -> Iterator[Row]:
    """With the days of the week before the first one; what is to date began before them."""
    return compared(scope.once("results by day", _results), DayRange.of(scope), scope.once("begun", _begun))


def _week_before(scope: Scope) -> str | None:
    """The first day with which days asked for are compared; None where they begin with the first one of the house."""
    first = DayRange.of(scope).first
    return None if first is None else (date.fromisoformat(first) - timedelta(days=7)).isoformat()


def _begun(scope: Scope) -> dict[str, tuple[int, int]]:
    """Tax and result of the month and of the year of the first day that is read, up to the day before it."""
    begins = _week_before(scope)
    if begins is None:
        return {}
    tax, result = _until(scope, begins)
    found = {}
    for span in (begins[:7], begins[:4]):
        earlier = _until(scope, f"{span}-01-01"[:10])
        found[span] = tax - earlier[0], result - earlier[1]
    return found


def _until(scope: Scope, day: str) -> tuple[int, int]:
    """Tax and result of all days before a day."""
    tax = result = 0
    for (code, _), balance in held_before(scope, _OF, day).items():
        if is_asked(scope, code.partition("/")[2]):
            result += balance * _earned(code)
            tax += balance if code.partition("/")[0] == Account.HOUSE_TAX else 0
    return tax, result


def _results(scope: Scope) -> dict[str, tuple[int, int]]:
    """Tax and result by day, of all days from a week before the first one up to the last one asked for."""
    found: dict[str, tuple[int, int]] = {}
    filters = {name: value for name, value in scope.filters.items() if name != "from"}
    begins = _week_before(scope)
    wider = Scope(scope.house, scope.as_of, filters if begins is None else filters | {"from": begins})
    for (day, _), row in _sums(wider).items():
        if day:
            tax, result = found.get(day, (0, 0))
            found[day] = tax + row["tax"], result + sum(row.values())
    return found


def _is_account_asked(scope: Scope, code: str) -> bool:
    return is_asked(scope, code.partition("/")[2])


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    yield from _LATER.equalities(scope)
    said = dict.fromkeys(_NAMES, 0)
    for (code, _), net in recorded(scope, _OF, DayRange.of(scope)).items():
        number, _, where = code.partition("/")
        if is_asked(scope, where):
            said[_OF[Account(number)]] -= net
    totals = results["revenue"].totals
    for name in _NAMES:
        yield Equality(
            "{name} of these rows = what the events record", totals[name], said[name], Type.MONEY, coded={"name": name}
        )
    yield Equality(
        "results of the days = results of the months", totals["result"], results["months"].totals["result"], Type.MONEY
    )
    yield from _to_date(scope, results)
    yield from _tax_boxes(scope)
    hands, handle = _stored(scope)
    yield Equality("hands = settled and ruled by the events", totals["hands"], hands, Type.COUNT)
    if not scope.filters.keys() - {AREA.name}:
        yield Equality("handle = handle of the rows of hands", totals["handle"], handle, Type.MONEY)
        held = _held(scope, scope.filters.get(AREA.name))
        for name in _NAMES:
            yield Equality(
                "{name} of all days = balance of the accounts",
                totals[name],
                held[name],
                Type.MONEY,
                coded={"name": name},
            )
    yield _of_tax(scope)


def _of_tax(scope: Scope) -> Equality:
    """The tax of all tables by what was played there."""
    days = DayRange.of(scope)
    if days.first is None:
        booked = _held(scope, None)["tax"]
        return Equality("tax by hands, rulings and closings = balance of 4010", taxed(scope), booked, Type.MONEY)
    tax = (one for one in _turned(scope) if one.number == Account.HOUSE_TAX and days.takes(one.day))
    booked = sum(one.net for one in tax)
    return Equality(
        "tax by hands, rulings and closings of these days = what 4010 took in them", taxed(scope), booked, Type.MONEY
    )


def _held(scope: Scope, area: str | None) -> dict[str, int]:
    """Balances of the columns' accounts: all, or those of the tables whose rows name an area."""
    wanted = None if area is None else places.tables(scope.house, area=area)
    held = dict.fromkeys(_NAMES, 0)
    for one in balances(scope):
        if one.number in _OF and (wanted is None or one.place in wanted):
            held[_OF[Account(one.number)]] += one.balance * _earned(one.code)
    return held


def _tax_boxes(scope: Scope) -> Iterator[Equality]:
    """Chips of the tax are put into the box of the table: what later rulings give back comes from the tray."""
    days = DayRange.of(scope)
    tax = chips = 0
    for one in _turned(scope):
        if one.kind in ("hand.settled", "hand.ruled") and days.takes(one.day) and is_asked(scope, one.place):
            if one.number == Account.HOUSE_TAX:
                tax += one.net
            elif one.number == Account.TAX_BOX:
                chips += one.net * face_value(one.commodity)
    yield Equality("tax of hands = chips put into tax boxes", tax, chips, Type.MONEY)


def _to_date(scope: Scope, results: Results) -> Iterator[Equality]:
    """The figures to date, where the rows have whole months: without a first day."""
    if "from" not in scope.filters:
        newest = {row[0][:7]: row for row in _compared(scope) if isinstance(row[0], str)}
        undated = sum(sum(row.values()) for (day, _), row in sums(scope).items() if not day)
        to_date = sum(row[7] for row in newest.values() if isinstance(row[7], int))
        yield Equality(
            "results to date at the ends of the months = results of the months",
            to_date + undated, results["months"].totals["result"], Type.MONEY,
        )  # fmt: skip


def _stored(scope: Scope) -> tuple[int, int]:
    """Hands by their last event, and the handle of the rows of those hands."""
    found = [one for one in ends(scope) if one.state != "voided" and is_asked(scope, one.table)]
    return sum(one.hands for one in found), sum(one.handle for one in found)


_AMOUNTS = (
    money("tax", "Tax"), money("fees", "Fees"), money("other", "Other income"), money("bonus", "Bonuses"),
    money("goodwill", "Goodwill"), money("cash_variance", "Cash over/short"), money("chip_variance", "Chip over/short"),
    money("foreign_loss", "Lost on chips of others"), money("counterfeits", "Counterfeits"),
    money("stakes_given_back", "Stakes of minors"), money("result", "Result"),
)  # fmt: skip

_LATER = Later(tuple(_OF), _is_account_asked, _earned)

REPORT = Report(
    id="daily-revenue",
    number="A5",
    version=8,
    title="Daily revenue",
    text="What the house earned (above zero) and bore (below) by gaming day and place, as it was booked in the day; "
    "what was booked later for a day stands apart. A table is in the area in which it was set up.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "revenue",
            "By day and place",
            (
                Column("day", "Gaming day", Type.DAY),
                ref("place", "Place"),
                ref("game", "Game"),
                ref("area", "Area"),
                count("minutes", "Minutes open"),
                count("hands", "Hands"),
                money("handle", "Handle"),
                *_AMOUNTS,
                Column("tax_share", "Tax of handle", Type.SHARE),
            ),
            _rows,
            groups=("day", "place", "game", "area"),
        ),
        Section("months", "By month", (text("month", "Month"), *_AMOUNTS), _months),
        Section(
            "compared",
            "Compared, and to date",
            (
                Column("day", "Gaming day", Type.DAY),
                money("tax", "Tax"),
                money("result", "Result"),
                money("week_before_tax", "Tax a week before", total=False),
                money("week_before_result", "Result a week before", total=False),
                money("change", "Change of the result", total=False),
                money("month_tax", "Tax of the month to date", total=False),
                money("month_result", "Result of the month to date", total=False),
                money("year_tax", "Tax of the year to date", total=False),
                money("year_result", "Result of the year to date", total=False),
            ),
            _compared,
        ),
        _LATER.section(),
    ),
    equalities=_equalities,
    filters=(*DAYS, PLACE, AREA, GAME),
    formats=(*FORMATS, Format.SVG),
    charts=(
        Chart(
            name="days",
            title="Result and tax by gaming day",
            text="What the house earned, less what it bore.",
            section="revenue",
            kind=ChartKind.BARS,
            x="day",
            series=(Series("Result", "result"), Series("Tax", "tax")),
        ),
    ),
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
)
