"""A10: fills and credits between drawers and tables, each as the newest event about it says."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import face_value
from casino.reports.frame.columns import Row, count, money, pieces, ref, text, time
from casino.reports.frame.filters import DRAWER, TABLE
from casino.reports.frame.movements import events, turned
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
from casino.staff.models import Role

_ACTS = ("requested", "sent", "received", "count_differed", "declined", "cancelled")
_KINDS = ("fill", "credit")
_STATES = ("requested", "sent", "declined", "received", "cancelled")
_STATE = Filter("state", FilterKind.CHOICE, "Only transfers in this state.", choices=_STATES)
_KIND = Filter("kind", FilterKind.CHOICE, "Only fills, or only credits.", choices=_KINDS)


@dataclass(slots=True)
class _Transfer:
    """One transfer: when what was done, and its state with the newest figures. An event of the receiving end does not
    name what was sent, so that figures of earlier events stay."""

    at: dict[str, datetime] = field(default_factory=dict)
    part: dict[str, Any] = field(default_factory=dict)
    approver: str = ""

    def pieces(self, name: str) -> dict[str, int]:
        """Pieces by denomination that were `sent` or `counted`."""
        return self.part.get(name) or {}


def _all(scope: Scope) -> list[_Transfer]:
    found: dict[int, _Transfer] = {}
    for _, _, _, doc in events(scope, [f"{kind}.{act}" for kind in _KINDS for act in _ACTS]):
        part, act = doc["data"]["transfer"], doc["kind"].partition(".")[2]
        one = found.setdefault(part["transfer"], _Transfer())
        one.part |= part
        one.at.setdefault(act, datetime.fromisoformat(doc["at"]))
        one.approver = doc.get("approver", one.approver)
    return sorted(found.values(), key=lambda one: (one.part["kind"], one.part["serial"]))


def _wanted(scope: Scope) -> list[_Transfer]:
    return [one for one in _all(scope) if all(one.part[name] == value for name, value in scope.filters.items())]


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
            one.at.get("sent"), part["sent_by"], part["carried_by"], ended, part["ended_by"],
            None if ended is None else int((ended - asked).total_seconds()) // 60, _count(sent), _worth(sent),
            _count(counted) if received else 0, _worth(counted) if received else 0,
            _worth(counted) - _worth(sent) if received else 0, part["differing_counts"], one.approver, part["reason"],
        )  # fmt: skip


def _denominations(scope: Scope) -> Iterator[Row]:
    found: dict[tuple[str, int], list[int]] = {}
    for one in _wanted(scope):
        for at, name in enumerate(("sent", "counted")):
            if at == 0 or one.part["state"] == "received":
                for value, number in one.pieces(name).items():
                    found.setdefault((one.part["kind"], int(value)), [0, 0])[at] += number
    for (kind, denomination), (sent, received) in sorted(found.items()):
        yield kind, denomination, sent, received, denomination * received


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    every = _all(scope)
    into = {"fill": Account.TRAY, "credit": Account.CAGE_CHIPS}
    came = dict.fromkeys(_KINDS, 0)
    for entry in turned(scope, into.values()):
        kind, _, act = entry.kind.partition(".")
        if act == "received" and kind in into and entry.number == into[kind]:
            came[kind] += face_value(entry.commodity) * entry.net
    for kind in _KINDS:
        of_kind = [one for one in every if one.part["kind"] == kind]
        received = sum(_worth(one.pieces("counted")) for one in of_kind if one.part["state"] == "received")
        yield Equality(f"received by every {kind} = what the ledger took in by it", received, came[kind])
        serials = {one.part["serial"] for one in of_kind}
        yield Equality(f"serials of every {kind} have no gap", len(serials), max(serials, default=0))
    on_the_way = sum(_worth(one.pieces("sent")) for one in every if one.part["state"] in ("sent", "declined"))
    held = sum(face_value(at.commodity) * at.balance for at in balances(scope) if at.number == Account.TRANSIT)
    yield Equality("sent and at neither end = balance of 9140", on_the_way, held)
    yield Equality(
        "received by transfer = received by denomination",
        results["transfers"].totals["received_worth"],
        results["denominations"].totals["worth"],
    )


REPORT = Report(
    id="transfers",
    number="A10",
    version=1,
    title="Fills and credits",
    text="Chips between drawers and tables: who asked, sent, carried and received, pieces and worth, how long it took, "
    "and what was counted differently.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "transfers",
            "Transfers",
            (
                text("kind", "Kind"), count("serial", "Serial", total=False), text("state", "State"),
                ref("table", "Table"), ref("drawer", "Drawer"), time("asked_at", "Asked"), ref("asked_by", "By"),
                time("sent_at", "Sent"), ref("sent_by", "By"), ref("carried_by", "Carried by"),
                time("ended_at", "Ended"), ref("ended_by", "By"), count("minutes", "Minutes", total=False),
                pieces("sent", "Sent"), money("sent_worth", "Worth sent"), pieces("received", "Received"),
                money("received_worth", "Worth received"), money("difference", "Difference"),
                count("differing_counts", "Counts that differed"), ref("approver", "Approved by"),
                text("reason", "Reason"),
            ),
            _rows,
            groups=("kind", "table", "drawer", "state"),
        ),
        Section(
            "denominations",
            "By denomination",
            (
                text("kind", "Kind"), money("value", "Face value", total=False), pieces("sent", "Sent"),
                pieces("received", "Received"), money("worth", "Worth received"),
            ),
            _denominations,
            groups=("kind",),
        ),
    ),
    equalities=_equalities,
    filters=(TABLE, DRAWER, _KIND, _STATE),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
