"""A28: the take on which gaming duty falls due, the duty that was booked, lowered and paid, and what is payable."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.reports.catalogue import a05_daily_revenue as revenue
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, ref, share, text, time
from casino.reports.frame.filters import DAYS, DayRange
from casino.reports.frame.late import Later
from casino.reports.frame.movements import events, recorded, turned
from casino.reports.frame.reading import balances
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.reports.frame.trail import DaysOfEvents, at
from casino.staff.models import Role

_TAKE = (Account.HOUSE_TAX, Account.TABLE_FEES)
_DUTY = (Account.GAMING_DUTY, Account.DUTY_PAYABLE)
_KINDS = ("house.duty", "house.duty_lowered", "house.duty_paid")
_COLUMN_OF = dict(zip(_KINDS, ("duty", "lowered", "paid"), strict=True))
_NAMES = ("tax", "fees", "base", "duty", "lowered", "paid")


def _days(scope: Scope) -> dict[str, dict[str, int]]:
    """The figures by gaming day, as the ledger has them."""
    days = DayRange.of(scope)
    found: dict[str, dict[str, int]] = {}
    for one in turned(scope, (*_TAKE, *_DUTY)):
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
    days, booked = DayRange.of(scope), _months_of(scope)
    base: dict[str | None, list[int]] = {}
    for day, row in _days(replace(scope, filters={})).items():
        if day and (row["tax"] or row["fees"]):
            sums = base.setdefault(day[:7], [0, 0])
            sums[0] += row["tax"]
            sums[1] += row["fees"]
    first, last = (None if day is None else day[:7] for day in (days.first, days.last))
    for month in sorted(booked.keys() | base.keys(), key=lambda month: month or ""):
        if DayRange(first, last).takes(month or ""):
            tax, fees = base.get(month, (0, 0))
            row = booked.get(month, {"duty": 0, "lowered": 0, "paid": 0, "due_on": None})
            net = row["duty"] - row["lowered"]
            yield (
                month or "", tax, fees, tax + fees, row["duty"], row["lowered"], row["paid"],
                share(net, max(tax + fees, 0)), row["due_on"], net - row["paid"],
            )  # fmt: skip


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
    if not scope.filters:
        unpaid = results["periods"].totals["unpaid"]
        yield Equality("unpaid of all months = balance of 2200", unpaid, held[Account.DUTY_PAYABLE], Type.MONEY)
        yield Equality(
            "base of all days = balances of 4010 and 4020", totals["base"], sum(held[n] for n in _TAKE), Type.MONEY
        )
        yield Equality("duty of all days = balance of 5300", duty, held[Account.GAMING_DUTY], Type.MONEY)


_AMOUNTS = (
    money("tax", "House tax"), money("fees", "Table fees"), money("base", "Base"), money("duty", "Duty booked"),
    money("lowered", "Lowered"), money("paid", "Paid"),
)  # fmt: skip

_LATER = Later((*_TAKE, *_DUTY), lambda _scope, _code: True)

REPORT = Report(
    id="duty-return",
    number="A28",
    version=3,
    title="Duty return",
    text="The take of the house by gaming day and month (house tax with the cukasszas that fell to it, and table "
    "fees), the gaming duty booked on it, what was lowered and paid by which return, and what is payable.",
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
        _LATER.section(),
    ),
    equalities=_equalities,
    filters=DAYS,
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
