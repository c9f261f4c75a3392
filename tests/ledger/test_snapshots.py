"""Snapshots: all balances of one instant, the same for ever, right also while others post."""

import pytest

from ledger import errors, posting, snapshots
from ledger.models import Snapshot, SnapshotLine
from ledger.posting import Balance, Leg, Posting
from ledger.snapshots import Taken
from tests.ledger.sessions import in_block, session, together
from tests.ledger.support import Shop, open_shop, picture, verified


def take(shop: Shop, name: str) -> Taken:
    """Take one in a transaction of its own."""
    return in_block(lambda: snapshots.take(shop.book, name))


def test_what_every_account_held(shop: Shop) -> None:
    shop.pay_in("a", shop.anna, 5)
    shop.post("b", (shop.sold, 3), (shop.stock, -3))
    taken = take(shop, "noon")
    shop.pay_in("c", shop.anna, 7)
    assert not taken.replayed
    assert snapshots.balances(shop.book, "noon") == {
        shop.till: Balance(5, 1), shop.anna: Balance(5, 1), shop.sold: Balance(3, 1), shop.stock: Balance(-3, 1),
    }  # fmt: skip
    assert snapshots.balances(str(shop.book), "noon") == snapshots.balances(shop.book, "noon")
    verified(shop.book)


def test_the_same_name_returns_the_first(shop: Shop) -> None:
    shop.pay_in("a", shop.anna, 5)
    first = take(shop, "noon")
    shop.pay_in("b", shop.anna, 5)
    before = picture(shop.book)
    again = take(shop, "noon")
    assert (again.snapshot_id, again.taken_at, again.replayed) == (first.snapshot_id, first.taken_at, True)
    assert picture(shop.book) == before
    assert Snapshot.objects.filter(book=shop.book).count() == 1


def test_of_an_empty_book_and_of_none(shop: Shop) -> None:
    take(shop, "noon")
    assert snapshots.balances(shop.book, "noon") == {}
    assert snapshots.balances(shop.book, "never") == {}
    other = open_shop()
    assert not take(other, "noon").replayed


@pytest.mark.parametrize("name", ["", "x" * 256, "a\0b", "period monday"])
def test_names_that_cannot_be(shop: Shop, name: str) -> None:
    with pytest.raises(errors.InvalidPosting):
        take(shop, name)


def test_nothing_is_written_outside_atomic(shop: Shop) -> None:
    with pytest.raises(errors.NotAtomic):
        snapshots.take(shop.book, "noon")


def test_it_sees_the_postings_of_its_own_transaction_and_no_unfinished_others(shop: Shop) -> None:
    legs = [Leg(shop.till, 5), Leg(shop.anna, -5)]
    with session() as other:
        other.begin()
        apples = [Leg(shop.sold, 1), Leg(shop.stock, -1)]
        other.do(lambda: posting.post(shop.book, "theirs", "test", apples, {}))

        def ours() -> None:
            posting.post(shop.book, "ours", "test", legs, {})
            snapshots.take(shop.book, "noon")

        in_block(ours)
        other.commit()
    assert snapshots.balances(shop.book, "noon") == {shop.till: Balance(5, 1), shop.anna: Balance(5, 1)}
    verified(shop.book)


def test_taken_under_load_they_balance(shop: Shop) -> None:
    """The guard refuses a snapshot that does not; so does `verify`, which reads their lines against the entries."""

    def work(number: int) -> object:
        if number % 4 == 0:
            return [take(shop, f"{number}:{turn}").replayed for turn in range(8)]
        legs = [Leg(shop.till, 3), Leg(shop.anna, -1), Leg(shop.bela, -2)]
        batches = [[Posting(f"{number}:{turn}:{n}", "test", legs) for n in range(5)] for turn in range(5)]
        return [in_block(lambda batch=batch: len(posting.post_many(shop.book, batch))) for batch in batches]

    results = together(work, 12)
    assert results == [[False] * 8 if number % 4 == 0 else [5] * 5 for number in range(12)]
    for snapshot in Snapshot.objects.filter(book=shop.book):
        lines = {line.account_id: line for line in SnapshotLine.objects.filter(snapshot=snapshot)}
        if lines:
            assert lines[shop.till].balance == lines[shop.anna].balance + lines[shop.bela].balance
            assert {line.version for line in lines.values()} == {lines[shop.till].version}
    verified(shop.book)
