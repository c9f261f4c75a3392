"""A28: the base on which gaming duty falls due, the duty by law, what was booked of it, lowered and paid, and what is
payable."""

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.houses.models import DutyBase
from casino.reports.catalogue import a05_daily_revenue as revenue
from casino.reports.duty_by_law import Month, months, versions, whole_months
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, ref, share, text, time
from casino.reports.frame.filters import DAYS, DayRange
from casino.reports.frame.late import Later
from casino.reports.frame.movements import events, moved, recorded, turned
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
from casino.reports.frame.trail import DaysOfEvents, at
from casino.reports.table_hands import ends
from casino.staff.models import Role

_TAKE = (Account.HOUSE_TAX, Account.TABLE_FEES)
_DUTY = (Account.GAMING_DUTY, Account.DUTY_PAYABLE)
_KINDS = ("house.duty", "house.duty_lowered", "house.duty_paid")
_COLUMN_OF = dict(zip(_KINDS, ("duty", "lowered", "paid"), strict=True))
TAX_CODE = Filter("code", FilterKind.CODE, "Of the duty by law only that of this tax code.")
_NAMES = ("tax", "fees", "base", "duty", "lowered", "paid")


def _days(scope: Scope) -> dict[str, dict[str, int]]:
    """The figures by gaming day, as the ledger has them."""
    days = DayRange.of(scope)
    found: dict[str, dict[str, int]] = {}
    for one in turned(scope, (*_TAKE, *_DUTY), days):
        if not days.takes(one.day):
            continue
        row = found.setdefault(one.day, dict.fromkeys(_NAMES, 0))
        if one.number in _TAKE:
            row["tax" if one.number == Account.HOUSE_TAX else "fees"] += one.net
            row["base"] += one.net
        elif one.number == Account.GAMING_DUTY:
            row["duty"] += one.into
            row["lowered"] += one.out
        elif one.kind == "house.duty_paid":
            row["paid"] -= one.net
    return dict(sorted(found.items()))


def _by_day(scope: Scope) -> Iterator[Row]:
    for day, row in _days(scope).items():
        yield day or None, *row.values()


def _by_month(scope: Scope) -> Iterator[Row]:
    """Months, with the share of the base that the duty is."""
    found: dict[str, dict[str, int]] = {}
    for day, row in _days(scope).items():
        sums = found.setdefault(day[:7], dict.fromkeys(_NAMES, 0))
        for name, amount in row.items():
            sums[name] += amount
    for month, sums in sorted(found.items()):
        net = sums["duty"] - sums["lowered"]
        yield month, *sums.values(), share(net, max(sums["base"], 0)), net - sums["paid"]


def _months_of(scope: Scope) -> dict[str | None, dict[str, Any]]:
    """Duty by the month on whose take it falls, of all bookings up to the moment: what was booked, lowered and paid of
    it, and until when the newest booking has to be paid. None: no month was named."""
    found: dict[str | None, dict[str, Any]] = {}
    bookings: dict[int, str | None] = {}
    for _, _, seq, doc in events(scope, _KINDS):
        data = doc["data"]
        month = bookings.get(data["entry"]) if doc["kind"] == "house.duty_lowered" else data.get("for_month")
        row = found.setdefault(month, {"duty": 0, "lowered": 0, "paid": 0, "due_on": None})
        row[_COLUMN_OF[doc["kind"]]] += data["amount"]
        if doc["kind"] == "house.duty":
            bookings[seq] = month
            row["due_on"] = data.get("due_on") or row["due_on"]
    return found


