"""A9a: counts of trays: what was found, what was expected, and whether each opener found what the closer before it had
left. The difference that was posted is compared with the ledger."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import face_value
from casino.reports.counts import over_short_later, posted, worth_of
from casino.reports.frame.blind import NOTE
from casino.reports.frame.columns import Row, Type, coded, count, day, flag, money, pieces, ref, text, time
from casino.reports.frame.filters import DAYS, TABLE, DayRange
from casino.reports.frame.movements import events, moved_between
from casino.reports.frame.places import tables
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
from casino.reports.frame.trail import DaysOfEvents, at
from casino.staff.models import Role

_TRAYS = ("tray.counted", "box.swapped", "tray.confirmed", "tray.counts_differed")
_ENDS = ("opener", "closer")
PURPOSE = Filter(
    "purpose", FilterKind.CHOICE, "Only counts of trays for this.", choices=("opener", "closer", "box_change", "check")
)


@dataclass(slots=True)
class _Tray:
    """A count of a tray by its events: the newest one, and when it was begun and ended."""

    event: int
    day: str
    part: dict[str, Any]
    begun: datetime
    ended: datetime | None = None
    #: Of an opener: the closer before it, and the pieces that have moved since by transfers and the like.
    closer: "_Tray | None" = None
    since: int = 0
    #: Whether a later count of this tray was confirmed.
    counted_again: bool = False

    @property
    def confirmed(self) -> bool:
        return bool(self.part["state"] == "confirmed")

    def worth(self, name: str) -> int:
        """Of what was `counted` or `expected`."""
        return worth_of(self.part.get(name) or {})


def _trays(scope: Scope) -> list[_Tray]:
    return scope.once("trays", _read_trays)


def _read_trays(scope: Scope) -> list[_Tray]:
    """All of them, in the order of their serials."""
    days, found = DaysOfEvents(scope), dict[int, _Tray]()
    for event, _, _, doc in events(scope, _TRAYS):
        part = doc["data"].get("tray_count")
        if part is None:
            continue
        key = part["tray_count"]
        one = found.setdefault(key, _Tray(event, days.of(event), part, at(doc)))
        one.part = one.part | part
        if doc["kind"] in ("tray.confirmed", "tray.counts_differed"):
            one.ended, one.event = at(doc), event
        replaced = doc["data"].get("replaced")
        if replaced in found:
            found[replaced].part = found[replaced].part | {"state": "replaced"}
    _follow(scope, found)
    return sorted(found.values(), key=lambda one: int(one.part["tray_count"]))


def _follow(scope: Scope, found: Mapping[int, _Tray]) -> None:
    """Find the closer before each opener, and what came to the tray and left it in between."""
    last: dict[str, _Tray] = {}
    newest: dict[str, _Tray] = {}
    openers: dict[str, list[_Tray]] = {}
    for one in sorted((one for one in found.values() if one.confirmed), key=lambda one: one.event):
        table = one.part["table"]
        if table in newest:
            newest[table].counted_again = True
        newest[table] = one
        if one.part["purpose"] not in _ENDS:
            continue
        before = last.get(table)
        if one.part["purpose"] == "opener" and before is not None and before.part["purpose"] == "closer":
            one.closer = before
            openers.setdefault(table, []).append(one)
        last[table] = one
    for table, of_table in openers.items():
        _add_since(scope, table, of_table)


def _add_since(scope: Scope, table: str, openers: Sequence[_Tray]) -> None:
    """What came to the tray of a table between each of its openers and the closer before it: in the odd parts."""
    bounds = [event for one in openers if one.closer for event in (one.closer.event + 1, one.event)]
    moved = moved_between(scope, f"{Account.TRAY}/{table}", bounds, but="tray.counted")
    for (part, commodity), pieces_ in moved.items():
        if part % 2:
            openers[part // 2].since += face_value(commodity) * pieces_


def wanted(scope: Scope) -> Iterator[_Tray]:
    days, asked = DayRange.of(scope), scope.filters
    for one in _trays(scope):
        if (
            days.takes(one.day)
            and asked.get("table") in (None, one.part["table"])
            and asked.get("purpose") in (None, one.part["purpose"])
        ):
            yield one


def _tray_rows(scope: Scope) -> Iterator[Row]:
    """Who counts sees of the newest count only the difference: the tray must still be counted against it."""
    for one in wanted(scope):
        part, shown = one.part, one.confirmed and not (scope.blind and not one.counted_again)
        closer = one.closer
        left = None if closer is None else closer.worth("counted") + one.since
        yield (
            part["tray_count"], one.day or None, part["table"], part["purpose"], part["state"], part["counted_by"],
            one.begun, part["witnessed_by"], one.ended, sum(part["counted"].values()) if shown else None,
            one.worth("counted") if shown else None, one.worth("expected") if shown else None,
            part["variance"] if one.confirmed else None, None if closer is None else closer.part["tray_count"],
            left if shown else None, None if left is None else one.worth("counted") == left, part["exception"],
            NOTE if one.confirmed and not shown else "",
        )  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    yield from _LATER.equalities(scope)
    if "purpose" not in scope.filters:
        found = posted(scope, "tray.counted", Account.CHIP_OVER_SHORT)
        yield Equality(
            "differences of trays = 5210 by counts of trays", results["trays"].totals["variance"], found, Type.MONEY
        )
    openers = [one for one in wanted(scope) if one.closer is not None]
    apart = sum(one.worth("counted") - one.closer.worth("counted") - one.since for one in openers if one.closer)
    said = sum(int(one.part["variance"]) for one in openers)
    yield Equality("openers less closers and what moved = differences of openers", apart, said, Type.MONEY)
    if not scope.filters.keys() - {FIGURES.name}:
        serials = {one.part["tray_count"] for one in _trays(scope)}
        yield Equality("serials of counts of trays have no gap", len(serials), max(serials, default=0), Type.COUNT)


_LATER = over_short_later(lambda scope: tables(scope.house))

REPORT = Report(
    id="tray-counts",
    number="A9a",
    version=3,
    title="Counts of trays",
    text="Counts of trays: by whom, what was found, expected and posted, and whether each opener found what the closer "
    "before it had left. Counts that wait for their witness show no figures.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.FLOOR),
    blind_roles=(Role.FLOOR,),
    sections=(
        Section(
            "trays",
            "Trays",
            (
                count("serial", "Serial", total=False), day("day", "Gaming day"), ref("table", "Table"),
                coded("purpose", "For"), coded("state", "State"), ref("counted_by", "Counted by"),
                time("counted_at", "Counted at"), ref("witnessed_by", "Witness"), time("ended_at", "Ended at"),
                pieces("pieces", "Pieces"), money("counted", "Counted"), money("expected", "Expected"),
                money("variance", "Difference"), count("closer", "Closer before", total=False),
                money("left", "Closer and what moved since", total=False), flag("same", "As the closer left it"),
                coded("exception", "Exception"), text("note", "Note"),
            ),
            _tray_rows,
            groups=("table", "purpose", "day"),
        ),
        _LATER.section(),
    ),
    equalities=_equalities,
    filters=(*DAYS, TABLE, PURPOSE, FIGURES),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
