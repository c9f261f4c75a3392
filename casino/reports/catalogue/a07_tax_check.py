"""A7: the tax of every settled hand, recomputed by the engine under the rules of the hand, against what was booked."""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Any, NamedTuple

from casino.bookkeeping.accounts import Account
from casino.core.errors import SealedUnreadable
from casino.hands import face_down, replays
from casino.hands.face_down import CardsAltered
from casino.reports import halves
from casino.reports.frame.columns import Column, Row, Type, count, money, ref, text
from casino.reports.frame.filters import DAYS, TABLE
from casino.reports.frame.movements import turned
from casino.reports.frame.reading import balances, fetched, stream
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
from casino.reports.frame.span import span
from casino.reports.frame.trail import DaysOfEvents, place
from casino.reports.table_hands import taxed_beside
from casino.staff.models import Role
from casino.tables.models import Table
from casino.verification.hand_rows import CHUNK, Read, named

SHOW = Filter(
    "show", FilterKind.CHOICE, "`all` hands; without it only those with a difference.", choices=("all", "differences")
)
_SETTLED = """
SELECT event.id, chain.name, event.doc #>> '{data,hand}', (event.doc #>> '{data,result,tax}')::bigint,
    (event.doc #>> '{data,settlement}')::bigint
FROM audit_event event JOIN audit_chainhead chain ON chain.id = event.chain_id
WHERE event.house_id = %s AND event.id BETWEEN %s AND %s AND event.doc ->> 'kind' = 'hand.settled' ORDER BY event.id
"""
#: Tax that settlements have booked.
_BOOKED = """
SELECT entry.transaction_id, -sum(entry.amount)::bigint FROM ledger_entry entry
JOIN ledger_account account ON account.id = entry.account_id
WHERE entry.transaction_id = ANY(%s) AND account.book = %s AND split_part(account.code, '/', 1) = %s GROUP BY 1
"""


#: Sums by table.
_SUMMED = ("hands", "base", "due", "by_base", "stored", "booked", "taken", "unplayable")


class _Settled(NamedTuple):
    """The event that settled a hand, its tax in minor units, and its posting, None where nothing moved."""

    event: int
    tax: int
    posting: int | None


class _Due(NamedTuple):
    """What the engine makes of a hand, minor units: the pot that was won, on which the tax is taken, the tax of its
    play, that of the rules on this base alone, and what its settlement takes from the pot in all. All 0 where the log
    cannot be followed; `problem` says why."""

    base: int = 0
    tax: int = 0
    by_base: int = 0
    taken: int = 0
    problem: str = ""


class _Checked(NamedTuple):
    """One settled hand by its name, table, game, rules, options and handle, and its tax as it was stored and booked."""

    event: int
    hand: str
    table: str
    game: str
    rules: str
    options: str
    handle: int | None
    stored: int
    booked: int
    due: _Due


#: Hands by name, each with what the event that settled it says.
_Chunk = dict[str, _Settled]


def _checked(scope: Scope) -> Iterator[_Checked]:
    """Every settled hand that the run asks for, in the order of the settlements, some hundreds at a time; many are
    replayed by two processes."""
    tables = {found.id: found for found in Table.objects.filter(house=scope.house)}
    checked = halves.in_order(lambda chunk: _of_chunk(scope, tables, chunk), _chunks(scope))
    with closing(checked):
        for found in checked:
            yield from found


def _chunks(scope: Scope) -> Iterator[_Chunk]:
    settled = _settled(scope)
    while chunk := dict(islice(settled, CHUNK)):
        yield chunk


def _of_chunk(scope: Scope, tables: Mapping[int, Table], chunk: _Chunk) -> list[_Checked]:
    booked = dict(fetched(_BOOKED, [
        [one.posting for one in chunk.values() if one.posting is not None], scope.house.id, str(Account.HOUSE_TAX),
    ]))  # fmt: skip
    found = []
    for read in sorted(named(scope.house, tables, list(chunk)), key=lambda read: chunk[read.hand.name].event):
        hand, one = read.hand, chunk[read.hand.name]
        found.append(_Checked(
            one.event, hand.name, hand.table.code, hand.game, hand.rules, _options(hand.options), hand.handle,
            one.tax, booked.get(one.posting, 0), _due(read),
        ))  # fmt: skip
    return found


def _settled(scope: Scope) -> Iterator[tuple[str, _Settled]]:
    """By hand what the event that settled it says."""
    days, lies = DaysOfEvents(scope), span(scope)
    for event, chain, hand, tax, posting in stream(_SETTLED, [scope.house.id, lies.first_event, lies.last_event]):
        if scope.filters.get("table") in (None, place(chain)) and days.takes(event):
            yield hand, _Settled(event, tax, posting)


def _due(read: Read) -> _Due:
    """By the rules of the hand's own version."""
    hand = read.hand
    try:
        replayed = replays.follow(hand, face_down.log(hand, read.lines))
    except CardsAltered as altered:
        return _Due(problem=altered.problem)
    except SealedUnreadable:
        return _Due(problem="the sealed seed does not open")
    if replayed.refusal is not None:
        return _Due(problem=replayed.refusal)
    if replayed.game is None or replayed.game.result is None:
        return _Due(problem="the log ends before the hand does")
    base = replayed.won
    return _Due(base, int(replayed.game.result.tax), replays.tax_on(hand, base), _taken(replayed))


