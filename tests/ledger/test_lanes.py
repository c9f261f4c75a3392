"""Accounts spread over lanes: one account for readers, many for those who post."""

from concurrent.futures import Future

import pytest
from django.db import transaction

from ledger import assertions, balances, checks, errors, posting, snapshots, statements
from ledger.models import Account, Entry
from ledger.posting import AccountSpec, Balance, Leg, Posted, Posting
from tests.ledger.sessions import PATIENCE, THREADS, Session, in_block, session, together, until_waiting
from tests.ledger.support import APP, OWNER, Shop, picture, run, verified

LANES = 4


@pytest.fixture
def spread(shop: Shop) -> int:
    """An account of the shop's book with four lanes."""
    return in_block(
        lambda: posting.open_account(shop.book, "takings", "income", "EUR", posting.CREDIT, None, 9, lanes=LANES)
    )


def lanes(account: int) -> list[int]:
    """Ids of its lanes."""
    return list(Account.objects.filter(parent_id=account).order_by("id").values_list("id", flat=True))


def test_opening_makes_the_lanes(shop: Shop, spread: int) -> None:
    assert lanes(spread) == [spread + n for n in range(1, LANES + 1)]
    fields = ("code", "kind", "commodity", "normal_side", "min_balance", "lock_rank", "lanes", "weight")
    rows = Account.objects.filter(parent_id=spread).order_by("id").values_list(*fields)
    assert list(rows) == [(f"takings#{n}", "income", "EUR", -1, None, 9, 0, 0) for n in range(1, LANES + 1)]
    spec = AccountSpec("takings", "income", "EUR", posting.CREDIT, None, 9, lanes=LANES)
    assert in_block(lambda: posting.ensure_accounts(shop.book, [spec, spec])) == {("takings", "EUR"): spread}
    assert len(lanes(spread)) == LANES


def test_it_holds_the_sum(shop: Shop, spread: int) -> None:
    """Postings by hand onto each lane, and onto the account itself."""
    for n, lane in enumerate(lanes(spread)):
        shop.post(f"lane {n}", (shop.till, 10**n), (lane, -(10**n)))
    posted = shop.post("any", (shop.till, 5), (spread, -5))
    assert balances.balance(spread) == Balance(1116, LANES + 1)
    assert balances.balances([shop.till, spread])[spread] == Balance(1116, LANES + 1)
    assert balances.balances_by_code(shop.book, ["takings"], "EUR") == {"takings": Balance(1116, LANES + 1)}
    assert balances.balance_at(spread, posted.posted_at) == Balance(1116, LANES + 1)
    assert Account.objects.get(id=spread).version == 0
    row = next(row for row in checks.trial_balance(shop.book).rows if row.prefix == "takings")
    assert row.credit == 1116
    verified(shop.book)


