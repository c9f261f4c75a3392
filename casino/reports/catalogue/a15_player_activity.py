"""A15: what each player brought, took, won, lost and tipped, by day; and how much of it nobody is named for."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import kind_of
from casino.reports.frame.columns import Column, Row, Type, count, flag, money, ref, share
from casino.reports.frame.filters import DAYS, GAME, DayRange
from casino.reports.frame.movements import Turned, events, recorded, with_opening
from casino.reports.frame.reading import balances
from casino.reports.frame.report import (
    Equality,
    Filter,
    FilterKind,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.trail import DaysOfEvents, at, minutes, tables
from casino.reports.player_flags import plays_without_cash, reached, reached_by_events
from casino.reports.player_hands import moved_by_hands, results, staked_in_days, tax_of_winners
from casino.reports.player_protection import excluded_players
from casino.staff.models import Role

PLAYER = Filter("player", FilterKind.CODE, "Only this player.")
LEAST = Filter("least", FilterKind.AMOUNT, "Only players who bought chips for at least this, minor units.")
#: A player's chips, away from the tables and at them.
_CHIPS = (Account.CHIPS_OUTSTANDING, Account.SEAT_STACK)
_NAMES = (
    "cage_in", "table_in", "noncash_in", "deposit_in", "attributed", "cage_out", "noncash_out", "held_out", "play",
    "tips", "other",
)  # fmt: skip
#: What comes in and goes out by the kind of the posting. Chips that are brought and were owed to nobody known are
#: attributed first.
_IN = {
    "cage.buy_in": "cage_in", "table.buy_in": "table_in", "cage.noncash_buy_in": "noncash_in",
    "cage.deposit_drawn": "deposit_in",
}  # fmt: skip
_OUT = {"cage.cash_out": "cage_out", "cage.noncash_paid": "noncash_out", "cage.payout_held": "held_out"}
#: Between a player's own accounts, but for what is brought to a seat and was owed to nobody known.
_OWN = ("table.sat_down", "table.chips_added", "table.left", "table.moved")
_BEARER = ("cage.bearer_buy_in", "cage.bearer_cash_out")


def _columns(one: Turned) -> Iterator[tuple[str, int]]:
    """The columns of what moved, and its amounts there: what goes out stands above zero. A mirror takes back what its
    posting did."""
    kind = one.kind
    if kind in _IN:
        yield _IN[kind], one.net
    elif kind in _OUT:
        # What came in belongs to chips that were brought; of a mirror it is what went out.
        came, paid = (-one.out, one.into) if one.undoes else (one.into, -one.out)
        yield "attributed", came
        yield _OUT[kind], -paid
    elif kind.startswith("chips.") or kind in _OWN:
        yield "attributed", one.net
    elif kind == "table.tip":
        yield "tips", -one.net
    elif kind.startswith(("hand.", "table.carry")):
        yield "play", one.net
    else:
        yield "other", one.net


def _who(code: str) -> str:
    """The player of an account."""
    return code.rpartition("/")[2]


#: Where money comes to and goes from when chips are bought and paid: cash, cards, bank, what is held for a player.
_MONEY = (
    Account.DRAWER_CASH, Account.DROP_CASH, Account.CLEARING, Account.BANK_ACCOUNT, Account.HELD_PAYOUTS,
)  # fmt: skip


def _turned(scope: Scope, *numbers: str) -> list[Turned]:
    """What moved on the accounts of these numbers, after what they held before the days; all that the report needs is
    read once in a run."""
    every = scope.once("accounts of players", lambda scope: with_opening(
        scope, (*_CHIPS, Account.CHIPS_UNATTRIBUTED, *_MONEY, Account.TABLE_FEES), DayRange.of(scope)
    ))  # fmt: skip
    return [one for one in every if one.number in numbers]


def _chips(scope: Scope) -> list[Turned]:
    """What moved on the accounts of chips, those of players and those nobody is named for."""
    return _turned(scope, *_CHIPS, Account.CHIPS_UNATTRIBUTED)


def _is_wanted(scope: Scope, who: str) -> bool:
    """Whether a run asks for a player: this one, or one of those who have visited tables of a game in its days."""
    return scope.filters.get("player") in (None, who) and (GAME.name not in scope.filters or who in _visitors(scope))


def _visitors(scope: Scope) -> set[str]:
    """Who has been at tables of the game that a run asks for, in its days."""
    days = DayRange.of(scope)
    return {player for player, day, game in _visited(scope) if game == scope.filters[GAME.name] and days.takes(day)}


def _sums(scope: Scope) -> dict[str, dict[str, int]]:
    """By player: what was held before the days asked for, and what moved in them."""
    days = DayRange.of(scope)
    found: dict[str, dict[str, int]] = {}
    for one in _chips(scope):
        who = _who(one.code)
        if one.number not in _CHIPS or not _is_wanted(scope, who):
            continue
        if not (days.takes(one.day) or days.is_before(one.day)):
            continue
        row = found.setdefault(who, dict.fromkeys(("opening", "staked", *_NAMES), 0))
        if days.is_before(one.day):
            row["opening"] += one.net
            continue
        for column, amount in _columns(one):
            row[column] += amount
        if one.kind == "hand.stakes":
            row["staked"] -= one.net
    return dict(sorted(found.items()))


def _net(row: dict[str, int]) -> int:
    """What the columns come to."""
    out = sum(row[name] for name in (*_OUT.values(), "tips"))
    return sum(row[name] for name in (*_IN.values(), "attributed", "play", "other")) - out


def _attributed_share(row: dict[str, int]) -> int | None:
    """Of the chips that came to a player those that were bought by nobody known; None where none came."""
    came = sum(row[name] for name in (*_IN.values(), "attributed"))
    return share(row["attributed"], came) if came > 0 else None


def _players(scope: Scope) -> Iterator[Row]:
    least = int(scope.filters.get("least", 0))
    large, excluded = reached(scope), excluded_players(scope)
    cashless = plays_without_cash(scope, staked_in_days(_chips(scope)))
    for who, row in _sums(scope).items():
        bought = row["cage_in"] + row["table_in"] + row["noncash_in"]
        if bought >= least:
            net = [row[name] for name in _NAMES]
            yield (
                who, row["opening"], *net, row["opening"] + _net(row), row["staked"], _attributed_share(row),
                who in large, who in cashless, who in excluded,
            )  # fmt: skip


#: Player, gaming day and game of a visit.
_Visit = tuple[str, str, str]


class _Visits:
    """How long and how often each player played, by gaming day and the game of the tables, as the events say."""

    def __init__(self, scope: Scope) -> None:
        self.rows: dict[_Visit, dict[str, Any]] = {}
        self._tables, self._days = tables(scope), DaysOfEvents(scope)
        self._seated: dict[tuple[str, str], tuple[datetime, str]] = {}
        kinds = ("table.sat_down", "table.moved_in", "table.buy_in", "table.left", "table.moved_out", "table.closed")
        for event, chain, _, doc in events(scope, kinds):
            self._add(event, chain.partition("/")[2], doc)
        for key in list(self._seated):
            self._left(*key, scope.as_of.at)
        for one in results(scope):
            row = self._row(one.player, one.day, one.table)
            for name in ("hands", "ruled", "net", "tax"):
                row[name] += getattr(one, name)
        for moved in _chips(scope):
            if moved.kind == "hand.stakes" and moved.number in _CHIPS:
                self._row(_who(moved.code), moved.day, moved.place.partition("/")[0])["staked"] -= moved.net

    def _row(self, player: str, day: str, table: str) -> dict[str, Any]:
        nothing = dict.fromkeys(("minutes", "hands", "ruled", "staked", "net", "tax"), 0)
        return self.rows.setdefault((player, day, self._tables[table].game), {"tables": set(), **nothing})

    def _add(self, event: int, table: str, doc: dict[str, Any]) -> None:
        data, day = doc["data"], self._days.of(event)
        match doc["kind"]:
            case "table.sat_down" | "table.moved_in" | "table.buy_in":
                self._seated.setdefault((table, data["player"]), (at(doc), day))
                self._row(data["player"], day, table)["tables"].add(table)
            case "table.left" | "table.moved_out":
                self._left(table, data["player"], at(doc))
            case "table.closed":
                for key in [key for key in self._seated if key[0] == table]:
                    self._left(*key, at(doc))

    def _left(self, table: str, player: str, when: datetime) -> None:
        if (table, player) in self._seated:
            begun, day = self._seated.pop((table, player))
            self._row(player, day, table)["minutes"] += minutes(begun, when)


def _visited(scope: Scope) -> dict[_Visit, dict[str, Any]]:
    """Every visit; read once in a run."""
    return scope.once("visits", lambda scope: _Visits(scope).rows)


def _visits(scope: Scope) -> Iterator[Row]:
    days, asked = DayRange.of(scope), scope.filters
    for (player, day, game), row in sorted(_visited(scope).items()):
        if days.takes(day) and asked.get("player") in (None, player) and asked.get(GAME.name) in (None, game):
            yield (
                player, day or None, game, row["minutes"], " ".join(sorted(row["tables"])), row["hands"],
                row["ruled"], row["staked"], row["net"], row["tax"],
            )  # fmt: skip


def _unnamed(scope: Scope) -> Iterator[Row]:
    """By day what was bought and paid with a name and without one."""
    days = DayRange.of(scope)
    found: dict[str, list[int]] = {}
    for one in _chips(scope):
        if not days.takes(one.day):
            continue
        row = found.setdefault(one.day, [0, 0, 0, 0])
        if one.kind in _OUT:
            # What is brought and was owed to nobody known becomes the player's first, and is paid with the rest.
            row[2] -= one.net
        elif one.number == Account.CHIPS_UNATTRIBUTED:
            if one.kind in _BEARER:
                row[1 if one.kind == _BEARER[0] else 3] += one.net if one.kind == _BEARER[0] else -one.net
        elif one.kind in _IN and one.kind != "cage.deposit_drawn":
            row[0] += one.net
    for day, (named_in, bearer_in, named_out, bearer_out) in sorted(found.items()):
        came = named_in + bearer_in
        if came or named_out or bearer_out or bearer_in:
            without = bearer_in * 10_000 // came if came > 0 else None
            yield day or None, named_in, bearer_in, without, named_out, bearer_out


def _paid_in_money(scope: Scope) -> tuple[int, int]:
    """What came and what was paid for chips, by the accounts of the money."""
    days, came, paid = DayRange.of(scope), 0, 0
    bought = {*_IN.keys() - {"cage.deposit_drawn"}, _BEARER[0]}
    for one in _turned(scope, *_MONEY):
        net = one.net * kind_of(one.code).normal_side
        if days.takes(one.day) and one.kind in bought:
            came += net
        elif days.takes(one.day) and one.kind in (*_OUT, _BEARER[1]):
            paid -= net
    return came, paid


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    rows = _sums(scope)
    every = recorded(scope, _CHIPS, DayRange.of(scope))
    said = sum(-net for (code, _), net in every.items() if _is_wanted(scope, _who(code)))
    yield Equality(
        "what moved = what the events record on 2010 and 2020", sum(map(_net, rows.values())), said, Type.MONEY
    )
    if "until" not in scope.filters:
        held = sum(one.balance for one in balances(scope) if one.number in _CHIPS and _is_wanted(scope, _who(one.code)))
        closing = sum(row["opening"] + _net(row) for row in rows.values())
        yield Equality("chips of the players now = balances of 2010 and 2020", closing, held, Type.MONEY)
    named, (came, paid) = results["unnamed"].totals, _paid_in_money(scope)
    yield Equality(
        "bought by name and without = money for chips", named["named_in"] + named["bearer_in"], came, Type.MONEY
    )
    yield Equality(
        "paid by name and without = money paid for chips", named["named_out"] + named["bearer_out"], paid, Type.MONEY
    )
    if "least" not in scope.filters:
        yield Equality("rows = players with chips", results["players"].row_count, len(rows), Type.COUNT)
    if "player" not in scope.filters:
        yield Equality(
            "players with large transactions by the ledger = by the events",
            len(reached(scope)), len(reached_by_events(scope)), Type.COUNT,
        )  # fmt: skip
    visits = results["visits"].totals
    if GAME.name not in scope.filters:
        staked = sum(row["staked"] for row in rows.values())
        yield Equality("staked by day = staked by player", visits["staked"], staked, Type.MONEY)
    if not scope.filters:
        yield Equality(
            "tax that winners bore = tax of settled and ruled hands", visits["tax"], tax_of_winners(scope), Type.MONEY
        )
    if not scope.filters.keys() - {GAME.name}:
        wanted = {code for code, one in tables(scope).items() if scope.filters.get(GAME.name) in (None, one.game)}
        fees = sum(
            one.net
            for one in _turned(scope, Account.TABLE_FEES)
            if one.kind.startswith("hand.") and one.place in wanted
        )
        yield Equality(
            "net of hands, less fees = what settled and ruled hands moved on 2020",
            visits["net"] - fees, moved_by_hands(scope, wanted), Type.MONEY,
        )  # fmt: skip


REPORT = Report(
    id="player-activity",
    number="A15",
    version=5,
    title="Player activity",
    text="What each player held, bought, brought, played, tipped and was paid; how long and how often each played; and "
    "what was bought and paid without a name. Flags: a transaction that came to the house's threshold; stakes of a day "
    "beyond five times that, with no cash paid in on it; an exclusion that is in force. Of one game: its visits, and "
    "all the money of the players who made them.",
    roles=(Role.COMPLIANCE, Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "players",
            "Players",
            (
                ref("player", "Player"), money("opening", "Chips before"), money("cage_in", "Bought at the cage"),
                money("table_in", "Bought at tables"), money("noncash_in", "By card or transfer"),
                money("deposit_in", "Out of the deposit"), money("attributed", "Attributed"),
                money("cage_out", "Paid at the cage"), money("noncash_out", "Paid by the bank"),
                money("held_out", "Held payouts"), money("play", "Net of play, after fees"), money("tips", "Tips"),
                money("other", "Other"), money("closing", "Chips after"), money("staked", "Staked"),
                Column("attributed_share", "Attributed, of what came", Type.SHARE),
                flag("large", "Threshold reached"), flag("cashless", "Much play without cash"),
                flag("excluded", "Excluded now"),
            ),
            _players,
        ),
        Section(
            "visits",
            "By gaming day and game",
            (
                ref("player", "Player"), Column("day", "Gaming day", Type.DAY), ref("game", "Game"),
                count("minutes", "Minutes seated"), ref("tables", "Tables"), count("hands", "Hands"),
                count("ruled", "Of them ruled on"), money("staked", "Staked"),
                money("net", "Net of hands, before fees"), money("tax", "Tax of pots won"),
            ),
            _visits,
            groups=("player", "day", "game"),
        ),
        Section(
            "unnamed",
            "Without a name",
            (
                Column("day", "Gaming day", Type.DAY), money("named_in", "Bought by name"),
                money("bearer_in", "Bought without"), Column("share", "Share without", Type.SHARE),
                money("named_out", "Paid by name"), money("bearer_out", "Paid without"),
            ),
            _unnamed,
            groups=("day",),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, GAME, PLAYER, LEAST),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.LAUNDERING,
)  # fmt: skip
