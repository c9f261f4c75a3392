"""Assertions: what somebody counted, found true, written down; what is not true is not."""

import pytest
from django.db import transaction

from ledger import errors
from ledger.assertions import Asserted, assert_balance
from ledger.models import Assertion
from ledger.posting import Leg, post
from tests.ledger.sessions import PATIENCE, in_block, session, until_waiting
from tests.ledger.support import Shop, open_shop, picture, verified


def say(shop: Shop, account: int, expected: int, version: int | None = None) -> Asserted:
    """Assert in a transaction of its own."""
    return in_block(lambda: assert_balance(shop.book, account, expected, version=version, metadata={"by": "Cili"}))


@pytest.fixture
def history(shop: Shop) -> Shop:
    """Anna's balance was 5, 12 and 2."""
    shop.pay_in("a", shop.anna, 5)
    shop.pay_in("b", shop.anna, 7)
    shop.post("c", (shop.anna, 10), (shop.bela, -10))
    return shop


def test_now_and_at_a_version(history: Shop) -> None:
    now = say(history, history.anna, 2)
    assert now.version == 3
    assert [say(history, history.anna, held, n).version for n, held in enumerate([0, 5, 12, 2])] == [0, 1, 2, 3]
    row = Assertion.objects.get(id=now.assertion_id)
    assert (row.account_id, row.version, row.balance, row.metadata) == (history.anna, 3, 2, {"by": "Cili"})
    assert row.asserted_at == now.asserted_at
    assert say(history, history.anna, 2).assertion_id != now.assertion_id
    verified(history.book)


def test_an_account_that_never_moved(history: Shop) -> None:
    assert say(history, history.sold, 0).version == 0
    with pytest.raises(errors.BalanceDiffers):
        say(history, history.sold, 1)


def test_what_is_not_true(history: Shop) -> None:
    before = picture(history.book)
    with pytest.raises(errors.BalanceDiffers) as caught:
        say(history, history.anna, 3)
    assert caught.value.code == "balance_differs"
    assert caught.value.params == {
        "account": history.anna, "account_code": "deposit:anna", "version": 3, "balance": 2, "asserted": 3,
    }  # fmt: skip
    with pytest.raises(errors.BalanceDiffers):
        say(history, history.anna, 2, 2)
    assert picture(history.book) == before


def test_accounts_and_versions_that_are_not_there(history: Shop) -> None:
    other = open_shop()
    for account, version in ((2**62, None), (other.anna, None), (history.anna, 4), (history.anna, -1)):
        with pytest.raises(errors.UnknownAccount) as caught:
            say(history, account, 0, version)
        assert caught.value.params["account"] == account


@pytest.mark.parametrize("expected", [1.0, "1", None, True])
def test_amounts_are_integers(history: Shop, expected: object) -> None:
    with pytest.raises(errors.InvalidPosting):
        say(history, history.anna, expected)  # type: ignore[arg-type]


def test_out_of_range_and_outside_atomic(history: Shop) -> None:
    with pytest.raises(errors.AmountOutOfRange):
        say(history, history.anna, 2**63)
    with pytest.raises(errors.NotAtomic):
        assert_balance(history.book, history.anna, 2)


def test_now_waits_for_a_posting_and_makes_one_wait(shop: Shop) -> None:
    """What is decided on the count is decided on this balance."""
    legs = [Leg(shop.till, 5), Leg(shop.anna, -5)]
    with session() as other:
        with transaction.atomic():
            post(shop.book, "a", "test", legs, {})
            counting = other.start(lambda: say(shop, shop.anna, 5))
            until_waiting()
        assert counting.result(timeout=PATIENCE).version == 1
        with transaction.atomic():
            assert_balance(shop.book, shop.anna, 5)
            paying = other.start(lambda: shop.pay_in("b", shop.anna, 1))
            until_waiting()
            assert assert_balance(shop.book, shop.anna, 5).version == 1
        assert paying.result(timeout=PATIENCE).balances[shop.anna].version == 2