def _periods(scope: Scope) -> Iterator[Row]:
    """Months that the run asks for, with the take of all their days: the base on which their duty falls."""
    booked = _months_of(scope)
    base: dict[str | None, list[int]] = {}
    for day, row in _days(replace(scope, filters=whole_months(scope))).items():
        if day and (row["tax"] or row["fees"]):
            sums = base.setdefault(day[:7], [0, 0])
            sums[0] += row["tax"]
            sums[1] += row["fees"]
    for month in sorted(booked.keys() | base.keys(), key=lambda month: month or ""):
        if _takes_month(scope, month or ""):
            tax, fees = base.get(month, (0, 0))
            row = booked.get(month, {"duty": 0, "lowered": 0, "paid": 0, "due_on": None})
            net = row["duty"] - row["lowered"]
            yield (
                month or "", tax, fees, tax + fees, row["duty"], row["lowered"], row["paid"],
                share(net, max(tax + fees, 0)), row["due_on"], net - row["paid"],
            )  # fmt: skip


def _takes_month(scope: Scope, month: str) -> bool:
    """Whether a run asks for a day of a month."""
    days = DayRange.of(scope)
    return DayRange(*(None if day is None else day[:7] for day in (days.first, days.last))).takes(month)


def _by_law(scope: Scope) -> list[Month]:
    """The months of the return, by the rates that were stated for them."""
    return scope.once("duty by law", _read_by_law)


def _read_by_law(scope: Scope) -> list[Month]:
    code = scope.filters.get(TAX_CODE.name)
    named = [month for month in _months_of(scope) if month]
    return [
        one for one in months(scope, named) if _takes_month(scope, one.month) and code in (None, one.rates.tax_code)
    ]


def _return(scope: Scope) -> Iterator[Row]:
    """Months with the duty by law beside what was booked; what is not booked yet of a month that is not over is not
    due."""
    booked = _months_of(scope)
    for one in _by_law(scope):
        row = booked.get(one.month, {"duty": 0, "lowered": 0, "paid": 0, "due_on": None})
        net = row["duty"] - row["lowered"]
        yield (
            one.month, one.is_over, one.rates.tax_code, one.rates.number, one.rates.base, one.base, one.deductions,
            one.taxable, one.duty, net, one.duty - net if one.is_over else None, row["paid"], row["due_on"],
            net - row["paid"],
        )  # fmt: skip


def _bands(scope: Scope) -> Iterator[Row]:
    for one in _by_law(scope):
        for band, (inside, duty) in zip(one.rates.bands, one.bands, strict=True):
            yield one.month, one.rates.tax_code, band["above"], inside, band["rate"], duty


def _deductions(scope: Scope) -> Iterator[Row]:
    for one in _by_law(scope):
        for name, amount in one.deducted:
            yield one.month, one.rates.tax_code, name, amount


def _rates(scope: Scope) -> Iterator[Row]:
    """Every version of the rates, those that no month has had too."""
    for one in versions(scope):
        bands = ", ".join(f"{band['above']}: {band['rate']}" for band in one.bands)
        taken = ", ".join(f"{part['name']}: {part.get('amount', part.get('figure'))}" for part in one.deductions)
        yield one.number, one.valid_from, one.tax_code, one.base, bands, taken, one.set_by, one.approver


def _entries(scope: Scope) -> Iterator[Row]:
    """Bookings, lowerings and payments, with what was payable after each."""
    for event, chain, seq, doc, payable in _booked(scope):
        data = doc["data"]
        yield (
            event or None, at(doc), doc["kind"], data.get("for_month"), data.get("due_on"), data["amount"], payable,
            data.get("return_number", ""), data.get("entry"), doc.get("reason", ""), doc["actor"],
            doc.get("approver", ""), data["posting"], f"{chain}#{seq}",
        )  # fmt: skip


