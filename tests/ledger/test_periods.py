"""Periods: what belongs to which, and that a closed one stays as it was, even if others post at the same time."""

import pytest
from django.db import connections, transaction

from ledger import errors, holds, periods, posting, snapshots
from ledger.balances import balances
from ledger.models import Period, Snapshot, Transaction
from ledger.periods import Closed, Turnover
from ledger.posting import Balance, Leg, Posted, Posting
from tests.ledger.sessions import PATIENCE, in_block, session, together, until_waiting
from tests.ledger.support import APP, Shop, open_shop, picture, run, sqlstate, verified


def open_period(shop: Shop, name: str) -> int:
    """Open in a transaction of its own."""
    return in_block(lambda: periods.open_period(shop.book, name))


def close_period(shop: Shop, name: str) -> Closed:
    """Close in a transaction of its own."""
    return in_block(lambda: periods.close_period(shop.book, name))


def post_within(shop: Shop, key: str, amount: int, period: str | None = None) -> Posted:
    """A payment by Anna in the transaction that is open."""
    return posting.post(shop.book, key, "test", [Leg(shop.till, amount), Leg(shop.anna, -amount)], {}, period=period)


def pay(shop: Shop, key: str, amount: int = 1, period: str | None = None) -> Posted:
    """A payment by Anna."""
    return in_block(lambda: post_within(shop, key, amount, period))


def period_of(posted: Posted) -> str | None:
    """The name of the period that it belongs to."""
    name: str | None = Transaction.objects.values_list("period__name", flat=True).get(id=posted.transaction_id)
    return name


# --- Which period ---------------------------------------------------------------------------------------------------


def test_a_book_without_periods_needs_none(shop: Shop) -> None:
    assert period_of(pay(shop, "k")) is None
    with pytest.raises(errors.PeriodNotOpen) as caught:
        pay(shop, "l", period="monday")
    assert (caught.value.code, caught.value.params) == ("period_not_open", {"period": "monday"})
    verified(shop.book)


def test_the_newest_open_one_unless_named(shop: Shop) -> None:
    pay(shop, "before")
    for name in ("monday", "tuesday"):
        open_period(shop, name)
    assert period_of(pay(shop, "a")) == "tuesday"
    assert period_of(pay(shop, "b", period="monday")) == "monday"
    close_period(shop, "tuesday")
    assert period_of(pay(shop, "c")) == "monday"
    with pytest.raises(errors.PeriodNotOpen):
        pay(shop, "d", period="tuesday")
    verified(shop.book)


def test_every_way_in_takes_a_period(shop: Shop) -> None:
    for name in ("monday", "tuesday"):
        open_period(shop, name)
    legs = [Leg(shop.till, 50), Leg(shop.anna, -50)]
    with transaction.atomic():
        (batch,) = posting.post_many(shop.book, [Posting("b", "test", legs)], period="monday")
        holds.hold(shop.book, "h", [Posting("c", "test", [Leg(shop.anna, 5), Leg(shop.bela, -5)])], seconds=60)
        (held,) = holds.post_hold(shop.book, "h", period="monday")
        undone = posting.reverse(shop.book, "u", held.transaction_id, {}, period="monday")
    alone = posting.post(shop.book, "a", "test", legs, {}, period="monday", alone=True)
    assert {period_of(posted) for posted in (batch, held, undone, alone)} == {"monday"}
    verified(shop.book)


def test_other_books_have_their_own(shop: Shop) -> None:
    other = open_shop()
    open_period(shop, "monday")
    assert period_of(pay(other, "k")) is None
    with pytest.raises(errors.PeriodNotOpen):
        pay(other, "l", period="monday")


def test_opening_finds_the_open_one_and_not_a_closed_one(shop: Shop) -> None:
    first = open_period(shop, "monday")
    assert open_period(shop, "monday") == first
    close_period(shop, "monday")
    with pytest.raises(errors.PeriodNotOpen) as caught:
        open_period(shop, "monday")
    assert caught.value.params == {"period": "monday"}
    assert [(period.name, period.closed_at is None) for period in periods.periods(shop.book)] == [("monday", False)]


@pytest.mark.parametrize("name", ["", "x" * 256, "a\0b"])
def test_names_that_cannot_be_kept(shop: Shop, name: str) -> None:
    with pytest.raises(errors.InvalidPosting):
        open_period(shop, name)


# --- Closing --------------------------------------------------------------------------------------------------------


