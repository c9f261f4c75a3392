"""A14: cukasszas, banks of the seats and held carryovers, since when they lie there."""

from collections.abc import Iterator
from datetime import datetime

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import kind_of
from casino.reports.ages import BANDS, band
from casino.reports.frame.columns import Row, Type, coded, count, money, ref, text, time
from casino.reports.frame.filters import TABLE, DayRange
from casino.reports.frame.movements import events, moved, recorded
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
from casino.reports.frame.trail import place
from casino.staff.models import Role

_BAND = Filter("band", FilterKind.CHOICE, "Only what is so many days old.", choices=BANDS)
_NUMBERS = (Account.CUKASSZA, Account.BANK, Account.CARRY_HELD)


def _rows(scope: Scope) -> Iterator[Row]:
    """Money waits since its account was empty for the last time."""
    held: dict[str, int] = {}
    since: dict[str, datetime] = {}
    last: dict[str, tuple[datetime, str]] = {}
    for entry in moved(scope, _NUMBERS):
        if not held.get(entry.code, 0):
            since[entry.code] = entry.at
        held[entry.code] = held.get(entry.code, 0) + entry.amount
        last[entry.code] = entry.at, entry.kind
    dealt, rules = _dealt(scope), _rules(scope)
    for code, amount in sorted(held.items()):
        table = code.partition("/")[2]
        if amount and scope.filters.get("table") in (None, table):
            begun, (at, kind) = since[code], last[code]
            hands = sum(one > begun for one in dealt.get(table, ()))
            days = (scope.as_of.at - begun).days
            if scope.filters.get("band") in (None, band(days)):
                yield table, kind_of(code).name, begun, days, hands, rules.get(table), at, kind, amount, band(days)


def _rules(scope: Scope) -> dict[str, str]:
    """What becomes of a cukassza when its table closes, by table: what is agreed on later comes with the next
    opening."""
    agreed: dict[str, str] = {}
    in_force: dict[str, str] = {}
    for _, chain, _, doc in events(scope, ("table.set_up", "table.terms_changed", "table.opened")):
        table, data = place(chain), doc["data"]
        if doc["kind"] == "table.set_up":
            agreed[table] = in_force[table] = data["carryover_on_close"]
        elif doc["kind"] == "table.terms_changed":
            agreed[table] = data["after"]["carryover_on_close"]
        else:
            in_force[table] = agreed[table]
    return in_force


def _bands(scope: Scope) -> Iterator[Row]:
    """By age band and kind, the youngest band first."""
    found: dict[tuple[int, str], list[int]] = {}
    for row in _rows(scope):
        _, kind, *_, amount, age = row
        sums = found.setdefault((BANDS.index(str(age)), str(kind)), [0, 0])
        sums[0] += 1
        sums[1] += int(str(amount))
    for (at, kind), (pots, amount) in sorted(found.items()):
        yield BANDS[at], kind, pots, amount


def _dealt(scope: Scope) -> dict[str, list[datetime]]:
    found: dict[str, list[datetime]] = {}
    for _, _, _, doc in events(scope, ("hand.dealt",)):
        found.setdefault(doc["data"]["table"], []).append(datetime.fromisoformat(doc["at"]))
    return found


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    table = scope.filters.get("table")
    held = sum(one.balance for one in balances(scope) if one.number in _NUMBERS and table in (None, one.place))
    yield Equality(
        "amounts by age = amounts", results["bands"].totals["amount"], results["pots"].totals["amount"], Type.MONEY
    )
    if "band" in scope.filters:
        return
    yield Equality("amounts = balances of 2040, 2050 and 2080", results["pots"].totals["amount"], held, Type.MONEY)
    said = sum(
        -net
        for (code, _), net in recorded(scope, _NUMBERS, DayRange(None, None)).items()
        if table in (None, code.partition("/")[2])
    )
    yield Equality("amounts = what the events record", results["pots"].totals["amount"], said, Type.MONEY)


REPORT = Report(
    id="carried-pots",
    number="A14",
    version=3,
    title="Cukassza and bank ageing",
    text="What lies at tables and has no owner yet: since when, for how many days and hands, what moved it last, "
    "and what becomes of it when the table closes.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.FLOOR),
    sections=(
        Section(
            "pots",
            "Waiting money",
            (
                ref("table", "Table"), coded("kind", "Kind"), time("since", "Since"),
                count("days", "Days", total=False),
                count("hands", "Hands dealt since", total=False), coded("rule", "When the table closes"),
                time("last_at", "Last movement"), text("last", "By"),
                money("amount", "Amount"), text("band", "Age in days"),
            ),
            _rows,
            groups=("table", "kind", "band"),
        ),
        Section(
            "bands",
            "By age",
            (text("band", "Age in days"), coded("kind", "Kind"), count("pots", "Accounts"), money("amount", "Amount")),
            _bands,
        ),
    ),
    equalities=_equalities,
    filters=(TABLE, _BAND),
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
)  # fmt: skip