def _booked(scope: Scope) -> Iterator[tuple[str, str, int, dict[str, Any], int]]:
    days, payable = DaysOfEvents(scope), 0
    for event, chain, seq, doc in events(scope, _KINDS):
        payable += doc["data"]["amount"] * (1 if doc["kind"] == "house.duty" else -1)
        if days.takes(event):
            yield days.of(event), chain, seq, doc, payable


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    yield from _LATER.equalities(scope)
    totals = results["days"].totals
    said = dict.fromkeys((*_TAKE, *_DUTY), 0)
    for (code, _), net in recorded(scope, (*_TAKE, *_DUTY), DayRange.of(scope)).items():
        said[Account(code.partition("/")[0])] -= net
    yield Equality(
        "base of these days = tax and fees that the events record",
        totals["base"],
        sum(said[n] for n in _TAKE),
        Type.MONEY,
    )
    duty = totals["duty"] - totals["lowered"]
    yield Equality("duty less lowered = what the events record on 5300", duty, -said[Account.GAMING_DUTY], Type.MONEY)
    yield Equality("months = days", results["months"].totals["base"], totals["base"], Type.MONEY)
    payable = 0
    for _, _, _, doc in events(scope, _KINDS):
        payable += doc["data"]["amount"] * (1 if doc["kind"] == "house.duty" else -1)
    held = dict.fromkeys((*_TAKE, *_DUTY), 0)
    for one in balances(scope):
        if one.number in held:
            held[Account(one.number)] += one.balance
    yield Equality("booked less lowered and paid = balance of 2200", payable, held[Account.DUTY_PAYABLE], Type.MONEY)
    earned = sum(row["tax"] + row["fees"] for row in revenue.sums(scope).values())
    yield Equality("base of these days = tax and fees of these days in A5", totals["base"], earned, Type.MONEY)
    yield from _of_law(scope, results)
    if not scope.filters:
        unpaid = results["periods"].totals["unpaid"]
        yield Equality("unpaid of all months = balance of 2200", unpaid, held[Account.DUTY_PAYABLE], Type.MONEY)
        yield Equality(
            "base of all days = balances of 4010 and 4020", totals["base"], sum(held[n] for n in _TAKE), Type.MONEY
        )
        yield Equality("duty of all days = balance of 5300", duty, held[Account.GAMING_DUTY], Type.MONEY)


def _of_law(scope: Scope, results: Results) -> Iterator[Equality]:
    """Duty less what was booked is nothing; the base is that of the days of A5, stakes are those of the hands' rows."""
    totals, found = results["return"].totals, _by_law(scope)
    whole = Scope(scope.house, scope.as_of, whole_months(scope))
    bases = {name: {one.month for one in found if one.rates.base == name} for name in DutyBase.values}
    earned = staked = 0
    if bases[DutyBase.TAKE]:
        of_days = revenue.sums(whole).items()
        earned = sum(row["tax"] + row["fees"] for (day, _), row in of_days if day[:7] in bases[DutyBase.TAKE])
    if bases[DutyBase.STAKES]:
        ended = (one for one in ends(whole) if one.state != "voided" and one.day[:7] in bases[DutyBase.STAKES])
        staked = sum(one.handle for one in ended)
    yield Equality("base by law = tax and fees in A5, or stakes of hands", totals["base"], earned + staked, Type.MONEY)
    yield Equality("duty by law = duty by band", totals["duty"], results["bands"].totals["duty"], Type.MONEY)
    deducted = results["deductions"].totals["amount"]
    yield Equality("deductions by law = deductions by name", totals["deductions"], deducted, Type.MONEY)
    over = {one.month: one.duty for one in found if one.is_over}
    yield Equality(
        "duty by law of months that are over = what was booked on them", sum(over.values()), _on_5300(scope, over),
        Type.MONEY,
    )  # fmt: skip
    yield Equality("months whose duty is what was booked = months that are over", _agree(scope), len(over), Type.COUNT)


def _on_5300(scope: Scope, months: Container[str | None]) -> int:
    """What bookings on these months, and lowerings of them, moved on 5300, by the ledger."""
    of_month, bookings = dict[int, str | None](), dict[int, str | None]()
    for event, _, seq, doc in events(scope, _KINDS[:2]):
        data = doc["data"]
        month = data.get("for_month") if doc["kind"] == "house.duty" else bookings.get(data["entry"])
        bookings[seq] = of_month[event] = month
    return sum(one.amount for one in moved(scope, (Account.GAMING_DUTY,)) if of_month.get(one.event) in months)


