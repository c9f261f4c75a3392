"""Postings of several threads written together: each has its own answer or refusal, and it is committed."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, connections, transaction

from ledger import errors, group, posting
from ledger.models import Account, Transaction
from ledger.posting import Balance, Leg, Posted
from tests.ledger.sessions import PATIENCE, Session, session, together, until_waiting
from tests.ledger.support import APP, Shop, open_shop, run, verified


@pytest.fixture(autouse=True)
def hang_up(live_db: None) -> Iterator[None]:
    yield
    group.close()


def post(shop: Shop, key: str, *legs: tuple[int, int], **metadata: Any) -> Posted:
    return group.post(shop.book, key, "test", [Leg(*leg) for leg in legs], metadata)


def test_one_thread(shop: Shop) -> None:
    done = post(shop, "k", (shop.till, 5), (shop.anna, -5))
    assert (done.replayed, done.balances[shop.anna]) == (False, Balance(5, 1))
    assert Transaction.objects.get(id=done.transaction_id).idempotency_key == "k"
    again = post(shop, "k", (shop.till, 5), (shop.anna, -5))
    assert again == Posted(done.transaction_id, done.posted_at, done.balances, replayed=True)


def lined_up(shop: Shop, requests: list[tuple[Any, ...]], first: Session) -> list[object]:
    """What becomes of requests that line up behind one that waits for an account; in their order."""
    first.begin()
    lock = [Leg(shop.till, 1), Leg(shop.bela, -1)]
    first.do(lambda: posting.post(shop.book, "lock", "test", lock, {}))
    results: list[object] = [None] * (len(requests) + 1)

    def ask(number: int, request: tuple[Any, ...]) -> None:
        try:
            results[number] = post(shop, *request)
        except errors.LedgerError as error:
            results[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask, args=(0, ("leads", (shop.till, 1), (shop.bela, -1))))]
    threads[0].start()
    until_waiting()
    line = group._lines[APP]
    for number, request in enumerate(requests, 1):
        thread = threading.Thread(target=ask, args=(number, request))
        thread.start()
        threads.append(thread)
        while len(line._waiting) < number:
            pass
    first.commit()
    for thread in threads:
        thread.join(timeout=PATIENCE)
        assert not thread.is_alive()
    assert isinstance(results[0], Posted)
    return results[1:]


def test_those_that_wait_are_one_batch(shop: Shop) -> None:
    with session() as first:
        requests = [(f"k{n}", (shop.till, n), (shop.anna, -n)) for n in range(1, 6)]
        done = lined_up(shop, requests, first)
    assert [one.balances[shop.anna] for one in done] == [  # type: ignore[attr-defined]
        Balance(n * (n + 1) // 2, n) for n in range(1, 6)
    ]
    written = "SELECT DISTINCT xmin::text FROM ledger_transaction WHERE book = %s AND idempotency_key ~ '^k'"
    xmins = run(APP, written, [shop.book])
    assert len(xmins) == 1
    verified(shop.book)


def test_each_has_its_own_refusal(shop: Shop) -> None:
    """Named by the refusal or not, those that are refused take nobody with them."""
    with session() as first:
        found = lined_up(
            shop,
            [
                ("a", (shop.till, 10), (shop.anna, -10)),
                ("overdrawn", (shop.anna, 11), (shop.bela, -11)),
                ("b", (shop.anna, 10), (shop.bela, -10)),
                ("unbalanced", (shop.till, 2), (shop.anna, -1)),
                ("b", (shop.anna, 10), (shop.bela, -10)),
                ("a", (shop.till, 9), (shop.anna, -9)),
                ("too few", (shop.till, 1)),
            ],
            first,
        )
    names = [getattr(one, "code", None) or getattr(one, "replayed", None) for one in found]
    assert names == [False, "insufficient_funds", False, "unbalanced", True, "key_reused", "too_few_legs"]
    assert Account.objects.get(id=shop.anna).balance == 0
    verified(shop.book)


def test_books_and_periods_do_not_mix(shop: Shop) -> None:
    other = open_shop()

    def work(number: int) -> object:
        at = (shop, other)[number % 2]
        return [post(at, f"{number}:{n}", (at.till, 1), (at.anna, -1)).replayed for n in range(10)]

    assert together(work, 8) == [[False] * 10] * 8
    for one in (shop, other):
        assert Account.objects.get(id=one.anna).balance == 40
        verified(one.book)


def test_it_stands_alone(shop: Shop) -> None:
    with pytest.raises(errors.NotAtomic), transaction.atomic():
        post(shop, "k", (shop.till, 5), (shop.anna, -5))


@pytest.mark.parametrize("amount", [0.5, 2**62])
def test_what_cannot_be_sent_is_refused_before(shop: Shop, amount: Any) -> None:
    with pytest.raises(errors.PostingRefused):
        post(shop, "k", (shop.till, amount), (shop.anna, -amount))


def test_a_lost_connection_is_recorded_and_made_again(shop: Shop) -> None:
    post(shop, "before", (shop.till, 5), (shop.anna, -5))
    connection = group._lines[APP]._connection
    assert connection is not None
    pid = connection.connection.info.backend_pid
    run("owner", "SELECT pg_terminate_backend(%s, 5000)", [pid])
    with pytest.raises(OperationalError):
        post(shop, "lost", (shop.till, 5), (shop.anna, -5))
    assert not post(shop, "lost", (shop.till, 5), (shop.anna, -5)).replayed
    verified(shop.book)
