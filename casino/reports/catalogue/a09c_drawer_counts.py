"""A9c: counts of drawers at the end of their shifts: by whom, what was expected and found. What was posted is compared
with the ledger."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.reports.counts import over_short_later, posted
from casino.reports.frame.columns import Row, Type, count, day, money, ref, time
from casino.reports.frame.filters import DAYS, DRAWER
from casino.reports.frame.movements import events
from casino.reports.frame.places import drawers
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.reports.frame.trail import DaysOfEvents, at, place
from casino.staff.models import Role

_CLOSED = "drawer.closed"


def _drawers(scope: Scope) -> Iterator[tuple[int, str, datetime, dict[str, Any], str]]:
    """Drawers that were closed, or handed over after a count."""
    days, asked = DaysOfEvents(scope), scope.filters
    for event, chain, _, doc in events(scope, (_CLOSED,), days.range):
        if days.takes(event) and asked.get("drawer") in (None, place(chain)):
            yield event, days.of(event), at(doc), doc["data"]["reconciliation"], doc.get("approver") or ""


def _drawer_rows(scope: Scope) -> Iterator[Row]:
    for _, of_day, when, part, approver in _drawers(scope):
        yield (
            part["drawer"], part["shift"], of_day or None, when, part["counted_by"], part["recounted_by"], approver,
            part["counted_cash"], part["expected_cash"], part["cash_variance"], part["counted_chips"],
            part["expected_chips"], part["chip_variance"], part["foreign_variance"], part["withdrawn_variance"],
        )  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    """Chips of other houses are money that others owe, and those of withdrawn sets are chips."""
    yield from _LATER.equalities(scope)
    totals = results["drawers"].totals
    over, found = totals["cash_variance"] + totals["foreign"], posted(scope, _CLOSED, Account.CASH_OVER_SHORT)
    yield Equality("cash and chips of others of drawers = 5200 by drawers", over, found, Type.MONEY)
    over, found = totals["variance"] + totals["withdrawn"], posted(scope, _CLOSED, Account.CHIP_OVER_SHORT)
    yield Equality("chips and withdrawn sets of drawers = 5210 by drawers", over, found, Type.MONEY)


_LATER = over_short_later(lambda scope: drawers(scope.house))

REPORT = Report(
    id="drawer-counts",
    number="A9c",
    version=3,
    title="Counts of drawers",
    text="Counts of drawers at the end of their shifts, or when they were handed over: by whom, what was expected and "
    "found, and what was over and short.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.CAGE_SUPERVISOR),
    sections=(
        Section(
            "drawers",
            "Drawers",
            (
                ref("drawer", "Drawer"), count("shift", "Shift", total=False), day("day", "Gaming day"),
                time("at", "At"), ref("counted_by", "Counted by"), ref("recounted_by", "Recounted by"),
                ref("approver", "Signed off by"), money("cash", "Cash"),
                money("expected_cash", "Cash expected"), money("cash_variance", "Cash over"),
                money("chips", "Chips"), money("expected_chips", "Chips expected"), money("variance", "Chips over"),
                money("foreign", "Chips of others over"), money("withdrawn", "Withdrawn sets over"),
            ),
            _drawer_rows,
            groups=("drawer", "counted_by", "day"),
        ),
        _LATER.section(),
    ),
    equalities=_equalities,
    filters=(*DAYS, DRAWER),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
