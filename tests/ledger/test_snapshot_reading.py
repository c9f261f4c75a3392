"""What a snapshot says: its trial balance, and where it differs from the entries."""

import pytest
from django.db import connections, transaction

from ledger import checks, snapshots
from ledger.models import SnapshotLine
from ledger.posting import DEBIT, AccountSpec, Leg, ensure_accounts, post
from tests.ledger.support import APP, OWNER, Shop, run


def take(shop: Shop, name: str) -> int:
    """Take a snapshot; returns its id."""
    with transaction.atomic():
        return snapshots.take(shop.book, name).snapshot_id


def test_its_trial_balance_is_that_of_its_moment(shop: Shop) -> None:
    shop.pay_in("a", shop.anna, 5)
    shop.pay_in("b", shop.bela, 4)
    shop.post("c", (shop.sold, 3), (shop.stock, -3))
    now = checks.trial_balance(shop.book)
    take(shop, "noon")
    shop.pay_in("d", shop.anna, 7)
    assert snapshots.trial_balance(shop.book, "noon") == now
    assert snapshots.trial_balance(shop.book, "noon").totals == {"EUR": (9, 9), "APPLE": (3, 3)}
    assert snapshots.trial_balance(shop.book, "never").rows == ()
    by_code = snapshots.trial_balance(shop.book, "noon", separator="|").rows
    assert [(row.prefix, row.debit, row.credit) for row in by_code if row.commodity == "EUR"] == [
        ("till:1", 9, 0),
        ("deposit:anna", 0, 5),
        ("deposit:bela", 0, 4),
    ]


def test_an_account_with_lanes_counts_once(shop: Shop) -> None:
    with transaction.atomic():
        (crowd,) = ensure_accounts(
            shop.book, [AccountSpec("till:crowd", "asset", "EUR", DEBIT, None, lanes=4)]
        ).values()
    for number in range(6):
        with transaction.atomic():
            post(shop.book, f"crowd {number}", "test", [Leg(crowd, 10), Leg(shop.anna, -10)], {})
    take(shop, "noon")
    (row,) = [row for row in snapshots.trial_balance(shop.book, "noon", separator="|").rows if row.kind == "asset"]
    assert (row.prefix, row.accounts, row.debit) == ("till:crowd", 1, 60)
    assert snapshots.differences(shop.book, "noon") == []


def recorded(shop: Shop, name: str, after: str | None = None) -> set[tuple[str, str]]:
    """Differences as (subject, detail)."""
    return {(one.subject, one.detail) for one in snapshots.differences(shop.book, name, after=after)}


def test_right_ones_differ_in_nothing_whatever_they_are_compared_with(shop: Shop) -> None:
    take(shop, "empty")
    shop.pay_in("a", shop.anna, 5)
    take(shop, "morning")
    shop.pay_in("b", shop.bela, 4)
    shop.post("c", (shop.sold, 3), (shop.stock, -3))
    take(shop, "noon")
    for name in ("empty", "morning", "noon"):
        assert recorded(shop, name) == set()
    for name, after in (
        ("morning", "empty"),
        ("noon", "morning"),
        ("noon", "empty"),
        ("noon", "noon"),
        ("morning", "noon"),
    ):
        assert recorded(shop, name, after) == set()


def test_one_that_is_not_there_is_a_difference(shop: Shop) -> None:
    take(shop, "noon")
    assert recorded(shop, "never") == {("never", "there is no such snapshot")}
    assert recorded(shop, "noon", "never") == {("never", "there is no such snapshot")}


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (
            "UPDATE ledger_snapshot_line SET balance = balance + 1 WHERE snapshot_id = %s AND account_id = %s",
            {("deposit:anna EUR", "holds 13 at version 2, its entries give 12 at version 2"), ("EUR", "sums to -1")},
        ),
        (
            "UPDATE ledger_snapshot_line SET version = 1 WHERE snapshot_id = %s AND account_id = %s",
            {("deposit:anna EUR", "holds 12 at version 1, its entries give 5 at version 1")},
        ),
        (
            "UPDATE ledger_snapshot_line SET version = 3 WHERE snapshot_id = %s AND account_id = %s",
            {("deposit:anna EUR", "holds 12 at version 3, its entries give 12 at version 2")},
        ),
        (
            "DELETE FROM ledger_snapshot_line WHERE snapshot_id = %s AND account_id = %s",
            {("EUR", "sums to 12")},
        ),
    ],
    ids=["balance", "earlier version", "later version", "missing"],
)
def test_what_a_superuser_changed_is_found(shop: Shop, damage: str, expected: set[tuple[str, str]]) -> None:
    shop.pay_in("a", shop.anna, 5)
    take(shop, "morning")
    shop.pay_in("b", shop.anna, 7)
    number = take(shop, "noon")
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        cursor.execute("ALTER TABLE ledger_snapshot_line DISABLE TRIGGER USER")
        cursor.execute(damage, [number, shop.anna])
        for name in ("right", "fixed", "kept", "sealed"):
            cursor.execute(f"ALTER TABLE ledger_snapshot_line ENABLE ALWAYS TRIGGER ledger_snapshot_line_{name}")
    assert recorded(shop, "noon", "morning") == expected
    assert recorded(shop, "noon") == expected
    assert recorded(shop, "morning") == set()
    assert run(APP, "SELECT count(*) FROM ledger_snapshot_line WHERE snapshot_id = %s", [number]) == [
        (SnapshotLine.objects.filter(snapshot=number).count(),)
    ]
