"""The gaming duty of each month by the rates that the house has stated: base, deductions, what is taxable, duty by
band.

Rates are those of the events up to the moment. A month is over once a gaming day of a later one was opened."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.houses import duty_rates
from casino.houses.models import DutyBase
from casino.reports.frame.filters import DayRange
from casino.reports.frame.movements import events, turned
from casino.reports.frame.report import Scope
from casino.reports.table_hands import played

_RATES_SET = "house.duty_rates_set"
_TAKE = (Account.HOUSE_TAX, Account.TABLE_FEES)
#: Figures that may be deducted, by the account of their costs.
_FIGURES = {Account.BONUS: "bonus", Account.GOODWILL: "goodwill"}


@dataclass(frozen=True, slots=True)
class Rates:
    """A version of the rates, as its event has it."""

    number: int
    valid_from: str
    tax_code: str
    base: str
    deductions: Sequence[Mapping[str, Any]]
    bands: Sequence[Mapping[str, int]]
    set_by: str
    approver: str


@dataclass(frozen=True, slots=True)
class Month:
    """The duty of a month by its rates, minor units: its base, what is deducted by name, what of the rest lies in each
    band and the duty on it."""

    month: str
    rates: Rates
    base: int
    deducted: Sequence[tuple[str, int]]
    bands: Sequence[tuple[int, int]]
    is_over: bool

    @property
    def deductions(self) -> int:
        """All of them."""
        return sum(amount for _, amount in self.deducted)

    @property
    def taxable(self) -> int:
        """What is left of the base, not below zero."""
        return max(self.base - self.deductions, 0)

    @property
    def duty(self) -> int:
        """The sum of the bands."""
        return sum(duty for _, duty in self.bands)


def versions(scope: Scope) -> list[Rates]:
    """Every version up to the moment; read once in a run."""
    return scope.once("rates of duty", _versions)


def _versions(scope: Scope) -> list[Rates]:
    found = []
    for _, _, _, doc in events(scope, (_RATES_SET,)):
        data = doc["data"]
        found.append(
            Rates(
                data["number"], data["valid_from"], data["tax_code"], data["base"], data["deductions"], data["bands"],
                doc["actor"], doc.get("approver", ""),
            )
        )  # fmt: skip
    return found


def whole_months(scope: Scope) -> dict[str, str]:
    """Filters by which a run asks for whole months: those of the days that it asks for."""
    days = DayRange.of(scope)
    found = {} if days.first is None else {"from": f"{days.first[:7]}-01"}
    return found if days.last is None else found | {"until": f"{days.last[:7]}-31"}


def months(scope: Scope, more: Iterable[str]) -> list[Month]:
    """Every month of the days that a run asks for in which the house has earned something, or that is named, and for
    which there are rates, the first one first: whole months, whatever days of them it asks for. Of others that are
    named the figures are not read."""
    if not versions(scope):
        return []
    whole = Scope(scope.house, scope.as_of, whole_months(scope))
    figures = _figures(whole)
    opened = [doc["data"]["day"][:7] for *_, doc in events(scope, ("day.opened",))]
    newest = max(opened, default="")
    found = []
    for month in sorted({*figures, *more} - {""}):
        if (rates := duty_rates.in_force(versions(scope), month)) is not None:
            found.append(_month(month, rates, figures.get(month, {}), month < newest))
    return found


def _month(month: str, rates: Rates, of_month: Mapping[str, int], is_over: bool) -> Month:
    base = of_month.get(rates.base, 0)
    deducted = [
        (one["name"], one["amount"] if "amount" in one else max(of_month.get(one["figure"], 0), 0))
        for one in rates.deductions
    ]
    taxable = max(base - sum(amount for _, amount in deducted), 0)
    return Month(month, rates, base, deducted, duty_rates.by_band(taxable, rates.bands), is_over)


def _figures(whole: Scope) -> dict[str, dict[str, int]]:
    """By month: take, stakes, and the figures that may be deducted, minor units."""
    found: dict[str, dict[str, int]] = {}

    def add(day: str, name: str, amount: int) -> None:
        row = found.setdefault(day[:7], {})
        row[name] = row.get(name, 0) + amount

    days = DayRange.of(whole)
    for one in turned(whole, (*_TAKE, *_FIGURES), days):
        add(one.day, DutyBase.TAKE if one.number in _TAKE else _FIGURES[Account(one.number)], one.net)
    for (day, _), (_, handle) in played(whole).items():
        add(day, DutyBase.STAKES, handle)
    return found
