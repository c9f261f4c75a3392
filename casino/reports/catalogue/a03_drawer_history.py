"""A3: everything that moved in the drawers, entry by entry, with running balances."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import VAULT, Account
from casino.bookkeeping.chart import face_value
from casino.reports.frame.blind import NOTE, open_drawers
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, ref, text, time
from casino.reports.frame.filters import DAYS, DRAWER, ENTRY_KIND, LEAST, OF_ENTRIES, PERSON, DayRange, takes_entry
from casino.reports.frame.movements import Moved, events, held_after, held_before, moved, recorded
from casino.reports.frame.reading import stream
from casino.reports.frame.report import (
    FIGURES,
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
from casino.reports.frame.trail import place
from casino.staff.models import Role

_CASH, _FOREIGN = Account.DRAWER_CASH, Account.FOREIGN_CHIPS
_CHIPS = (Account.CAGE_CHIPS, Account.SET_ASIDE)
_NUMBERS = (_CASH, _FOREIGN, *_CHIPS)
_NOTED = """
SELECT event.id, event.seq, event.doc ->> 'actor', coalesce(event.doc ->> 'approver', ''),
    coalesce(event.doc -> 'data' ->> 'player', event.doc -> 'data' -> 'right' ->> 'player', ''),
    (event.doc -> 'data' ->> 'corrects')::bigint
