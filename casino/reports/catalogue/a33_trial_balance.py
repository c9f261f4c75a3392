"""A33: the trial balance: money by number of the chart, chips by denomination and number."""

from collections.abc import Iterator

from casino.bookkeeping.chart import kind_of
from casino.reports.frame.columns import Row, Type, coded, count, money, pieces, ref
from casino.reports.frame.reading import Held, balances
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

NUMBER = Filter("number", FilterKind.CODE, "Only accounts of this number of the chart, `1010`.")


def _balances(scope: Scope) -> list[Held]:
    return scope.once("balances", balances)


def _sums(scope: Scope, *, custody: bool) -> Iterator[tuple[str, str, str, int, int, int]]:
    """Commodity, number and its name, how many accounts it has, and what they hold on either side."""
    sums: dict[tuple[str, str], list[int]] = {}
    for held in _balances(scope):
        kind = kind_of(held.code)
        if kind.custody == custody and scope.filters.get(NUMBER.name) in (None, held.number):
            found = sums.setdefault((held.commodity, held.number), [0, 0, 0])
            net = held.balance * kind.normal_side
            found[0] += 1
            found[1] += max(net, 0)
            found[2] += max(-net, 0)
    for (commodity, number), (accounts, debit, credit) in sorted(sums.items()):
        yield commodity, number, kind_of(number).name, accounts, debit, credit


def _money(scope: Scope) -> Iterator[Row]:
    return (row[1:] for row in _sums(scope, custody=False))


def _chips(scope: Scope) -> Iterator[Row]:
    return _sums(scope, custody=True)


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    if NUMBER.name in scope.filters:
        return
    totals = results["money"].totals
    yield Equality(
        "debits of {commodity} = credits", totals["debit"], totals["credit"], Type.MONEY,
        named={"commodity": scope.house.currency},
    )  # fmt: skip
    sides: dict[str, list[int]] = {}
    for commodity, _, _, _, debit, credit in _sums(scope, custody=True):
        found = sides.setdefault(commodity, [0, 0])
        found[0] += debit
        found[1] += credit
    for commodity, (debit, credit) in sides.items():
        yield Equality("debits of {commodity} = credits", debit, credit, Type.PIECES, named={"commodity": commodity})
    shown = results["money"].totals["accounts"] + results["chips"].totals["accounts"]
    yield Equality("accounts = accounts that have moved", shown, len(_balances(scope)), Type.COUNT)


REPORT = Report(
    id="trial-balance",
    number="A33",
    version=2,
    title="Trial balance",
    text="Debits against credits of every number of the chart: money, and chips in pieces by denomination.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "money",
            "Money",
            (
                ref("number", "Account"), coded("kind", "Kind"), count("accounts", "Accounts"),
                money("debit", "Debit"), money("credit", "Credit"),
            ),
            _money,
        ),
        Section(
            "chips",
            "Chips",
            (
                ref("commodity", "Denomination"), ref("number", "Account"), coded("kind", "Kind"),
                count("accounts", "Accounts"), pieces("debit", "Debit", total=False),
                pieces("credit", "Credit", total=False),
            ),
            _chips,
            groups=("commodity", "number"),
        ),
    ),
    equalities=_equalities,
    filters=(NUMBER,),
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
)  # fmt: skip
