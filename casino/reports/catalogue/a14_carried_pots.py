"""A14: cukasszas, banks of the seats and held carryovers, since when they lie there."""

from collections.abc import Iterator
from datetime import datetime

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import kind_of
from casino.reports.frame.columns import Row, count, money, ref, text, time
from casino.reports.frame.filters import TABLE, DayRange
from casino.reports.frame.movements import events, moved, recorded
from casino.reports.frame.reading import balances
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.staff.models import Role

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
    dealt = _dealt(scope)
    for code, amount in sorted(held.items()):
        place = code.partition("/")[2]
        if amount and scope.filters.get("table") in (None, place):
            begun, (at, kind) = since[code], last[code]
            hands = sum(one > begun for one in dealt.get(place, ()))
            yield place, kind_of(code).name, begun, (scope.as_of.at - begun).days, hands, at, kind, amount


def _dealt(scope: Scope) -> dict[str, list[datetime]]:
    found: dict[str, list[datetime]] = {}
    for _, _, _, doc in events(scope, ("hand.dealt",)):
        found.setdefault(doc["data"]["table"], []).append(datetime.fromisoformat(doc["at"]))
    return found


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    table = scope.filters.get("table")
    held = sum(one.balance for one in balances(scope) if one.number in _NUMBERS and table in (None, one.place))
    yield Equality("amounts = balances of 2040, 2050 and 2080", results["pots"].totals["amount"], held)
    said = sum(
        -net
        for (code, _), net in recorded(scope, _NUMBERS, DayRange(None, None)).items()
        if table in (None, code.partition("/")[2])
    )
    yield Equality("amounts = what the events record", results["pots"].totals["amount"], said)


REPORT = Report(
    id="carried-pots",
    number="A14",
    version=1,
    title="Cukassza and bank ageing",
    text="What lies at tables and has no owner yet: since when, for how many days and hands, and what moved it last.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "pots",
            "Waiting money",
            (
                ref("table", "Table"), text("kind", "Kind"), time("since", "Since"), count("days", "Days", total=False),
                count("hands", "Hands dealt since", total=False), time("last_at", "Last movement"), text("last", "By"),
                money("amount", "Amount"),
            ),
            _rows,
            groups=("table", "kind"),
        ),
    ),
    equalities=_equalities,
    filters=(TABLE,),
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
)  # fmt: skip