FROM audit_event event WHERE event.house_id = %s AND event.id <= %s AND event.id IN (
    SELECT noted.event_id FROM audit_posting noted WHERE noted.transaction_id = ANY(%s)
)
"""
SHIFT = Filter("shift", FilterKind.CODE, "Only shifts of this number.")
#: Postings whose events are read together.
_BATCH = 1_000
#: What has running balances, in their order.
LAST_RUNNING = ("cash", "chips", "chips of other houses")


@dataclass(slots=True)
class _Line:
    """What one posting moved in one drawer: minor units; chips by worth."""

    transaction: int
    drawer: str
    kind: str
    undoes: bool
    day: str
    at: datetime
    event: int
    cash: int = 0
    chips: int = 0
    foreign: int = 0
    running: tuple[int, int, int] = field(default=(0, 0, 0))


def _amounts(entry: Moved) -> tuple[int, int, int]:
    if entry.number == _CASH:
        return entry.amount, 0, 0
    if entry.number == _FOREIGN:
        return 0, 0, entry.amount
    return 0, entry.amount * face_value(entry.commodity), 0


def _of_drawer(place: str) -> bool:
    return place not in ("", VAULT)


def _lines(scope: Scope) -> Iterator[_Line]:
    """The lines in the order of the postings, then of the drawers; of days with a first one no others. Running balances
    are those of everything, whatever is shown."""
    running = dict(_opened(scope))
    open_lines: dict[str, _Line] = {}
    transaction = 0
    for entry in moved(scope, _NUMBERS, DayRange.of(scope)):
        if not _of_drawer(entry.place):
            continue
        if entry.transaction != transaction:
            yield from open_lines.values()
            open_lines, transaction = {}, entry.transaction
        line = open_lines.get(entry.place)
        if line is None:
            line = open_lines[entry.place] = _Line(
                entry.transaction, entry.place, entry.kind, entry.undoes is not None, entry.day, entry.at, entry.event
            )
        cash, chips, foreign = _amounts(entry)
        line.cash, line.chips, line.foreign = line.cash + cash, line.chips + chips, line.foreign + foreign
        before = running.get(entry.place, (0, 0, 0))
        line.running = running[entry.place] = (before[0] + cash, before[1] + chips, before[2] + foreign)
    yield from open_lines.values()


def _opened(scope: Scope) -> dict[str, tuple[int, int, int]]:
    """What each drawer held before the days asked for."""
    return scope.once("opened drawers", lambda scope: _sums(held_before(scope, _NUMBERS, DayRange.of(scope).first)))


def _sums(held: Mapping[tuple[str, str], int]) -> dict[str, tuple[int, int, int]]:
    """Cash, chips by worth and chips of other houses, by drawer."""
    found: dict[str, list[int]] = {}
    for (code, commodity), balance in held.items():
        number, _, place = code.partition("/")
        if _of_drawer(place):
            at = 0 if number == _CASH else 2 if number == _FOREIGN else 1
            found.setdefault(place, [0, 0, 0])[at] += balance * (face_value(commodity) if at == 1 else 1)
    return {place: (cash, chips, foreign) for place, (cash, chips, foreign) in found.items()}


def _noted(scope: Scope, lines: list[_Line]) -> dict[int, tuple[Any, ...]]:
    parameters = [scope.house.id, scope.as_of.event, [line.transaction for line in lines]]
    return {row[0]: row[1:] for row in stream(_NOTED, parameters)}


class _Shifts:
    """Which shift of a drawer an event belongs to: the one that was opened last, with it or before."""

    def __init__(self, scope: Scope) -> None:
        self._begun: dict[str, list[int]] = {}
        self._numbers: dict[str, list[int]] = {}
        for event, chain, _, doc in events(scope, ("drawer.opened", "drawer.reopened")):
            self._begun.setdefault(place(chain), []).append(event)
            self._numbers.setdefault(place(chain), []).append(doc["data"]["shift"])

    def of(self, line: _Line) -> int | None:
        """Its number; None before the first one."""
        before = bisect_right(self._begun.get(line.drawer, ()), line.event)
        return self._numbers[line.drawer][before - 1] if before else None


def _rows(scope: Scope) -> Iterator[Row]:
    days, drawer = DayRange.of(scope), scope.filters.get("drawer")
    batch: list[_Line] = []
    for line in _lines(scope):
        if days.takes(line.day) and drawer in (None, line.drawer):
            batch.append(line)
        if len(batch) == _BATCH:
            yield from _shown(scope, batch)
            batch = []
    yield from _shown(scope, batch)


def _shown(scope: Scope, lines: list[_Line]) -> Iterator[Row]:
    person, noted = scope.filters.get("person"), _noted(scope, lines)
    shifts, asked = scope.once("shifts", _Shifts), scope.filters.get(SHIFT.name)
    still_open = open_drawers(scope) if scope.blind else {}
    for line in lines:
        seq, actor, approver, player, corrects = noted[line.event]
        shift = shifts.of(line)
        if person in (None, actor, approver) and asked in (None, str(shift)):
            hidden = line.event >= still_open.get(line.drawer, line.event + 1)
            # What is hidden stands there whatever it came to: that it is left out would say something of it.
            amounts = () if hidden else (line.cash, line.chips, line.foreign)
            if not takes_entry(scope, line.kind, *amounts):
                continue
            figures = (None,) * 6 if hidden else (line.cash, line.chips, line.foreign, *line.running)
            yield (
                line.at, line.day or None, line.drawer, shift, line.transaction, line.kind, line.undoes, player,
                *figures, actor, approver, corrects, seq, NOTE if hidden else "",
            )  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    days, drawer = DayRange.of(scope), scope.filters.get("drawer")
    last = dict(_opened(scope))
    still_open = open_drawers(scope) if scope.blind else {}
    for line in _lines(scope):
        last[line.drawer] = line.running
    of_day = None if days.first is None else days.last
    held = _sums(held_after(scope, _NUMBERS, of_day))
    for at, what in enumerate(LAST_RUNNING):
        yield Equality(
            (
                "last running {what} of closed drawers = balances"
                if scope.blind
                else "last running {what} of all drawers = balances"
            )
            if of_day is None
            else "last running {what} of closed drawers = balances at the closing of the last day"
            if scope.blind
            else "last running {what} of all drawers = balances at the closing of the last day",
            sum(one[at] for drawer, one in last.items() if drawer not in still_open),
            sum(one[at] for drawer, one in held.items() if drawer not in still_open),
            Type.MONEY,
            coded={"what": what},
        )
    if scope.filters.keys() & {PERSON.name, SHIFT.name, *OF_ENTRIES} or scope.blind:
        return
    said = [0, 0, 0]
    for (code, commodity), net in recorded(scope, _NUMBERS, days).items():
        number, _, place = code.partition("/")
        if _of_drawer(place) and drawer in (None, place):
            at = 0 if number == _CASH else 2 if number == _FOREIGN else 1
            said[at] += net * (face_value(commodity) if at == 1 else 1)
    for at, name in enumerate(("cash", "chips", "foreign")):
        yield Equality(
            "{name} of these rows = what the events record",
            results["history"].totals[name],
            said[at],
            Type.MONEY,
            coded={"name": name},
        )


REPORT = Report(
    id="drawer-history",
    number="A3",
    version=4,
    title="Drawer history",
    text="Everything that moved in the drawers, posting by posting, with running balances. Chips by their worth.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.CAGE_SUPERVISOR),
    blind_roles=(Role.CAGE_SUPERVISOR,),
    sections=(
        Section(
            "history",
            "History",
            (
                time("at", "Time"),
                Column("day", "Gaming day", Type.DAY),
                ref("drawer", "Drawer"),
                count("shift", "Shift", total=False),
                count("transaction", "Posting", total=False),
                coded("kind", "Kind"),
                Column("mirror", "Mirror", Type.FLAG),
                ref("player", "Player"),
                money("cash", "Cash"),
                money("chips", "Chips"),
                money("foreign", "Chips of other houses"),
                money("running_cash", "Cash then", total=False),
                money("running_chips", "Chips then", total=False),
                money("running_foreign", "Of other houses then", total=False),
                ref("by", "By"),
                ref("approver", "Approved by"),
                count("corrects", "Corrects event", total=False),
                count("event", "Event", total=False),
                text("note", "Note"),
            ),
            _rows,
            groups=("drawer", "shift", "kind", "day", "by"),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, DRAWER, SHIFT, PERSON, ENTRY_KIND, LEAST, FIGURES),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.BOOKS,
)