def test_closing_is_for_good_and_replays(shop: Shop) -> None:
    open_period(shop, "monday")
    pay(shop, "k", 5)
    closed = close_period(shop, "monday")
    assert closed.opened_at <= closed.closed_at
    assert Period.objects.get(id=closed.period_id).closed_at == closed.closed_at
    before = picture(shop.book)
    assert close_period(shop, "monday") == closed
    for period in ("monday", None):
        with pytest.raises(errors.PeriodNotOpen):
            pay(shop, "late", 5, period)
    assert picture(shop.book) == before
    with pytest.raises(errors.PeriodNotOpen):
        close_period(shop, "never")
    with pytest.raises(errors.NotAtomic):
        periods.close_period(shop.book, "monday")


def test_replays_are_answered_when_the_period_is_closed(shop: Shop) -> None:
    open_period(shop, "monday")
    first = pay(shop, "k", 50, "monday")
    with transaction.atomic():
        holds.hold(shop.book, "h", [Posting("c", "test", [Leg(shop.anna, 5), Leg(shop.bela, -5)])], seconds=60)
        (held,) = holds.post_hold(shop.book, "h", period="monday")
        undone = posting.reverse(shop.book, "u", held.transaction_id, {}, period="monday")
    close_period(shop, "monday")
    assert pay(shop, "k", 50, "monday").transaction_id == first.transaction_id
    assert pay(shop, "k", 50).replayed
    with transaction.atomic():
        assert holds.post_hold(shop.book, "h", period="monday")[0].transaction_id == held.transaction_id
        assert posting.reverse(shop.book, "u", held.transaction_id, {}).transaction_id == undone.transaction_id
        legs = [Leg(shop.till, 50), Leg(shop.anna, -50)]
        assert posting.post_many(shop.book, [Posting("k", "test", legs)], period="monday")[0].replayed
    with pytest.raises(errors.KeyReused):
        pay(shop, "k", 51, "monday")
    with pytest.raises(errors.PeriodNotOpen), transaction.atomic():
        posting.post_many(shop.book, [Posting("k", "test", legs), Posting("n", "test", legs)], period="monday")
    verified(shop.book)


def test_the_snapshot_at_close(shop: Shop) -> None:
    open_period(shop, "monday")
    open_period(shop, "tuesday")
    pay(shop, "a", 5, "monday")
    pay(shop, "b", 7, "tuesday")
    closed = close_period(shop, "monday")
    pay(shop, "c", 9)
    assert Snapshot.objects.get(id=closed.snapshot_id).name == "period monday"
    assert snapshots.balances(shop.book, "period monday") == {shop.till: Balance(12, 2), shop.anna: Balance(12, 2)}
    verified(shop.book)


def test_nobody_takes_the_closing_snapshot_before(shop: Shop) -> None:
    open_period(shop, "monday")
    with pytest.raises(errors.InvalidPosting):
        in_block(lambda: snapshots.take(shop.book, "period monday"))
    pay(shop, "k", 5)
    close_period(shop, "monday")
    assert snapshots.balances(shop.book, "period monday")[shop.anna] == Balance(5, 1)


def test_turnover(shop: Shop) -> None:
    for name in ("monday", "tuesday"):
        open_period(shop, name)
    pay(shop, "a", 50, "monday")
    pay(shop, "b", 7, "tuesday")
    shop.post("c", (shop.anna, 20), (shop.bela, -12), (shop.bela, -8), (shop.sold, 3), (shop.stock, -3))
    with transaction.atomic():
        back = [Leg(shop.anna, 5), Leg(shop.till, -5)]
        posting.post(shop.book, "d", "test", back, {}, period="monday")
    assert periods.turnover(shop.book, "monday") == [
        Turnover(shop.anna, "deposit:anna", "EUR", 5, 50, 2),
        Turnover(shop.till, "till:1", "EUR", 50, 5, 2),
    ]
    tuesday = periods.turnover(shop.book, "tuesday")
    assert [(row.code, row.debit, row.credit, row.entries) for row in tuesday] == [
        ("stock:shelf", 0, 3, 1), ("stock:sold", 3, 0, 1),
        ("deposit:anna", 20, 7, 2), ("deposit:bela", 0, 20, 2), ("till:1", 7, 0, 1),
    ]  # fmt: skip
    for rows in (tuesday, periods.turnover(shop.book, "monday")):
        for commodity in {row.commodity for row in rows}:
            own = [row for row in rows if row.commodity == commodity]
            assert sum(row.debit for row in own) == sum(row.credit for row in own)
    assert periods.turnover(shop.book, "never") == []


# --- Two sessions ---------------------------------------------------------------------------------------------------


def test_closing_waits_for_a_posting_under_way(shop: Shop) -> None:
    open_period(shop, "monday")
    with session() as other:
        with transaction.atomic():
            post_within(shop, "under way", 5)
            closing = other.start(lambda: close_period(shop, "monday"))
            until_waiting()
            assert Period.objects.get(book=shop.book).closed_at is None
        closed = closing.result(timeout=PATIENCE)
    assert snapshots.balances(shop.book, "period monday")[shop.anna] == Balance(5, 1)
    assert Transaction.objects.get(book=shop.book).posted_at <= closed.closed_at
    verified(shop.book)


