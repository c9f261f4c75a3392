"""Balances now, at a version, at a moment; running statements."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from ledger import balances, errors, statements
from ledger.posting import Balance
from tests.ledger.support import Row, Shop, backdating, forge

HOUR = timedelta(hours=1)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def history(shop: Shop) -> Shop:
    """Anna pays in 10 at noon and at 13, then twice at the same moment, 14 o'clock."""
    for version, moment in enumerate([NOON, NOON + HOUR, NOON + 2 * HOUR, NOON + 2 * HOUR], start=1):
        after = 10 * version
        rows = [Row(shop.till, version, 10, after), Row(shop.anna, version, -10, after)]
        with backdating():
            forge(shop.book, rows, posted_at=moment)
    return shop


def test_balance_now(shop: Shop) -> None:
    shop.pay_in("in", shop.anna, 5)
    assert balances.balance(shop.anna) == Balance(5, 1)
    assert balances.balances([shop.anna, shop.bela]) == {shop.anna: Balance(5, 1), shop.bela: Balance(0, 0)}
    assert balances.balances([]) == {}
    assert balances.balances_by_code(shop.book, ["deposit:anna", "none"], "EUR") == {"deposit:anna": Balance(5, 1)}


def test_balance_at_version(history: Shop) -> None:
    found = [balances.balance_at_version(history.anna, version) for version in range(5)]
    assert found == [Balance(10 * version, version) for version in range(5)]
    for version in (-1, 5):
        with pytest.raises(errors.UnknownAccount):
            balances.balance_at_version(history.anna, version)


@pytest.mark.parametrize(
    ("moment", "version"),
    [
        (NOON - timedelta(microseconds=1), 0),
        (NOON, 1),
        (NOON + HOUR - timedelta(microseconds=1), 1),
        (NOON + HOUR, 2),
        (NOON + 2 * HOUR, 4),
        (NOON + 99 * HOUR, 4),
    ],
)
def test_balance_at_a_moment(history: Shop, moment: datetime, version: int) -> None:
    assert balances.balance_at(history.anna, moment) == Balance(10 * version, version)


def test_balance_at_every_moment_of_a_longer_history(shop: Shop) -> None:
    posted = [shop.pay_in(f"in {n}", shop.anna, n + 1) for n in range(37)]
    for one in posted:
        assert balances.balance_at(shop.anna, one.posted_at) == one.balances[shop.anna]
    assert balances.balance_at(shop.bela, NOON) == Balance(0, 0)


def test_unknown_accounts(live_db: None) -> None:
    with pytest.raises(errors.UnknownAccount):
        balances.balance(2**62)
    with pytest.raises(errors.UnknownAccount):
        balances.balance_at(2**62, NOON)


def test_statement(shop: Shop) -> None:
    first = shop.pay_in("in", shop.anna, 100)
    second = shop.post("buy", (shop.anna, 30), (shop.bela, -30), what="bread")
    page = statements.statement(shop.anna)
    assert page.next_after is None
    assert page.lines == (
        statements.Line(1, first.transaction_id, "test", "in", first.posted_at, None, -100, 100, {}),
        statements.Line(2, second.transaction_id, "test", "buy", second.posted_at, None, 30, 70, {"what": "bread"}),
    )


def test_statement_pages_neither_skip_nor_repeat_while_others_post(shop: Shop) -> None:
    for n in range(5):
        shop.pay_in(f"in {n}", shop.anna, 1)
    seen: list[int] = []
    after: int | None = 0
    while after is not None:
        page = statements.statement(shop.anna, after=after, limit=2)
        seen += [line.version for line in page.lines]
        after = page.next_after
        if len(seen) == 2:
            shop.pay_in("meanwhile", shop.anna, 1)
    assert seen == [1, 2, 3, 4, 5, 6]
    assert [line.version for line in statements.lines(shop.anna, after=3)] == [4, 5, 6]


def test_full_last_page_has_no_next(shop: Shop) -> None:
    shop.pay_in("in", shop.anna, 1)
    assert statements.statement(shop.anna, limit=1).next_after is None
    assert statements.statement(shop.bela) == statements.Page((), None)


@pytest.mark.parametrize("limit", [0, -1, statements.MAX_PAGE + 1])
def test_statement_limit(live_db: None, limit: int) -> None:
    with pytest.raises(ValueError, match="limit"):
        statements.statement(1, limit=limit)


def test_reading_needs_no_transaction(shop: Shop) -> None:
    assert not connection.in_atomic_block
    assert balances.balance_at(shop.anna, NOON) == Balance(0, 0)
