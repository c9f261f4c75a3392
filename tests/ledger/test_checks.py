"""The proof of a book: clean ones pass, and each check finds the damage that it is there for.

Damage needs the owner, with the guards switched off; every case is rolled back.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connections, transaction

from ledger import checks, posting
from ledger.checks import TrialRow
from tests.ledger.support import OWNER, TABLES, Shop, open_shop

SWITCH_OFF = "".join(f"ALTER TABLE {table} DISABLE TRIGGER USER;" for table in TABLES)
DROP_CHECKS = "ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_floor;"


@pytest.fixture
def busy(shop: Shop) -> Shop:
    """A book with a reversal, two commodities and two entries on one account in one transaction."""
    first = shop.pay_in("in", shop.anna, 100)
    shop.pay_in("in 2", shop.anna, 50)
    shop.post("pairs", (shop.anna, 30), (shop.bela, -30), (shop.anna, 5), (shop.bela, -5))
    shop.post("apples", (shop.sold, 3), (shop.stock, -3))
    with transaction.atomic():
        posting.reverse(shop.book, "undo", first.transaction_id, {})
    return shop


@contextmanager
def damaged(sql: str, params: dict[str, object]) -> Iterator[None]:
    """The database with its guards off and `sql` done to it, for the block only, on the owner's connection."""
    with transaction.atomic(using=OWNER):
        with connections[OWNER].cursor() as cursor:
            cursor.execute(SWITCH_OFF + DROP_CHECKS)
            cursor.execute(sql, params)
            assert cursor.rowcount > 0
        yield
        transaction.set_rollback(True, using=OWNER)


def test_clean_book(busy: Shop) -> None:
    assert checks.verify(busy.book) == []
    assert checks.verify(str(busy.book)) == []


FIRST = "(SELECT id FROM ledger_transaction WHERE book = %(book)s AND idempotency_key = 'in')"
SECOND = "(SELECT id FROM ledger_transaction WHERE book = %(book)s AND idempotency_key = 'in 2')"
UNDO = "(SELECT id FROM ledger_transaction WHERE book = %(book)s AND idempotency_key = 'undo')"


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("UPDATE ledger_account SET balance = balance + 1 WHERE id = %(anna)s", {"balance"}),
        ("UPDATE ledger_account SET balance = -1 WHERE id = %(bela)s", {"balance", "floor"}),
        ("UPDATE ledger_account SET closed_at = now() WHERE id = %(bela)s", {"floor"}),
        ("UPDATE ledger_account SET version = version + 1 WHERE id = %(anna)s", {"balance", "versions"}),
        ("UPDATE ledger_account SET posted_at = now() WHERE id = %(anna)s", {"time"}),
        ("UPDATE ledger_entry SET amount = amount - 1 WHERE account_id = %(anna)s AND version = 2",
         {"sum_zero", "balance", "chain", "balanced"}),
        ("UPDATE ledger_entry SET balance_after = 7 WHERE account_id = %(anna)s AND version = 2", {"chain"}),
        ("UPDATE ledger_entry SET version = 77 WHERE account_id = %(anna)s AND version = 1",
         {"versions", "chain", "time"}),
        ("DELETE FROM ledger_entry WHERE account_id = %(anna)s AND version = 2",
         {"sum_zero", "balance", "versions", "chain", "legs", "balanced"}),
        (f"DELETE FROM ledger_entry WHERE transaction_id = {SECOND}", {"balance", "versions", "chain", "legs"}),
        (f"DELETE FROM ledger_transaction WHERE id = {SECOND}", {"orphans"}),
        (f"UPDATE ledger_entry SET transaction_id = {FIRST} WHERE transaction_id = {SECOND}", {"legs", "mirror"}),
        (f"UPDATE ledger_transaction SET posted_at = '2000-01-01' WHERE id = {SECOND}", {"time"}),
        (f"UPDATE ledger_transaction SET book = gen_random_uuid() WHERE id = {SECOND}", {"orphans"}),
        (f"UPDATE ledger_transaction SET reverses_id = {SECOND} WHERE id = {UNDO}", {"mirror"}),
        (f"UPDATE ledger_transaction SET reverses_id = -1 WHERE id = {UNDO}", {"mirror"}),
    ],
)  # fmt: skip
def test_damage_is_found(busy: Shop, sql: str, found: set[str]) -> None:
    names = {"book": busy.book, "anna": busy.anna, "bela": busy.bela}
    with damaged(sql, names):
        findings = checks.verify(busy.book, using=OWNER)
        assert {finding.check for finding in findings} == found
        assert all(finding.subject and finding.detail for finding in findings)
    assert checks.verify(busy.book) == []


def test_every_check_has_a_case_that_it_finds() -> None:
    cases = next(mark for mark in test_damage_is_found.pytestmark if mark.name == "parametrize").args[1]  # type: ignore[attr-defined]
    assert set().union(*(found for _, found in cases)) == set(checks.CHECKS)


def test_another_book_is_not_looked_at(busy: Shop) -> None:
    other = open_shop()
    with damaged("UPDATE ledger_account SET balance = 1 WHERE id = %(anna)s", {"anna": other.anna}):
        assert checks.verify(busy.book, using=OWNER) == []


def test_trial_balance(busy: Shop) -> None:
    trial = checks.trial_balance(busy.book)
    assert trial.rows == (
        TrialRow("APPLE", "custody", "stock", 2, 3, 3),
        TrialRow("EUR", "asset", "till", 1, 50, 0),
        TrialRow("EUR", "liability", "deposit", 2, 0, 50),
    )
    assert trial.totals == {"APPLE": (3, 3), "EUR": (50, 50)}
    assert trial.balanced


def test_trial_balance_that_is_off(busy: Shop) -> None:
    with damaged("UPDATE ledger_account SET balance = balance + 1 WHERE id = %(anna)s", {"anna": busy.anna}):
        trial = checks.trial_balance(busy.book, using=OWNER)
    assert trial.totals["EUR"] == (50, 51)
    assert not trial.balanced


def test_trial_balance_by_whole_code(busy: Shop) -> None:
    prefixes = [row.prefix for row in checks.trial_balance(busy.book, separator="|").rows]
    assert prefixes == ["stock:shelf", "stock:sold", "till:1", "deposit:anna", "deposit:bela"]
