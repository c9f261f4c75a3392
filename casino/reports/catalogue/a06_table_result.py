"""A6: what each table played and brought, by gaming day, game, stake, dealer and hour; its tray piece by piece."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import face_value
from casino.reports.catalogue import a05_daily_revenue as revenue
from casino.reports.frame.charts import Chart, ChartKind, Series
from casino.reports.frame.columns import (
    Column,
    Row,
    Type,
    count,
    day,
    decimal,
    money,
    pieces,
    ratio,
    ref,
    share,
)
from casino.reports.frame.filters import AREA, DAYS, DEALER, GAME, TABLE, DayRange
from casino.reports.frame.late import Later
from casino.reports.frame.movements import Turned, events, recorded, with_opening
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
from casino.reports.frame.trail import DaysOfEvents, place, tables
from casino.reports.table_hands import Played, Sums, ends, sums
from casino.reports.table_time import Times, times
from casino.staff.models import Role

_HOUR = 3_600
#: What is read from the ledger for tables, beside the tax, which the hands say.
_NUMBERS = (
    Account.HOUSE_TAX, Account.TABLE_FEES, Account.BONUS, Account.GOODWILL, Account.CASH_OVER_SHORT,
    Account.CHIP_OVER_SHORT, Account.CUKASSZA, Account.DROP_CASH, Account.TRAY,
)  # fmt: skip
#: Columns of the tray by the kind of posting; what is none of these is under `other`.
_TRAY = {
    "table.tray_stocked": "stocked", "fill.received": "fills", "credit.sent": "credits", "table.buy_in": "buy_ins",
    "table.exchange": "exchanges", "hand.settled": "hands", "hand.ruled": "hands", "hand.ruled_later": "hands",
    "tray.counted": "variance",
}  # fmt: skip
_TRAY_COLUMNS = ("opening", *dict.fromkeys(_TRAY.values()), "other", "closing")


def _figures(played: Played, seconds: int) -> tuple[int | None, ...]:
    """Hands, ruled, voided, minutes open, hands an hour, median of seconds, seats on average and at most, handle,
    average pot, uncontested, tax, tax an hour, tax a hand."""
    hands = played.hands
    return (
        hands, played.ruled, played.voided, seconds // 60, ratio(hands * _HOUR, seconds, 2), played.median,
        ratio(played.seats, hands, 2), played.most_seats, played.handle, None if not hands else played.pots // hands,
        share(played.uncontested, played.showable), played.tax, None if not seconds else played.tax * _HOUR // seconds,
        None if not hands else played.tax // hands,
    )  # fmt: skip


@dataclass(slots=True)
class _Result:
    """Everything that the sections show."""

    #: Every table with its game.
    games: dict[str, str]
    #: Tables that the run asks for.
    wanted: set[str]
    times: Times
    hands: Sums
    #: By day, table and column, minor units.
    money: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    #: Tax beside that of hands (closings less refunds), and table buy-ins, by the events.
    given: dict[tuple[str, str], int] = field(default_factory=dict)
    bought: int = 0

    def days_and_tables(self) -> list[tuple[str, str]]:
        """In the order of the rows."""
        keys = self.hands.tables.keys() | self.money.keys() | self.times.tables.keys()
        return sorted(key for key in keys if key[1] in self.wanted)


def _result(scope: Scope) -> _Result:
    return scope.once("tables", _read)


def _read(scope: Scope) -> _Result:
    of_tables, asked = tables(scope), scope.filters
    games = {code: table.game for code, table in of_tables.items()}
    wanted = {
        code: table.game
        for code, table in of_tables.items()
        if asked.get("table") in (None, code)
        and asked.get("game") in (None, table.game)
        and asked.get("area") in (None, table.area)
    }
    found = _Result(games, set(wanted), times(scope), sums(scope, wanted))
    if not _of_dealer(scope):
        _read_money(scope, found)
        _read_events(scope, found)
    return found


def _of_dealer(scope: Scope) -> bool:
    """Whether a run asks for the hands of one dealer: what tables have besides hands is no dealer's."""
    return DEALER.name in scope.filters


def _read_money(scope: Scope, found: _Result) -> None:
    for one in _of_tables(scope, found):
        row = found.money.setdefault((one.day, one.place), {})
        for name, amount in _columns(one):
            row[name] = row.get(name, 0) + amount


def _of_tables(scope: Scope, found: _Result) -> Iterable[Turned]:
    days = DayRange.of(scope)
    return (one for one in _accounts(scope) if one.place in found.wanted and days.takes(one.day))


