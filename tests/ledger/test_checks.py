"""The proof of a book: clean ones pass, and each check finds the damage that it is there for.

Damage needs the owner, with the guards switched off; every case is rolled back.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connections, transaction

from ledger import assertions, checks, holds, periods, posting, snapshots
from ledger.checks import TrialRow
from ledger.errors import UnknownSnapshot
from ledger.models import Account
from ledger.posting import AccountSpec, Leg, Posting
from tests.ledger.sessions import until_past
from tests.ledger.support import OWNER, TABLES, Shop, open_shop

SWITCH_OFF = "".join(f"ALTER TABLE {table} DISABLE TRIGGER USER;" for table in TABLES)
DROP_CHECKS = (
    "ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_floor;"
    "DROP INDEX ledger_transaction_key_key, ledger_transaction_reverses_key;"
)


@pytest.fixture
def busy(shop: Shop) -> Shop:
    """A book with something of everything: a reversal, two commodities, two entries on one account in one transaction,
    weights, lanes, holds pending and posted, an open and a closed period, an assertion."""
    with transaction.atomic():
        snapshots.take(shop.book, "before")
    first = shop.pay_in("in", shop.anna, 100)
    shop.pay_in("in 2", shop.anna, 50)
    shop.post("pairs", (shop.anna, 30), (shop.bela, -30), (shop.anna, 5), (shop.bela, -5))
    shop.post("apples", (shop.sold, 3), (shop.stock, -3))
    with transaction.atomic():
        posting.reverse(shop.book, "undo", first.transaction_id, {})
        periods.open_period(shop.book, "monday")
        ids = posting.ensure_accounts(shop.book, SPECS)
        assertions.assert_balance(shop.book, shop.bela, 35)
    spread, debt, chips, rack = (ids[spec.code, spec.commodity] for spec in SPECS)
    shop.post("lane", (shop.till, 9), (spread + 1, -9))
    shop.post("sale", (debt, -20), (shop.till, 20), (chips, 4), (rack, -4))
    with transaction.atomic():
        periods.close_period(shop.book, "monday")
        periods.open_period(shop.book, "tuesday")
        for key in ("held", "kept"):
            legs = [Leg(shop.bela, 10), Leg(shop.till, -10)]
            holds.hold(shop.book, key, [Posting(f"{key} 1", "test", legs)], seconds=3600)
        holds.post_hold(shop.book, "held")
    return shop


SPECS = [
    AccountSpec("spread", "income", "EUR", posting.CREDIT, None, lanes=2),
    AccountSpec("chips:debt", "liability", "EUR", posting.CREDIT, weight=1),
    AccountSpec("chips:out", "custody", "CHIP", posting.DEBIT, weight=5),
    AccountSpec("chips:rack", "custody", "CHIP", posting.DEBIT, None),
]


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


def test_clean_book_with_holds_that_ran_out_and_a_closed_account_with_lanes(busy: Shop) -> None:
    spread = Account.objects.get(book=busy.book, code="spread").id
    busy.post("back", (busy.till, -9), (spread + 1, 9))
    with transaction.atomic():
        posting.close_account(busy.book, spread)
        chain = [Posting("out of time", "test", [Leg(busy.bela, 1), Leg(busy.till, -1)])]
        ran_out = holds.hold(busy.book, "short", chain, seconds=1)
    until_past(ran_out.expires_at)
    assert checks.verify(busy.book) == []
    busy.post("after", (busy.bela, 15), (busy.till, -15))
    assert checks.verify(busy.book) == []


FIRST = "(SELECT id FROM ledger_transaction WHERE book = %(book)s AND idempotency_key = 'in')"
SECOND = "(SELECT id FROM ledger_transaction WHERE book = %(book)s AND idempotency_key = 'in 2')"
UNDO = "(SELECT id FROM ledger_transaction WHERE book = %(book)s AND idempotency_key = 'undo')"
SALE = "(SELECT id FROM ledger_transaction WHERE book = %(book)s AND idempotency_key = 'sale')"
HELD = "(SELECT id FROM ledger_transaction WHERE book = %(book)s AND idempotency_key = 'held 1')"
MONDAY = "(SELECT id FROM ledger_period WHERE book = %(book)s AND name = 'monday')"
SNAPSHOT = "(SELECT id FROM ledger_snapshot WHERE book = %(book)s AND name = 'period monday')"
DEBT = "(SELECT id FROM ledger_account WHERE book = %(book)s AND code = 'chips:debt')"
CHIPS = "(SELECT id FROM ledger_account WHERE book = %(book)s AND code = 'chips:out')"
SPREAD = "(SELECT id FROM ledger_account WHERE book = %(book)s AND code = 'spread')"
KEPT = "(SELECT id FROM ledger_hold WHERE book = %(book)s AND key = 'kept')"


@pytest.mark.some_now(3)
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
        (f"UPDATE ledger_transaction SET idempotency_key = 'in' WHERE id = {SECOND}", {"once"}),
        (f"UPDATE ledger_transaction SET reverses_id = {FIRST} WHERE id = {SECOND}", {"once", "mirror"}),
        ("UPDATE ledger_account SET held = held + 1 WHERE id = %(bela)s", {"held"}),
        ("UPDATE ledger_account SET held = 26 WHERE id = %(bela)s", {"held", "floor"}),
        (f"UPDATE ledger_reserve SET amount = amount + 1 WHERE hold_id = {KEPT}", {"held"}),
        (f"DELETE FROM ledger_reserve WHERE hold_id = {KEPT}", {"held"}),
        (f"UPDATE ledger_hold SET state = 'voided' WHERE id = {KEPT}", {"holds"}),
        (f"UPDATE ledger_reserve SET released_at = now() WHERE hold_id = {KEPT};"
         "UPDATE ledger_account SET held = 0 WHERE id = %(bela)s;"
         f"UPDATE ledger_hold SET state = 'posted' WHERE id = {KEPT}", {"holds"}),
        (f"DELETE FROM ledger_hold WHERE id = {KEPT}", {"holds"}),
        (f"UPDATE ledger_account SET weight = 2 WHERE id = {DEBT}", {"weights", "backed"}),
        (f"UPDATE ledger_account SET balance = 3 WHERE id = {CHIPS}", {"balance", "weights"}),
        (f"UPDATE ledger_account SET version = 1 WHERE id = {SPREAD}", {"lanes", "versions"}),
        (f"UPDATE ledger_account SET lanes = 3 WHERE id = {SPREAD}", {"lanes"}),
        (f"UPDATE ledger_account SET normal_side = 1 WHERE id = {SPREAD} + 2", {"lanes"}),
        (f"UPDATE ledger_account SET closed_at = now() WHERE id = {SPREAD} + 2", {"lanes"}),
        (f"UPDATE ledger_account SET parent_id = -1 WHERE id = {SPREAD} + 2", {"lanes"}),
        (f"UPDATE ledger_transaction SET period_id = NULL WHERE id = {SALE}", {"periods"}),
        (f"UPDATE ledger_transaction SET period_id = -1 WHERE id = {SALE}", {"periods"}),
        (f"UPDATE ledger_transaction SET period_id = {MONDAY} WHERE id = {HELD}", {"closed"}),
        ("UPDATE ledger_period SET closed_at = now() WHERE book = %(book)s AND name = 'tuesday'", {"closed"}),
        (f"UPDATE ledger_snapshot SET name = 'other' WHERE id = {SNAPSHOT}", {"closed"}),
        (f"UPDATE ledger_snapshot_line SET balance = 0 WHERE snapshot_id = {SNAPSHOT} AND account_id = %(bela)s",
         {"snapshots"}),
        (f"DELETE FROM ledger_snapshot_line WHERE snapshot_id = {SNAPSHOT} AND account_id = %(bela)s", {"snapshots"}),
        ("UPDATE ledger_assertion SET balance = 34 WHERE book = %(book)s", {"assertions"}),
        ("UPDATE ledger_assertion SET version = 0 WHERE book = %(book)s", {"assertions"}),
        ("UPDATE ledger_assertion SET account_id = -1 WHERE book = %(book)s", {"assertions"}),
    ],
)  # fmt: skip
def test_damage_is_found(busy: Shop, sql: str, found: set[str]) -> None:
    names = {"book": busy.book, "anna": busy.anna, "bela": busy.bela}
    with damaged(sql, names):
        findings = checks.verify(busy.book, using=OWNER)
        # Rows that were changed disagree with their seals, and guards that are off are found besides.
        assert {finding.check for finding in findings} - {"seals", "catalogue"} == found
        # A snapshot from before all of it leaves nothing out.
        assert checks.verify(busy.book, since="before", using=OWNER) == findings
        assert all(finding.subject and finding.detail for finding in findings)
    assert checks.verify(busy.book) == []


def test_findings_come_in_one_order_whatever_the_plan(busy: Shop) -> None:
    moved = "UPDATE ledger_account SET version = version + 1, balance = balance + 1 WHERE book = %(book)s"
    with damaged(moved, {"book": busy.book}):
        findings = checks.verify(busy.book, using=OWNER)
        with connections[OWNER].cursor() as cursor:
            for ways in (("hashjoin", "hashagg"), ("hashjoin", "mergejoin", "sort"), ("nestloop", "mergejoin", "sort")):
                for way in ways:
                    cursor.execute(f"SET LOCAL enable_{way} = off")
                assert checks.verify(busy.book, using=OWNER) == findings, ways
                for way in ways:
                    cursor.execute(f"SET LOCAL enable_{way} = on")


def test_what_came_since_a_snapshot_is_proved_and_what_it_covers_is_not_read_again(busy: Shop) -> None:
    with transaction.atomic():
        snapshots.take(busy.book, "proved")
    assert checks.verify(busy.book, since="proved") == []
    busy.pay_in("later", busy.anna, 7)
    assert checks.verify(busy.book, since="proved") == checks.verify(busy.book) == []
    newest = "version = (SELECT version FROM ledger_account WHERE id = %(anna)s)"
    with damaged(f"UPDATE ledger_entry SET amount = 8 WHERE account_id = %(anna)s AND {newest}", {"anna": busy.anna}):
        found = {finding.check for finding in checks.verify(busy.book, since="proved", using=OWNER)}
        assert found == {"seals", "catalogue", "sum_zero", "balance", "chain", "balanced"}
    with damaged("UPDATE ledger_entry SET amount = 8 WHERE account_id = %(anna)s AND version = 1", {"anna": busy.anna}):
        assert {finding.check for finding in checks.verify(busy.book, since="proved", using=OWNER)} == {"catalogue"}
        assert "chain" in {finding.check for finding in checks.verify(busy.book, using=OWNER)}


def test_a_snapshot_that_is_not_there_is_refused(busy: Shop) -> None:
    with pytest.raises(UnknownSnapshot):
        checks.verify(busy.book, since="no such")


def test_every_check_has_a_case_that_it_finds() -> None:
    cases = next(mark for mark in test_damage_is_found.pytestmark if mark.name == "parametrize").args[1]  # type: ignore[attr-defined]
    assert set().union(*(found for _, found in cases)) | {"seals"} == set(checks.CHECKS)


def test_another_book_is_not_looked_at(busy: Shop) -> None:
    other = open_shop()
    with damaged("UPDATE ledger_account SET balance = 1 WHERE id = %(anna)s", {"anna": other.anna}):
        assert {finding.check for finding in checks.verify(busy.book, using=OWNER)} == {"catalogue"}


def test_trial_balance(busy: Shop) -> None:
    trial = checks.trial_balance(busy.book)
    assert trial.rows == (
        TrialRow("APPLE", "custody", "stock", 2, 3, 3),
        TrialRow("CHIP", "custody", "chips", 2, 4, 4),
        TrialRow("EUR", "asset", "till", 1, 69, 0),
        TrialRow("EUR", "income", "spread", 1, 0, 9),
        TrialRow("EUR", "liability", "chips", 1, 0, 20),
        TrialRow("EUR", "liability", "deposit", 2, 0, 40),
    )
    assert trial.totals == {"APPLE": (3, 3), "CHIP": (4, 4), "EUR": (69, 69)}
    assert trial.balanced


def test_trial_balance_that_is_off(busy: Shop) -> None:
    with damaged("UPDATE ledger_account SET balance = balance + 1 WHERE id = %(anna)s", {"anna": busy.anna}):
        trial = checks.trial_balance(busy.book, using=OWNER)
    assert trial.totals["EUR"] == (69, 70)
    assert not trial.balanced


def test_trial_balance_by_whole_code(busy: Shop) -> None:
    prefixes = [row.prefix for row in checks.trial_balance(busy.book, separator="|").rows]
    assert prefixes == [
        "stock:shelf", "stock:sold", "chips:out", "chips:rack", "till:1", "spread", "chips:debt", "deposit:anna",
        "deposit:bela",
    ]  # fmt: skip
