"""A33: the trial balance, by commodity and number of the chart."""

from collections.abc import Iterator

from casino.bookkeeping.chart import kind_of
from casino.reports.frame.columns import count, ref, text
from casino.reports.frame.reading import balances
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.staff.models import Role


def _rows(scope: Scope) -> Iterator[tuple[str, str, str, int, int, int]]:
    sums: dict[tuple[str, str], list[int]] = {}
    for held in balances(scope):
        found = sums.setdefault((held.commodity, held.number), [0, 0, 0])
        net = held.balance * kind_of(held.code).normal_side
        found[0] += 1
        found[1] += max(net, 0)
        found[2] += max(-net, 0)
    for (commodity, number), (accounts, debit, credit) in sorted(sums.items()):
        yield commodity, number, kind_of(number).name, accounts, debit, credit


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    sides: dict[str, list[int]] = {}
    for commodity, _, _, _, debit, credit in _rows(scope):
        found = sides.setdefault(commodity, [0, 0])
        found[0] += debit
        found[1] += credit
    for commodity, (debit, credit) in sides.items():
        yield Equality(f"debits of {commodity} = credits", debit, credit)


REPORT = Report(
    id="trial-balance",
    number="A33",
    version=1,
    title="Trial balance",
    text="Debits against credits of every number of the chart, by commodity: money in minor units, chips in pieces.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "balance",
            "Trial balance",
            (
                ref("commodity", "Commodity"),
                ref("number", "Account"),
                text("kind", "Kind"),
                count("accounts", "Accounts"),
                count("debit", "Debit", total=False),
                count("credit", "Credit", total=False),
            ),
            _rows,
        ),
    ),
    equalities=_equalities,
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
)