def _accounts(scope: Scope) -> list[Turned]:
    """What moved on the accounts of all tables, after what they held before the days; read once in a run."""
    return scope.once("table accounts", lambda scope: with_opening(scope, _NUMBERS, DayRange.of(scope)))


def _columns(one: Turned) -> Iterator[tuple[str, int]]:
    match one.number:
        case Account.TABLE_FEES:
            yield "fees", one.net
        case Account.HOUSE_TAX:
            yield "tax", one.net
        case Account.BONUS:
            yield "bonus", -one.net
        case Account.GOODWILL:
            yield "goodwill", -one.net
        case Account.CASH_OVER_SHORT | Account.CHIP_OVER_SHORT:
            yield "variance", -one.net
        case Account.CUKASSZA:
            yield "carried_in", one.into
            yield "carried_out", one.out
        case Account.DROP_CASH if one.kind == "table.buy_in":
            yield "drop", one.net
        case Account.TRAY if one.kind == "fill.received":
            yield "fills", face_value(one.commodity) * one.net
        case Account.TRAY if one.kind == "credit.sent":
            yield "credits", -face_value(one.commodity) * one.net


def _read_events(scope: Scope, found: _Result) -> None:
    days = DaysOfEvents(scope)
    for event, chain, _, doc in events(scope, ("table.buy_in", "table.closed", "hand.ruled_later"), days.range):
        table, data = place(chain), doc["data"]
        if table not in found.wanted or not days.takes(event):
            continue
        key, amount = (days.of(event), table), 0
        if doc["kind"] == "table.buy_in":
            found.bought += data["amount"]
        elif doc["kind"] == "table.closed":
            prefix = f"{Account.HOUSE_TAX}/"
            amount = sum(given for code, given in data["shares"].items() if code.startswith(prefix))
        else:
            amount = -sum(data["tax_refunded"].values())
        found.given[key] = found.given.get(key, 0) + amount


def _tables(scope: Scope) -> Iterator[Row]:
    found = _result(scope)
    for key in found.days_and_tables():
        played = found.hands.tables.get(key, Played())
        yield key[0] or None, key[1], found.games[key[1]], *_figures(played, found.times.open_of(*key))


def _money(scope: Scope) -> Iterator[Row]:
    found = _result(scope)
    if _of_dealer(scope):
        return
    for key in found.days_and_tables():
        row = found.money.get(key, {})
        yield key[0] or None, key[1], found.games[key[1]], *(row.get(name, 0) for name in _MONEY)


def _games(scope: Scope) -> Iterator[Row]:
    """Averages are those of all hours and hands of a game, not averages of its tables."""
    found = _result(scope)
    by_game: dict[str, list[tuple[str, str]]] = {}
    for key in found.days_and_tables():
        by_game.setdefault(found.games[key[1]], []).append(key)
    for game, keys in sorted(by_game.items()):
        seconds = sum(found.times.open_of(*key) for key in keys)
        yield game, *_figures(found.hands.games.get(game, Played()), seconds)


def _stakes(scope: Scope) -> Iterator[Row]:
    """Hours are those of the tables that had this stake on the day, and no other: a table's day is not divided."""
    found = _result(scope)
    of_tables = found.hands.stakes_of
    for (game, stake), played in sorted(found.hands.stakes.items()):
        keys = [key for key, those in of_tables.items() if found.games[key[1]] == game and stake in those]
        whole = all(of_tables[key] == {stake} for key in keys)
        yield game, stake, *_figures(played, sum(found.times.open_of(*key) for key in keys) if whole else 0)


def _dealers(scope: Scope) -> Iterator[Row]:
    """Hours are those that a dealer has taken tables over for; who deals without that has none."""
    found = _result(scope)
    seconds: dict[tuple[str, str], int] = {}
    for (_, table, dealer), spent in found.times.dealers.items():
        if table in found.wanted:
            key = dealer, found.games[table]
            seconds[key] = seconds.get(key, 0) + spent
    for key in sorted(found.hands.dealers.keys() | seconds.keys()):
        yield *key, *_figures(found.hands.dealers.get(key, Played()), seconds.get(key, 0))


def _hours(scope: Scope) -> Iterator[Row]:
    for hour, played in sorted(_result(scope).hands.hours.items()):
        yield hour, played.hands, played.handle, played.tax


def _trays(scope: Scope) -> Iterator[Row]:
    if _of_dealer(scope):
        return
    for (table, commodity), row in sorted(_tray_sums(scope).items()):
        yield table, commodity, face_value(commodity), *(row[name] for name in _TRAY_COLUMNS)


