"""A10: fills and credits between drawers and tables, each as the newest event about it says."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import face_value
from casino.reports.frame.blind import NOTE
from casino.reports.frame.columns import Row, Type, coded, count, day, money, pieces, ref, text, time
from casino.reports.frame.filters import DAYS, DRAWER, TABLE, DayRange
from casino.reports.frame.movements import events, turned
from casino.reports.frame.reading import balances
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
from casino.reports.frame.trail import DaysOfEvents
from casino.staff.models import Role

_ACTS = ("requested", "sent", "received", "count_differed", "declined", "cancelled")
_KINDS = ("fill", "credit")
_STATES = ("requested", "sent", "declined", "received", "cancelled")
_STATE = Filter("state", FilterKind.CHOICE, "Only transfers in this state.", choices=_STATES)
_KIND = Filter("kind", FilterKind.CHOICE, "Only fills, or only credits.", choices=_KINDS)
#: Filters by what an event names itself.
_NAMED = tuple(one.name for one in (TABLE, DRAWER, _KIND, _STATE))


@dataclass(slots=True)
class _Transfer:
    """One transfer: when what was done, and its state with the newest figures. An event of the receiving end does not
    name what was sent, so that figures of earlier events stay."""

    at: dict[str, datetime] = field(default_factory=dict)
    #: The gaming day in which each was done.
    days: dict[str, str] = field(default_factory=dict)
    part: dict[str, Any] = field(default_factory=dict)
    approver: str = ""

    @property
    def day(self) -> str:
        """The gaming day in which it ended; of one that has not, in which it was asked for."""
        return next(self.days[act] for act in ("received", "cancelled", *self.days) if act in self.days)

    def pieces(self, name: str) -> dict[str, int]:
        """Pieces by denomination that were `sent` or `counted`."""
        return self.part.get(name) or {}


def _all(scope: Scope) -> list[_Transfer]:
    return scope.once("transfers", _read)


def _read(scope: Scope) -> list[_Transfer]:
    days, found = DaysOfEvents(scope), dict[tuple[str, int], _Transfer]()
    for event, _, _, doc in events(scope, [f"{kind}.{act}" for kind in _KINDS for act in _ACTS]):
        part, act = doc["data"]["transfer"], doc["kind"].partition(".")[2]
        one = found.setdefault((part["kind"], part["serial"]), _Transfer())
        one.part |= part
        one.at.setdefault(act, datetime.fromisoformat(doc["at"]))
        one.days.setdefault(act, days.of(event))
        one.approver = doc.get("approver", one.approver)
    return sorted(found.values(), key=lambda one: (one.part["kind"], one.part["serial"]))


def _wanted(scope: Scope) -> list[_Transfer]:
    days, asked = DayRange.of(scope), {name: scope.filters[name] for name in _NAMED if name in scope.filters}
    return [
        one for one in _all(scope)
        if days.takes(one.day) and all(one.part[name] == value for name, value in asked.items())
    ]  # fmt: skip


def _is_hidden(scope: Scope, one: _Transfer) -> bool:
    """Whether its receiver must still count it without knowing what was sent."""
    return scope.blind and one.part["state"] in ("sent", "declined")


def _count(held: dict[str, int]) -> int:
    return sum(held.values())


def _worth(held: dict[str, int]) -> int:
    return sum(int(value) * number for value, number in held.items())


def _rows(scope: Scope) -> Iterator[Row]:
    for one in _wanted(scope):
        part, sent, counted = one.part, one.pieces("sent"), one.pieces("counted")
        received = part["state"] == "received"
        asked, ended = min(one.at.values()), one.at.get("received") or one.at.get("cancelled")
        yield (
            part["kind"], part["serial"], part["state"], part["table"], part["drawer"], asked, part["opened_by"],
            one.at.get("sent"), part["sent_by"], part["carried_by"], ended, part["ended_by"], one.day or None,
            None if ended is None else int((ended - asked).total_seconds()) // 60,
            *((None, None) if _is_hidden(scope, one) else (_count(sent), _worth(sent))),
            _count(counted) if received else 0, _worth(counted) if received else 0,
            _worth(counted) - _worth(sent) if received else 0, part["differing_counts"], one.approver, part["reason"],
            NOTE if _is_hidden(scope, one) else "",
        )  # fmt: skip


def _denominations(scope: Scope) -> Iterator[Row]:
    found: dict[tuple[str, int], list[int]] = {}
    for one in _wanted(scope):
        for at, name in enumerate(("sent", "counted")):
            if (at == 0 and not _is_hidden(scope, one)) or one.part["state"] == "received":
                for value, number in one.pieces(name).items():
                    found.setdefault((one.part["kind"], int(value)), [0, 0])[at] += number
    for (kind, denomination), (sent, received) in sorted(found.items()):
        yield kind, denomination, sent, received, denomination * received


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    every = _all(scope)
    into = {"fill": Account.TRAY, "credit": Account.CAGE_CHIPS}
    days, came, shown = DayRange.of(scope), dict.fromkeys(_KINDS, 0), 0
    bounded = days.first is not None
    for entry in turned(scope, into.values(), days):
        kind, _, act = entry.kind.partition(".")
        if act == "received" and kind in into and entry.number == into[kind] and (days.takes(entry.day) or not bounded):
            came[kind] += face_value(entry.commodity) * entry.net
            shown += face_value(entry.commodity) * entry.net if days.takes(entry.day) else 0
    for kind in _KINDS:
        of_kind = [one for one in every if one.part["kind"] == kind]
        ended = (one for one in of_kind if one.part["state"] == "received" and (days.takes(one.day) or not bounded))
        received = sum(_worth(one.pieces("counted")) for one in ended)
        yield Equality(
            "received by every {kind} of these days = what the ledger took in by it in them"
            if bounded
            else "received by every {kind} = what the ledger took in by it",
            received,
            came[kind],
            Type.MONEY,
            coded={"kind": kind},
        )
        serials = {one.part["serial"] for one in of_kind}
        yield Equality(
            "serials of every {kind} have no gap",
            len(serials),
            max(serials, default=0),
            Type.COUNT,
            coded={"kind": kind},
        )
    on_the_way = sum(_worth(one.pieces("sent")) for one in every if one.part["state"] in ("sent", "declined"))
    held = sum(face_value(at.commodity) * at.balance for at in balances(scope) if at.number == Account.TRANSIT)
    if not scope.blind:
        yield Equality("sent and at neither end = balance of 9140", on_the_way, held, Type.MONEY)
    if not scope.filters.keys() & set(_NAMED):
        received = results["transfers"].totals["received_worth"]
        yield Equality("received of these rows = what the ledger took in in these days", received, shown, Type.MONEY)
    yield Equality(
        "received by transfer = received by denomination",
        results["transfers"].totals["received_worth"],
        results["denominations"].totals["worth"],
        Type.MONEY,
    )


REPORT = Report(
    id="transfers",
    number="A10",
    version=3,
    title="Fills and credits",
    text="Chips between drawers and tables: who asked, sent, carried and received, pieces and worth, how long it took, "
    "and what was counted differently.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.FLOOR, Role.CAGE_SUPERVISOR),
    blind_roles=(Role.FLOOR, Role.CAGE_SUPERVISOR),
    sections=(
        Section(
            "transfers",
            "Transfers",
            (
                coded("kind", "Kind"), count("serial", "Serial", total=False), coded("state", "State"),
                ref("table", "Table"), ref("drawer", "Drawer"), time("asked_at", "Asked"), ref("asked_by", "By"),
                time("sent_at", "Sent"), ref("sent_by", "By"), ref("carried_by", "Carried by"),
                time("ended_at", "Ended"), ref("ended_by", "By"), day("day", "Gaming day"),
                count("minutes", "Minutes", total=False),
                pieces("sent", "Sent"), money("sent_worth", "Worth sent"), pieces("received", "Received"),
                money("received_worth", "Worth received"), money("difference", "Difference"),
                count("differing_counts", "Counts that differed"), ref("approver", "Approved by"),
                text("reason", "Reason"), text("note", "Note"),
            ),
            _rows,
            groups=("kind", "table", "drawer", "state", "day"),
        ),
        Section(
            "denominations",
            "By denomination",
            (
                coded("kind", "Kind"), money("value", "Face value", total=False), pieces("sent", "Sent"),
                pieces("received", "Received"), money("worth", "Worth received"),
            ),
            _denominations,
            groups=("kind",),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, TABLE, DRAWER, _KIND, _STATE, FIGURES),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