def test_a_posting_waits_for_closing(shop: Shop) -> None:
    open_period(shop, "monday")
    with session() as other:
        with transaction.atomic():
            periods.close_period(shop.book, "monday")
            late = other.start(lambda: pay(shop, "late", 5))
            until_waiting()
        with pytest.raises(errors.PeriodNotOpen):
            late.result(timeout=PATIENCE)
        with transaction.atomic():
            periods.open_period(shop.book, "tuesday")
            with pytest.raises(errors.PeriodNotOpen):  # it is open to others when it is committed
                other.do(lambda: pay(shop, "too early", 5))
        assert period_of(other.do(lambda: pay(shop, "next day", 5))) == "tuesday"
    verified(shop.book)


def test_closing_that_is_undone_lets_the_posting_in(shop: Shop) -> None:
    open_period(shop, "monday")
    with session() as other:
        with transaction.atomic():
            periods.close_period(shop.book, "monday")
            waiting = other.start(lambda: pay(shop, "k", 5))
            until_waiting()
            transaction.set_rollback(True)
        assert period_of(waiting.result(timeout=PATIENCE)) == "monday"


def test_postings_do_not_wait_for_one_another_at_the_period(shop: Shop) -> None:
    """Both have the period in hand, on different accounts."""
    open_period(shop, "monday")
    with session() as other, transaction.atomic():
        post_within(shop, "a", 5)
        assert not other.do(lambda: shop.post("b", (shop.sold, 1), (shop.stock, -1))).replayed


def test_other_books_do_not_wait(shop: Shop) -> None:
    elsewhere = open_shop()
    open_period(shop, "monday")
    with session() as other, transaction.atomic():
        periods.close_period(shop.book, "monday")
        assert not other.do(lambda: pay(elsewhere, "k", 5)).replayed


def test_the_first_period_waits_for_postings_that_have_none(shop: Shop) -> None:
    with session() as other:
        with transaction.atomic():
            early = post_within(shop, "early", 5)
            opening = other.start(lambda: open_period(shop, "monday"))
            until_waiting()
        opening.result(timeout=PATIENCE)
    assert period_of(early) is None
    assert period_of(pay(shop, "k")) == "monday"
    verified(shop.book)


def test_two_open_or_close_one_at_once(shop: Shop) -> None:
    opened = together(lambda _: open_period(shop, "monday"), 6)
    assert len(set(opened)) == 1
    closed = together(lambda _: close_period(shop, "monday"), 6)
    assert len(set(closed)) == 1
    assert isinstance(closed[0], Closed)


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_old_snapshot_slips_no_entry_in(shop: Shop, level: str) -> None:
    """Another isolation level would still see the period open, and the book without periods."""
    open_period(shop, "monday")
    elsewhere = open_shop()
    with session() as other:
        other.begin()
        other.do(lambda: set_level(level))
        other.do(lambda: Period.objects.count())
        close_period(shop, "monday")
        open_period(elsewhere, "monday")
        for book in (shop, elsewhere):
            with pytest.raises(errors.InvalidPosting):
                other.do(lambda book=book: in_block(lambda: post_within(book, "late", 5)))
    assert not Transaction.objects.filter(book__in=[shop.book, elsewhere.book]).exists()


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_old_snapshot_closes_nothing(shop: Shop, level: str) -> None:
    """The closing balances would be those of its beginning."""
    open_period(shop, "monday")
    with session() as other:
        other.begin()
        other.do(lambda: set_level(level))
        other.do(lambda: Period.objects.count())
        pay(shop, "meanwhile", 5)
        with pytest.raises(errors.InvalidPosting):
            other.do(lambda: in_block(lambda: periods.close_period(shop.book, "monday")))
    verified(shop.book)


def set_level(level: str) -> None:
    """Set the isolation level of the transaction that was just begun."""
    with connections[APP].cursor() as cursor:
        cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")


def test_a_bare_call_cannot_choose_a_period_of_another_book(shop: Shop) -> None:
    other = open_shop()
    open_period(other, "monday")
    with sqlstate("LG020"):
        run(
            APP,
            "SELECT * FROM ledger_post(%s, 'monday', '{k}', '{t}', '{\"{}\"}', '{NULL}', '{NULL}',"
            " '{1,1}', %s, '{1,-1}')",
            [shop.book, [shop.till, shop.anna]],
        )
    assert balances([shop.till])[shop.till] == Balance(0, 0)
