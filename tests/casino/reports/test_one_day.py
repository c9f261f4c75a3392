"""A report of one day reads that day, and says what a report of all days says of it."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from django.db import connections
from pytest_django.plugin import DjangoDbBlocker

from casino.bookkeeping.accounts import Account
from casino.reports import days as day_reports
from casino.reports.frame import as_of, registry, span
from casino.reports.frame.columns import Row
from casino.reports.frame.filters import DAYS, DayRange
from casino.reports.frame.movements import held_after, held_before, recorded, turned
from casino.reports.frame.report import Report, Scope
from casino.staff.models import Role
from ledger.models import Snapshot
from tests.casino.kit import SAMPLE, Desk, Kit
from tests.casino.reports.test_catalogue_of_control import broken

#: The fourth day follows after the turn of a month, and of a week.
NAMES = ("2024-05-29", "2024-05-30", "2024-05-31", "2024-06-07")
NEEDED = {"player": "T1-u1"}
MONEY = (Account.DRAWER_CASH, Account.CHIPS_OUTSTANDING, Account.SEAT_STACK, Account.HOUSE_TAX, Account.TRAY)


def hand(kit: Kit, dealer: Desk, turn: Any = None) -> None:
    """A hand, in the midst of which something happens, and its settlement."""
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(*SAMPLE[:12])
    if turn is not None:
        turn()
        dealer.refresh()
    dealer.act(*SAMPLE[12:])
    assert kit.settle() == ["settled"]


def shift(kit: Kit, over: int) -> None:
    """A drawer is opened, sells chips, and is counted and closed with so much too much cash."""
    cashier = kit.cashier(another=True)
    kit.open_drawer(cashier, cash=100_000, chips=20_000)
    cashier.refresh()
    cashier.ok("buy-ins", {"player": "T1-u2", "amount": 4_000})
    kit.close_drawer(cashier, cash=kit.held()["cash"] + over)


@pytest.fixture(scope="module")
def played(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Kit]:
    """Four days. A hand goes on over each turn; each day but the last one is closed when the next one has begun and
    somebody has played in it; what a drawer of the first day lacks is booked in the second."""
    with django_db_blocker.unblock():
        kit = Kit.found()
        office = kit.office(Role.MANAGER)
        office.ok("days", {"day": NAMES[0]})
        dealer = kit.worked_hand()
        kit.settle()
        cashier = kit.cashier()
        office.ok("days", {"day": NAMES[1]})
        floor = kit.dealer(role=Role.FLOOR)
        remedy = {"tax_refunded": [{"actor": "p1", "amount": 65}], "made_good": [], "collected": []}
        kit.approved(floor, "hands/T1-000001/rulings", remedy | {"reason": "the video shows another showdown"})
        kit.close_drawer(cashier, cash=kit.held()["cash"] - 20)
        hand(kit, dealer)
        kit.close_day(office, NAMES[0])
        for before, name in pairwise(NAMES[1:]):
            shift(kit, over=5)
            hand(kit, dealer, lambda name=name: office.ok("days", {"day": name}))
            hand(kit, dealer)
            kit.close_day(office, before)
        connections.close_all()
    yield kit
    kit.close()


@pytest.fixture
def house(played: Kit, live_db: None) -> Kit:
    """Only read."""
    return played


def of_days() -> list[str]:
    return [one.id for one in registry.reports().values() if {day.name for day in DAYS} <= names(one)]


def names(report: Report) -> set[str]:
    return {one.name for one in report.filters}


def scope(kit: Kit, report: Report, moment: Any, **days: str) -> Scope:
    return Scope(kit.house, moment, {name: NEEDED[name] for name in names(report) & NEEDED.keys()} | days)


def by_day(report: Report, found: Scope) -> dict[str, list[Row]]:
    """The rows of sections that can be summed by day, of the day that is asked for or of all days."""
    rows = {}
    for section in report.sections:
        at = [column.name for column in section.columns].index("day") if "day" in section.groups else None
        if at is not None:
            rows[section.name] = [row for row in section.rows(found) if row[at] == found.filters.get("from", row[at])]
    return rows


@pytest.mark.parametrize("name", of_days())
def test_the_rows_of_a_day_are_those_that_all_days_have_of_it(house: Kit, name: str) -> None:
    report, moment = registry.get(name), as_of.now(house.house)
    whole = by_day(report, scope(house, report, moment))
    for day in NAMES:
        of_day = by_day(report, scope(house, report, moment, **{"from": day, "until": day}))
        for section in report.sections:
            if section.name in whole:
                at = [column.name for column in section.columns].index("day")
                assert of_day[section.name] == [row for row in whole[section.name] if row[at] == day], section.name


@pytest.mark.parametrize("name", of_days())
@pytest.mark.parametrize("day", NAMES)
def test_what_must_be_equal_is_so_of_each_day(house: Kit, name: str, day: str) -> None:
    needed = {one: NEEDED[one] for one in names(registry.get(name)) & NEEDED.keys()}
    assert broken(house, name, **needed, **{"from": day, "until": day}) == []
    assert broken(house, name, **needed, **{"from": day}) == []


def test_to_date_is_what_all_days_have_to_date(house: Kit) -> None:
    report, moment = registry.get("daily-revenue"), as_of.now(house.house)
    section = next(one for one in report.sections if one.name == "compared")
    whole = {row[0]: row for row in section.rows(scope(house, report, moment))}
    assert list(whole) == list(NAMES)
    for day in NAMES:
        assert list(section.rows(scope(house, report, moment, **{"from": day, "until": day}))) == [whole[day]]


def test_balances_before_and_after_a_day_follow_from_snapshots(house: Kit) -> None:
    """Each snapshot was taken when the next day had begun; without it, all entries say the same."""
    whole = Scope(house.house, as_of.now(house.house), {})
    every = turned(whole, MONEY)
    for day, after in zip(NAMES, (*NAMES[1:], "9999-12-31"), strict=True):
        before, found = span.before(whole, day), held_before(whole, MONEY, day)
        assert (before.snapshot is None) == (day in NAMES[:2])
        sums: dict[tuple[str, str], int] = {}
        for one in every:
            if one.day < day:
                sums[one.code, one.commodity] = sums.get((one.code, one.commodity), 0) + one.net
        assert found == sums
        closing = held_after(whole, MONEY, day)
        assert {key: held for key, held in closing.items() if held} == {
            key: held for key, held in held_before(whole, MONEY, after).items() if held
        }


def test_a_balance_before_a_day_counts_what_was_posted_after_the_snapshot(house: Kit) -> None:
    """In the second day after it, as the first one was closed when the second had begun."""
    whole = Scope(house.house, as_of.now(house.house), {})
    before = span.before(whole, NAMES[2])
    names = dict(Snapshot.objects.filter(book=house.house.id).values_list("id", "name"))
    assert before.snapshot is not None and names[before.snapshot] == f"period {NAMES[0]}"
    assert len(before.periods) == 1


def test_events_of_a_day_lie_between_its_opening_and_its_closing(house: Kit) -> None:
    whole = Scope(house.house, as_of.now(house.house), {})
    for day in NAMES:
        lies = span.within(whole, DayRange(day, day))
        assert (lies.is_whole, lies.names) == (False, [day])
        in_days = {key: net for key, net in recorded(whole, MONEY, DayRange(day, day)).items() if net}
        sums: dict[tuple[str, str], int] = {}
        for one in turned(whole, MONEY, DayRange(day, day)):
            side = 1 if one.number in (Account.DRAWER_CASH, Account.TRAY) else -1
            sums[one.code, one.commodity] = sums.get((one.code, one.commodity), 0) + one.net * side
        assert in_days == {key: net for key, net in sums.items() if net}
    assert span.within(whole, DayRange(None, NAMES[1])).is_whole
    # Nothing is of days that nobody has opened.
    nowhere = span.within(whole, DayRange("2030-01-01", None))
    assert (nowhere.is_whole, nowhere.ids) == (False, []) and nowhere.first_event > nowhere.last_event


def test_the_report_of_a_day_compares_its_snapshot_with_the_one_before(house: Kit) -> None:
    for day in NAMES[:-1]:
        _, found = day_reports.report(house.house, day)
        _, whole = day_reports.report(house.house, day, whole=True)
        assert found["snapshot_findings"] == whole["snapshot_findings"] == []
        assert found == whole