def _taken(replayed: replays.Replay) -> int:
    """What the settlement of a hand takes from its pot, less what it puts in, minor units."""
    pot = replayed.hand.table.account(Account.POT)
    return replayed.booked(replayed.waiting).get(pot, 0)


def _rows(scope: Scope) -> Iterator[Row]:
    """Hands with a difference, or all of them; sums of all by table are left for the next section."""
    days, tables = DaysOfEvents(scope), scope.kept.setdefault("tables", {})
    tables.clear()
    for one in _checked(scope):
        due = one.due
        sums = tables.setdefault(one.table, dict.fromkeys(_SUMMED, 0))
        figures = (1, due.base, due.tax, due.by_base, one.stored, one.booked, due.taken, bool(due.problem))
        for name, value in zip(_SUMMED, figures, strict=True):
            sums[name] += value
        agrees = not due.problem and due.tax == due.by_base == one.booked == one.stored
        if agrees and scope.filters.get("show") != "all":
            continue
        yield (
            days.of(one.event) or None, one.hand, one.table, one.game, one.rules, one.options, one.handle,
            *((None, None, one.stored, one.booked, None) if due.problem else
              (due.base, due.tax, one.stored, one.booked, one.booked - due.tax)),
            due.problem,
        )  # fmt: skip


def _options(options: Mapping[str, Any]) -> str:
    """What was agreed on at the table, rate and cap of the tax among it, as each game names them."""
    return " ".join(f"{name}={value}" for name, value in sorted(options.items()) if value is not None)


def _sums(scope: Scope) -> Iterator[Row]:
    """All hands by table, whether or not they are shown, as they were replayed for the section before."""
    if "tables" not in scope.kept:
        deque(_rows(scope), maxlen=0)
    for table, sums in sorted(scope.kept["tables"].items()):
        yield table, *sums.values()


def _beside(scope: Scope) -> int:
    """What rulings and closings of tables brought to 4010, less what later rulings gave back, as the events say."""
    return sum(taxed_beside(scope).values())


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    totals = results["tables"].totals
    yield Equality("tax due by the engine = tax booked", totals["due"], totals["booked"], Type.MONEY)
    yield Equality(
        "tax by the rules on the bases = tax due by the engine", totals["by_base"], totals["due"], Type.MONEY
    )
    yield Equality("tax of the stored results = tax booked", totals["stored"], totals["booked"], Type.MONEY)
    yield Equality("hands that cannot be replayed = none", totals["unplayable"], 0, Type.COUNT)
    if not scope.filters.keys() - {"show"}:
        net = dict.fromkeys((Account.HOUSE_TAX, Account.POT), 0)
        for one in turned(scope, net):
            if one.kind == "hand.settled":
                net[Account(one.number)] += one.net
        yield Equality(
            "tax booked of these hands = 4010 by settlements of hands",
            totals["booked"], net[Account.HOUSE_TAX], Type.MONEY,
        )  # fmt: skip
        yield Equality(
            "taken from pots by the engine = by settlements in the ledger",
            totals["taken"], -net[Account.POT], Type.MONEY,
        )  # fmt: skip
        held = sum(one.balance for one in balances(scope) if one.number == Account.HOUSE_TAX)
        yield Equality(
            "tax of hands, rulings and closings = balance of 4010", totals["booked"] + _beside(scope), held, Type.MONEY
        )


REPORT = Report(
    id="tax-check",
    number="A7",
    version=3,
    title="Tax check",
    text="The tax of every settled hand, recomputed by the engine in the version of the hand's rules, beside what was "
    "booked. The base is the pot that was won, on which the tax of the rules is taken. Hands that agree are left out "
    "unless all are asked for.",
    roles=(Role.AUDITOR,),
    sections=(
        Section(
            "hands",
            "Hands",
            (
                Column("day", "Gaming day", Type.DAY), ref("hand", "Hand"), ref("table", "Table"), ref("game", "Game"),
                ref("rules", "Rules"), text("options", "Options"), money("handle", "Handle"),
                money("base", "Base of the tax"), money("due", "Tax due"), money("stored", "Tax of the result"),
                money("booked", "Tax booked"),
                money("difference", "Booked less due"), text("problem", "Problem"),
            ),
            _rows,
            groups=("day", "table", "game", "rules"),
        ),
        Section(
            "tables",
            "All settled hands by table",
            (
                ref("table", "Table"), count("hands", "Hands"), money("base", "Base of the tax"),
                money("due", "Tax due"), money("by_base", "Tax of the bases by the rules"),
                money("stored", "Tax of the results"), money("booked", "Tax booked"),
                money("taken", "Taken from pots"),
                count("unplayable", "Cannot be replayed"),
            ),
            _sums,
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, TABLE, SHOW),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.BOOKS,
)  # fmt: skip