def test_what_it_held_at_every_moment(shop: Shop, spread: int) -> None:
    posted = [shop.post(f"{n}", (shop.till, n + 1), (lanes(spread)[n % 3], -n - 1)) for n in range(12)]
    for n, one in enumerate(posted):
        assert balances.balance_at(spread, one.posted_at) == Balance((n + 1) * (n + 2) // 2, n + 1)


def test_the_answer_names_the_lane(shop: Shop, spread: int) -> None:
    posted = shop.post("k", (shop.till, 5), (spread, -5))
    assert posted.balances == {shop.till: Balance(5, 1), spread: Balance(5, 1)}
    (entry,) = Entry.objects.filter(transaction_id=posted.transaction_id, amount=-5)
    assert entry.account_id in lanes(spread)


def test_asked_for_what_only_a_lane_can_tell(shop: Shop, spread: int) -> None:
    shop.post("k", (shop.till, 5), (spread, -5))
    for ask in (
        lambda: statements.statement(spread),
        lambda: list(statements.lines(spread)),
        lambda: balances.balance_at_version(spread, 0),
    ):
        with pytest.raises(errors.AccountHasLanes) as caught:
            ask()
        assert caught.value.params == {"account": spread, "lanes": lanes(spread)}
    with pytest.raises(errors.UnknownAccount):
        in_block(lambda: assertions.assert_balance(shop.book, spread, 5))
    recorded = [line.amount for lane in lanes(spread) for line in statements.statement(lane).lines]
    assert recorded == [-5]


def test_replay_by_key(shop: Shop, spread: int) -> None:
    legs = ((shop.till, 8), (spread, -5), (spread, -3))
    first = shop.post("k", *legs)
    before = picture(shop.book)
    again = shop.post("k", *legs)
    assert again.replayed
    assert (again.transaction_id, again.balances) == (first.transaction_id, first.balances)
    assert picture(shop.book) == before
    for other in (((shop.till, 8), (spread, -8)), ((shop.till, 8), (spread, -3), (spread, -5))):
        with pytest.raises(errors.KeyReused):
            shop.post("k", *other)
    (lane,) = set(Entry.objects.filter(transaction_id=first.transaction_id, amount__lt=0).values_list("account_id"))
    other_lane = next(one for one in lanes(spread) if one != lane[0])
    with pytest.raises(errors.KeyReused):
        shop.post("k", (shop.till, 8), (other_lane, -5), (other_lane, -3))


def test_reversal_goes_back_to_the_lane(shop: Shop, spread: int) -> None:
    posted = shop.post("k", (shop.till, 5), (spread, -5))
    undone = in_block(lambda: posting.reverse(shop.book, "undo", posted.transaction_id, {}))
    assert undone.transaction_id != posted.transaction_id
    assert [balances.balance(lane).balance for lane in lanes(spread)] == [0] * LANES
    assert in_block(lambda: posting.reverse(shop.book, "undo", posted.transaction_id, {})).replayed
    verified(shop.book)


def test_an_account_and_one_of_its_lanes_in_one_posting(shop: Shop, spread: int) -> None:
    """The two would be one row in the end, or not: nobody could record which."""
    for lane in lanes(spread):
        with pytest.raises(errors.InvalidPosting):
            shop.post("k", (spread, 5), (lane, -5))


def test_lanes_in_a_batch_and_in_a_hold(shop: Shop, spread: int) -> None:
    batch = [Posting(f"{n}", "test", [Leg(shop.till, 1), Leg(spread, -1)]) for n in range(20)]
    in_block(lambda: posting.post_many(shop.book, batch))
    assert balances.balance(spread) == Balance(20, 20)
    verified(shop.book)


def test_closing(shop: Shop, spread: int) -> None:
    shop.post("in", (shop.till, 5), (lanes(spread)[1], -5))
    with pytest.raises(errors.AccountNotEmpty):
        in_block(lambda: posting.close_account(shop.book, spread))
    with pytest.raises(errors.InvalidPosting):
        in_block(lambda: posting.close_account(shop.book, lanes(spread)[0]))
    shop.post("out", (shop.till, -5), (lanes(spread)[1], 5))
    closed_at = in_block(lambda: posting.close_account(shop.book, spread))
    assert in_block(lambda: posting.close_account(shop.book, spread)) == closed_at
    assert {account.closed_at for account in Account.objects.filter(parent_id=spread)} == {closed_at}
    for account in (spread, lanes(spread)[0]):
        with pytest.raises(errors.AccountClosed):
            shop.post("late", (shop.till, 5), (account, -5))
    verified(shop.book)


def test_snapshots_have_the_lanes_that_moved(shop: Shop, spread: int) -> None:
    moved = lanes(spread)[2]
    shop.post("in", (shop.till, 5), (moved, -5))
    in_block(lambda: snapshots.take(shop.book, "s"))
    assert snapshots.balances(shop.book, "s") == {shop.till: Balance(5, 1), moved: Balance(5, 1)}


# --- Nobody waits ---------------------------------------------------------------------------------------------------


def test_sessions_do_not_wait_for_one_another(shop: Shop) -> None:
    """Each posts and keeps its transaction open while the next one posts; a session that waited would never end."""
    ours, theirs = in_block(
        lambda: [
            posting.open_account(shop.book, f"hot {n}", "any", "EUR", posting.DEBIT, None, lanes=THREADS)
            for n in range(2)
        ]
    )
    others = [Session() for _ in range(THREADS)]
    try:
        for number, one in enumerate(others):
            one.begin()
            one.do(lambda number=number: post_within(shop, f"{number}", (ours, 1), (theirs, -1)))
        with session() as late:
            late.begin()
            waiting: Future[Posted] = late.start(lambda: post_within(shop, "one too many", (ours, 1), (theirs, -1)))
            others[0].commit()
            others[0].do(lambda: None)
            for one in others[1:]:
                one.commit()
            assert not waiting.result(timeout=PATIENCE).replayed
            late.commit()
    finally:
        for one in others:
            one.close()
    assert balances.balance(ours) == Balance(THREADS + 1, THREADS + 1)
    busy = run(APP, "SELECT count(*) FROM ledger_account WHERE parent_id = %s AND version > 0", [ours])
    assert busy == [(THREADS,)]
    verified(shop.book)


@pytest.mark.parametrize("turned", [False, True])
def test_who_waits_for_a_lane_holds_none_of_a_later_account(shop: Shop, turned: bool) -> None:
    """Two sessions that each had a lane of one account, and waited for one of the other, would deadlock."""
    first, second = in_block(
        lambda: [
            posting.open_account(shop.book, f"hot {n}", "any", "EUR", posting.DEBIT, None, lanes=LANES)
            for n in range(2)
        ]
    )
    legs = [(first, 1), (second, -1)]
    with session() as holder, session() as waiter:
        holder.begin()
        holder.do(lambda: post_within(shop, "all", (shop.till, -LANES), *[(lane, 1) for lane in lanes(first)]))
        waiting = waiter.start(lambda: shop.post("late", *(legs[::-1] if turned else legs)))
        until_waiting()
        free = "SELECT id FROM ledger_account WHERE parent_id = %s ORDER BY id FOR NO KEY UPDATE SKIP LOCKED"
        assert run(OWNER, free, [second]) == [(lane,) for lane in lanes(second)]
        holder.commit()
        assert not waiting.result(timeout=PATIENCE).replayed
    verified(shop.book)


def post_within(shop: Shop, key: str, *legs: tuple[int, int]) -> Posted:
    """Post in the transaction that is open."""
    return posting.post(shop.book, key, "test", [Leg(*leg) for leg in legs], {})


def test_many_sessions_on_few_lanes(shop: Shop, spread: int) -> None:
    def work(number: int) -> list[Posted]:
        return [shop.post(f"{number}:{turn}", (shop.till, 1), (spread, -1)) for turn in range(10)]

    results = together(work)
    assert [result for result in results if isinstance(result, BaseException)] == []
    assert balances.balance(spread) == Balance(THREADS * 10, THREADS * 10)
    assert len(run(OWNER, "SELECT 1 FROM ledger_account WHERE parent_id = %s AND version > 0", [spread])) > 1
    verified(shop.book)


def test_one_key_from_many_sessions_posts_once(shop: Shop, spread: int) -> None:
    """No common row to wait at but the key."""
    with transaction.atomic():
        other = posting.open_account(shop.book, "other", "any", "EUR", posting.DEBIT, None, lanes=LANES)
    results = together(lambda _: shop.post("k", (other, 1), (spread, -1)))
    assert sorted(result.replayed for result in results if isinstance(result, Posted)) == [False] + [True] * (
        THREADS - 1
    )
    assert balances.balance(spread) == Balance(1, 1)
