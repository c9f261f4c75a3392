"""Chips that went astray past the guards are traced to a place, a denomination, and the time between two counts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections, transaction

from casino.audit.models import Event
from casino.cage.models import Shift
from casino.chips.models import Imbalance
from casino.reports.narrowing import where
from casino.reports.selectors import custody_problems
from casino.reports.tasks import check
from casino.reports.verifying import verification
from ledger.models import Entry
from tests.casino.kit import Desk, Kit

FLOAT = {"1000": 10, "500": 10, "100": 50}
_TABLES = ("ledger_account", "ledger_entry")
_ENABLE = """
DO $$ DECLARE found record; BEGIN
    FOR found IN SELECT tgrelid::regclass::text AS on_table, tgname FROM pg_trigger
        WHERE tgrelid IN ('ledger_account'::regclass, 'ledger_entry'::regclass) AND NOT tgisinternal LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', found.on_table, found.tgname);
    END LOOP;
END $$
"""


def past_the_guards(statement: str, values: list[Any]) -> None:
    """Change the ledger as somebody would who owns the database."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        for table in _TABLES:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(statement, values)
        assert cursor.rowcount == 1
        cursor.execute(_ENABLE)


@contextmanager
def altered(statement: str, values: list[Any], back: list[Any]) -> Iterator[None]:
    """While the ledger is changed, and back as it was."""
    past_the_guards(statement, values)
    try:
        yield
    finally:
        past_the_guards(statement, back)


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A drawer that was closed once and is open again, from which Anna has bought."""
    kit.players("anna")
    desk = kit.cashier()
    for _ in range(2):
        kit.open_drawer(desk, cash=100_000, pieces=FLOAT)
        desk.ok("buy-ins", {"player": "anna", "amount": 1_500, "pieces": {"500": 3}})
        if Shift.objects.filter(house=kit.house).count() == 1:
            kit.close_drawer(desk)
    return desk


_BALANCE = "UPDATE ledger_account SET balance = balance + %s WHERE book = %s AND code = %s AND commodity = %s"


def test_a_rack_that_holds_what_no_entry_brought(kit: Kit, cashier: Desk) -> None:
    assert where(kit.house) == {} == custody_problems(kit.house)
    place = [kit.house.id, "9120/C1", "HUF.MAIN.500"]
    shift = Shift.objects.get(house=kit.house, number=1)
    with altered(_BALANCE, [2, *place], [-2, *place]):
        assert not check(kit.house)
        [found] = custody_problems(kit.house)["where"]["places"]
        assert [found[name] for name in ("place", "denomination", "pieces", "version")] == ["C1", 500, 2, None]
        assert shift.closed_at is not None and found["counted_before"] < found["since"]
        assert found["counted_before"][:19] == shift.closed_at.isoformat()[:19]
        assert found["counted_after"] is None
        kept = Imbalance.objects.get(house=kit.house, cleared_at=None).found
        assert kept["where"] == {"places": [found]}
        assert Event.objects.filter(chain__house=kit.house).latest("id").doc["data"]["after"] == kept
        assert not verification(kit.house)["ok"]
        # The next entry goes on from there: then the time is known from both sides.
        cashier.refresh()
        cashier.ok("buy-ins", {"player": "anna", "amount": 500, "pieces": {"500": 1}})
        [later] = where(kit.house)["places"]
        assert (later["version"], later["pieces"]) == (found["after_version"] + 1, 2)
        assert later["since"] == found["since"] < later["until"]
    # Put back, it is the entry that is wrong.
    assert {(one["place"], one["denomination"]) for one in where(kit.house)["places"]} == {("C1", 500)}


def test_an_entry_that_was_altered(kit: Kit, cashier: Desk) -> None:
    entry = Entry.objects.filter(
        account__book=kit.house.id, account__code="9110", account__commodity="HUF.MAIN.100"
    ).order_by("version")[1]
    statement = "UPDATE ledger_entry SET amount = amount + %s WHERE account_id = %s AND version = %s"
    at = [entry.account_id, entry.version]
    balance = [kit.house.id, "9110", "HUF.MAIN.100"]
    with altered(statement, [3, *at], [-3, *at]), altered(_BALANCE, [3, *balance], [-3, *balance]):
        found = custody_problems(kit.house)["where"]
        first = found["places"][0]
        assert [first[name] for name in ("account", "place", "denomination", "pieces", "version")] == [
            "9110", "vault", 100, -3, entry.version,
        ]  # fmt: skip
        [transaction_] = found["transactions"]
        assert (transaction_["transaction"], transaction_["sum"]) == (entry.transaction_id, 3)
        assert transaction_["accounts"] == ["9110", "9120/C1"]
    assert custody_problems(kit.house) == {}


def test_money_that_is_owed_and_no_entry_says_so(kit: Kit, cashier: Desk) -> None:
    wallet = [kit.house.id, "2010/anna", "HUF"]
    with altered(_BALANCE, [10, *wallet], [-10, *wallet]):
        [found] = custody_problems(kit.house)["where"]["places"]
        assert (found["account"], found["place"], found["amount"]) == ("2010/anna", "anna", 10)
    assert custody_problems(kit.house) == {}