def _agree(scope: Scope) -> int:
    """Months that are over whose duty by law is what was booked on each."""
    booked = _months_of(scope)
    nothing = {"duty": 0, "lowered": 0}
    return sum(
        one.duty == booked.get(one.month, nothing)["duty"] - booked.get(one.month, nothing)["lowered"]
        for one in _by_law(scope)
        if one.is_over
    )


_AMOUNTS = (
    money("tax", "House tax"), money("fees", "Table fees"), money("base", "Base"), money("duty", "Duty booked"),
    money("lowered", "Lowered"), money("paid", "Paid"),
)  # fmt: skip

_LATER = Later((*_TAKE, *_DUTY), lambda _scope, _code: True)

REPORT = Report(
    id="duty-return",
    number="A28",
    version=4,
    title="Duty return",
    text="The take of the house by gaming day and month (house tax with the cukasszas that fell to it, and table "
    "fees), the gaming duty booked on it, what was lowered and paid by which return, and what is payable. Where the "
    "house has stated rates: the duty by law, its base, deductions and bands, beside what was booked.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "months",
            "By month",
            (
                text("month", "Month"), *_AMOUNTS, Column("share", "Duty of the base", Type.SHARE),
                money("unpaid", "Less paid"),
            ),
            _by_month,
        ),
        Section("days", "By gaming day", (Column("day", "Gaming day", Type.DAY), *_AMOUNTS), _by_day, groups=("day",)),
        Section(
            "entries",
            "Bookings and payments",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "At"), coded("kind", "Kind"),
                text("for_month", "For month"), Column("due_on", "Due on", Type.DAY),
                money("amount", "Amount", total=False), money("payable", "Payable after it", total=False),
                ref("return_number", "Return"), count("lowers", "Lowers entry", total=False), text("reason", "Reason"),
                ref("person", "By"), ref("approver", "Approver"), count("transaction", "Posting", total=False),
                ref("event", "Event"),
            ),
            _entries,
            groups=("day", "kind"),
        ),
        Section(
            "periods",
            "By month of the take",
            (
                text("month", "Month"), *_AMOUNTS, Column("share", "Duty of the base", Type.SHARE),
                Column("due_on", "Due on", Type.DAY), money("unpaid", "Unpaid"),
            ),
            _periods,
        ),
        Section(
            "return",
            "Duty by law, by month",
            (
                text("month", "Month"), Column("over", "Over", Type.FLAG), ref("code", "Tax code"),
                count("rates", "Rates, version", total=False), coded("on", "Falls on"), money("base", "Base"),
                money("deductions", "Deductions"), money("taxable", "Taxable"), money("duty", "Duty by law"),
                money("booked", "Booked, less lowered"), money("difference", "Not booked"), money("paid", "Paid"),
                Column("due_on", "Due on", Type.DAY), money("unpaid", "Unpaid"),
            ),
            _return,
            groups=("code",),
        ),
        Section(
            "bands",
            "Duty by law, by band",
            (
                text("month", "Month"), ref("code", "Tax code"), money("above", "Above", total=False),
                money("inside", "Taxable in the band"), Column("rate", "Rate", Type.SHARE), money("duty", "Duty"),
            ),
            _bands,
            groups=("month",),
        ),
        Section(
            "deductions",
            "Deductions by law",
            (text("month", "Month"), ref("code", "Tax code"), text("name", "Deduction"), money("amount", "Amount")),
            _deductions,
            groups=("name",),
        ),
        Section(
            "rates",
            "Rates of the duty",
            (
                count("number", "Version", total=False), text("valid_from", "From the month"), ref("code", "Tax code"),
                coded("on", "Falls on"), text("bands", "Above, at hundredths of a percent"),
                text("deductions", "Deductions"), ref("set_by", "Stated by"), ref("approver", "Approver"),
            ),
            _rates,
        ),
        _LATER.section(),
    ),
    equalities=_equalities,
    filters=(*DAYS, TAX_CODE),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