def _tray_sums(scope: Scope) -> dict[tuple[str, str], dict[str, int]]:
    """Pieces of each tray: opening and closing of the days asked for, and what came (above zero) and went."""
    found, days = _result(scope), DayRange.of(scope)
    sums: dict[tuple[str, str], dict[str, int]] = {}
    for one in _accounts(scope):
        if one.number != Account.TRAY or one.place not in found.wanted:
            continue
        before, within = days.is_before(one.day), days.takes(one.day)
        if before or within:
            row = sums.setdefault((one.place, one.commodity), dict.fromkeys(_TRAY_COLUMNS, 0))
            row["opening" if before else _TRAY.get(one.kind, "other")] += one.net
            row["closing"] += one.net
    return sums


def _is_wanted(scope: Scope, code: str) -> bool:
    return not _of_dealer(scope) and code.partition("/")[2] in _result(scope).wanted


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    yield from _LATER.equalities(scope)
    found = _result(scope)
    totals = results["tables"].totals | results["money"].totals
    counted = _counted(scope, found)
    yield Equality("hands = settled and ruled by the events", totals["hands"], counted["hands"], Type.COUNT)
    yield Equality("voided hands = voids by the events", totals["voided"], counted["voided"], Type.COUNT)
    yield Equality("hands by hour = hands by table", results["hours"].totals["hands"], totals["hands"], Type.COUNT)
    yield Equality("hands by dealer = hands by table", results["dealers"].totals["hands"], totals["hands"], Type.COUNT)
    for name in ("hands", "voided", "handle", "tax"):
        by_stake = results["stakes"].totals[name]
        yield Equality(
            "{name} by stake = {name} by table",
            by_stake,
            totals[name],
            Type.COUNT if name in ("hands", "voided") else Type.MONEY,
            coded={"name": name},
        )
    if not _of_dealer(scope):
        yield from _with_a5(scope, found, totals)
        yield from _drop(scope, found, totals)
        yield from _of_trays(scope, found, results["trays"].totals)


def _with_a5(scope: Scope, found: _Result, totals: Mapping[str, int]) -> Iterator[Equality]:
    of_a5 = dict.fromkeys(("tax", "fees", "bonus", "goodwill", "cash_variance", "chip_variance"), 0)
    for (_, where), row in revenue.sums(Scope(scope.house, scope.as_of, _only_days(scope))).items():
        if where in found.wanted:
            for name in of_a5:
                of_a5[name] += row[name]
    given = sum(found.given.values())
    yield Equality(
        "tax of hands, closings and refunds = tax of these tables in A5",
        totals["tax"] + given,
        of_a5["tax"],
        Type.MONEY,
    )
    booked = sum(row.get("tax", 0) for row in found.money.values())
    yield Equality("tax of hands, closings and refunds = 4010", totals["tax"] + given, booked, Type.MONEY)
    for name in ("fees", "bonus", "goodwill"):
        yield Equality(
            "{name} = {name} of these tables in A5", totals[name], of_a5[name], Type.MONEY, coded={"name": name}
        )
    variances = of_a5["cash_variance"] + of_a5["chip_variance"]
    yield Equality("variance = variances of these tables in A5", totals["variance"], variances, Type.MONEY)


def _drop(scope: Scope, found: _Result, totals: Mapping[str, int]) -> Iterator[Equality]:
    yield Equality("drop = buy-ins at tables by the events", totals["drop"], found.bought, Type.MONEY)
    if not scope.filters:
        yield Equality(
            "drop = cash expected of received boxes, and cash still in boxes", totals["drop"], _boxes(scope), Type.MONEY
        )


def _of_trays(scope: Scope, found: _Result, trays: Mapping[str, int]) -> Iterator[Equality]:
    days = DayRange.of(scope)
    moved = sum(trays[name] for name in _TRAY_COLUMNS[:-1])
    yield Equality("pieces of trays: opening and what moved = closing", moved, trays["closing"], Type.PIECES)
    said = sum(
        net
        for (code, _), net in recorded(scope, (Account.TRAY,), days).items()
        if code.partition("/")[2] in found.wanted
    )
    yield Equality(
        "pieces that moved in trays = what the events record", trays["closing"] - trays["opening"], said, Type.PIECES
    )
    if days.last is None:
        held = sum(one.balance for one in balances(scope) if one.number == Account.TRAY and one.place in found.wanted)
        yield Equality("pieces of trays at the end = balances of 9130", trays["closing"], held, Type.PIECES)


def _only_days(scope: Scope) -> dict[str, str]:
    return {name: value for name, value in scope.filters.items() if name in ("from", "until")}


def _counted(scope: Scope, found: _Result) -> dict[str, int]:
    counts = {"hands": 0, "voided": 0}
    for one in ends(scope):
        if one.table in found.wanted:
            counts["voided" if one.state == "voided" else "hands"] += one.hands
    return counts


def _boxes(scope: Scope) -> int:
    """Cash that was expected in the boxes that were received, and that the books have in those that were not."""
    expected: int = sum(
        doc["data"]["box"].get("expected_cash", 0)
        for _, _, _, doc in events(scope, ("box.received",))
        if doc["data"]["box"]["kind"] == "drop"
    )
    return expected + sum(one.balance for one in balances(scope) if one.number == Account.DROP_CASH)


_MONEY = ("fees", "bonus", "goodwill", "drop", "carried_in", "carried_out", "fills", "credits", "variance")
_FIGURES = (
    count("hands", "Hands"), count("ruled", "Ruled"), count("voided", "Voided"), count("minutes", "Minutes open"),
    decimal("hands_an_hour", "Hands an hour"), count("seconds", "Median of seconds", total=False),
    decimal("seats", "Seats on average"), count("most_seats", "Most seats", total=False), money("handle", "Handle"),
    money("pot", "Average pot", total=False), Column("uncontested", "Uncontested", Type.SHARE),
    money("tax", "Tax of hands"), money("tax_an_hour", "Tax an hour", total=False),
    money("tax_a_hand", "Tax a hand", total=False),
)  # fmt: skip
_AMOUNTS = (
    money("fees", "Fees"), money("bonus", "Bonuses"), money("goodwill", "Goodwill"), money("drop", "Drop"),
    money("carried_in", "Into cukassza"), money("carried_out", "Out of cukassza"), money("fills", "Fills"),
    money("credits", "Credits"), money("variance", "Over and short"),
)  # fmt: skip

_LATER = Later(_NUMBERS, _is_wanted)

REPORT = Report(
    id="table-result",
    number="A6",
    version=4,
    title="Table and game result",
    text="What each table played and brought by gaming day: time open, hands, seats, handle, tax, drop, what came and "
    "went; by game, stake, dealer and hour, and its tray piece by piece. A hand belongs to the day in which it was "
    "settled. Of one dealer: the hands that this person has dealt, by the time that the person had the tables.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "tables",
            "By day and table",
            (day("day", "Gaming day"), ref("table", "Table"), ref("game", "Game"), *_FIGURES),
            _tables,
            groups=("day", "table", "game"),
        ),
        Section(
            "money",
            "Beside the hands, by day and table",
            (day("day", "Gaming day"), ref("table", "Table"), ref("game", "Game"), *_AMOUNTS),
            _money,
            groups=("day", "table", "game"),
        ),
        Section("games", "By game", (ref("game", "Game"), *_FIGURES), _games),
        Section(
            "stakes",
            "By stake",
            (ref("game", "Game"), money("stake", "Stake", total=False), *_FIGURES),
            _stakes,
            groups=("game", "stake"),
        ),
        Section(
            "dealers",
            "By dealer",
            (ref("dealer", "Dealer"), ref("game", "Game"), *_FIGURES),
            _dealers,
            groups=("dealer", "game"),
        ),
        Section(
            "hours",
            "By hour of the deal",
            (
                count("hour", "Hour, local", total=False), count("hands", "Hands"), money("handle", "Handle"),
                money("tax", "Tax of hands"),
            ),
            _hours,
        ),
        Section(
            "trays",
            "Trays, in pieces",
            (
                ref("table", "Table"), ref("commodity", "Denomination"), money("value", "Face value", total=False),
                pieces("opening", "Opening"), pieces("stocked", "Stocked"), pieces("fills", "Fills"),
                pieces("credits", "Credits"), pieces("buy_ins", "Buy-ins"), pieces("exchanges", "Exchanges"),
                pieces("hands", "Tax, bonuses, rulings"), pieces("variance", "Over and short"),
                pieces("other", "Other"), pieces("closing", "Closing"),
            ),
            _trays,
            groups=("table", "commodity"),
        ),
        _LATER.section(),
    ),
    equalities=_equalities,
    filters=(*DAYS, TABLE, AREA, GAME, DEALER),
    formats=(*FORMATS, Format.SVG),
    charts=(
        Chart(
            name="hands-an-hour", title="Hands an hour by gaming day", text="Hands by the hours that tables were open.",
            section="tables", kind=ChartKind.LINES, x="day",
            series=(Series("Hands an hour", "hands", per="minutes", times=60),),
        ),
    ),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.OPERATIONS,
)  # fmt: skip
