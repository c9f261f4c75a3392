"""Holds: what is set aside, that a chain is posted as a whole or not at all, and that time ends it by itself."""

from collections.abc import Sequence

import pytest
from django.db import transaction

from ledger import errors, holds, posting
from ledger.balances import balance, balances
from ledger.holds import MAX_SECONDS, Held
from ledger.models import Account, Hold, Reserve, Transaction
from ledger.posting import Balance, Leg, Posted, Posting
from tests.ledger.sessions import PATIENCE, THREADS, in_block, session, together, until_past, until_waiting
from tests.ledger.support import Shop, open_shop, picture, refusal, verified

HOUR = 3600


def move(key: str, source: int, target: int, amount: int) -> Posting:
    """From one customer's deposit to another's."""
    return Posting(key, "test", [Leg(source, amount), Leg(target, -amount)])


def hold(shop: Shop, key: str, *chain: Posting, seconds: int = HOUR) -> Held:
    """Hold in a transaction of its own."""
    return in_block(lambda: holds.hold(shop.book, key, chain, seconds=seconds))


def post_hold(shop: Shop, key: str) -> list[Posted]:
    """Post in a transaction of its own."""
    return in_block(lambda: holds.post_hold(shop.book, key))


def void_hold(shop: Shop, key: str) -> str:
    """Void in a transaction of its own."""
    return in_block(lambda: holds.void_hold(shop.book, key))


def held(account: int) -> tuple[int, int]:
    """Balance, and how much of it is set aside."""
    row = Account.objects.get(id=account)
    return row.balance, row.held


def state(shop: Shop, key: str) -> str:
    """What became of a hold."""
    return str(Hold.objects.get(book=shop.book, key=key).state)


@pytest.fixture
def rich(shop: Shop) -> Shop:
    """Anna has 100, Bela nothing."""
    shop.pay_in("in", shop.anna, 100)
    return shop


# --- What is available ----------------------------------------------------------------------------------------------


def test_what_is_held_cannot_be_spent(rich: Shop) -> None:
    answer = hold(rich, "h", move("k", rich.anna, rich.bela, 30))
    assert (answer.state, answer.replayed) == ("pending", False)
    assert (answer.expires_at - answer.created_at).total_seconds() == HOUR
    assert held(rich.anna) == (100, 30)
    assert balance(rich.anna) == Balance(100, 1)
    error = refusal(errors.InsufficientFunds, rich, (rich.anna, 71), (rich.bela, -71))
    assert {name: error.params[name] for name in ("balance", "held", "needed", "min_balance")} == {
        "balance": 100, "held": 30, "needed": 71, "min_balance": 0,
    }  # fmt: skip
    rich.post("the rest", (rich.anna, 70), (rich.bela, -70))
    refusal(errors.InsufficientFunds, rich, (rich.anna, 1), (rich.bela, -1))
    verified(rich.book)


def test_posting_moves_what_was_set_aside(rich: Shop) -> None:
    hold(rich, "h", move("k", rich.anna, rich.bela, 30))
    rich.post("the rest", (rich.anna, 70), (rich.bela, -70))
    (posted,) = post_hold(rich, "h")
    assert posted.balances == {rich.anna: Balance(0, 3), rich.bela: Balance(100, 2)}
    assert (held(rich.anna), state(rich, "h")) == ((0, 0), "posted")
    row = Transaction.objects.get(id=posted.transaction_id)
    assert (row.idempotency_key, row.kind) == ("k", "test")
    verified(rich.book)


def test_voiding_lets_go(rich: Shop) -> None:
    hold(rich, "h", move("k", rich.anna, rich.bela, 30))
    assert void_hold(rich, "h") == "voided"
    assert (held(rich.anna), state(rich, "h")) == ((100, 0), "voided")
    rich.post("all", (rich.anna, 100), (rich.bela, -100))
    assert not Transaction.objects.filter(book=rich.book, idempotency_key="k").exists()
    verified(rich.book)


def test_several_holds_add_up(rich: Shop) -> None:
    for n in range(3):
        hold(rich, f"h{n}", move(f"k{n}", rich.anna, rich.bela, 30))
    with pytest.raises(errors.InsufficientFunds) as caught:
        hold(rich, "h3", move("k3", rich.anna, rich.bela, 11))
    assert (caught.value.params["held"], caught.value.params["needed"]) == (90, 11)
    assert void_hold(rich, "h1") == "voided"
    assert held(rich.anna) == (100, 60)
    assert [one.key for one in holds.pending(rich.book)] == ["h0", "h2"]
    verified(rich.book)


def test_incoming_money_and_accounts_without_a_floor_are_not_held(rich: Shop) -> None:
    legs = [Leg(rich.till, 500), Leg(rich.bela, 500), Leg(rich.bela, -1000)]
    hold(rich, "h", Posting("k", "test", legs))
    assert Reserve.objects.filter(hold__book=rich.book).count() == 0
    post_hold(rich, "h")
    assert held(rich.bela) == (500, 0)
    verified(rich.book)


def test_a_credit_line_can_be_held(shop: Shop) -> None:
    line = in_block(lambda: posting.open_account(shop.book, "line", "liability", "EUR", posting.CREDIT, -50))
    hold(shop, "h", move("k", line, shop.bela, 50))
    refusal(errors.InsufficientFunds, shop, (line, 1), (shop.bela, -1))
    with pytest.raises(errors.AccountNotEmpty) as caught:
        in_block(lambda: posting.close_account(shop.book, line))
    assert (caught.value.params["balance"], caught.value.params["held"]) == (0, 50)
    post_hold(shop, "h")
    assert held(line) == (-50, 0)
    verified(shop.book)


# --- Chains ---------------------------------------------------------------------------------------------------------


def test_money_passed_on_within_the_chain_is_not_set_aside(rich: Shop) -> None:
    """Anna pays Bela 60, and Bela passes 50 on to the stall, without any other money."""
    stall = in_block(lambda: posting.open_account(rich.book, "stall", "liability", "EUR", posting.CREDIT))
    chain = [move("1", rich.anna, rich.bela, 60), move("2", rich.bela, stall, 50), move("3", stall, rich.anna, 20)]
    hold(rich, "h", *chain)
    assert [held(account) for account in (rich.anna, rich.bela, stall)] == [(100, 60), (0, 0), (0, 0)]
    answers = post_hold(rich, "h")
    assert [sorted(answer.balances) for answer in answers] == [
        sorted(pair) for pair in ((rich.anna, rich.bela), (rich.bela, stall), (stall, rich.anna))
    ]
    assert [held(account) for account in (rich.anna, rich.bela, stall)] == [(60, 0), (10, 0), (30, 0)]
    verified(rich.book)


def test_the_worst_moment_of_the_chain_is_set_aside(rich: Shop) -> None:
    """Out 40, in 30, out 50: after the third it is 60 down, which is more than after the first."""
    hold(rich, "h", move("1", rich.anna, rich.bela, 40), move("2", rich.bela, rich.anna, 30),
         move("3", rich.anna, rich.bela, 50))  # fmt: skip
    assert (held(rich.anna), held(rich.bela)) == ((100, 60), (0, 0))
    void_hold(rich, "h")
    hold(rich, "g", move("4", rich.anna, rich.bela, 40), move("5", rich.bela, rich.anna, 40))
    assert held(rich.anna) == (100, 40)


def test_a_chain_that_cannot_be_posted_in_its_order(rich: Shop) -> None:
    before = picture(rich.book)
    with pytest.raises(errors.InsufficientFunds):
        hold(rich, "h", move("2", rich.bela, rich.anna, 50), move("1", rich.anna, rich.bela, 60))
    assert picture(rich.book) == before
    hold(rich, "h", move("1", rich.anna, rich.bela, 60), move("2", rich.bela, rich.anna, 50))


def test_each_posting_is_judged_when_it_is_held(rich: Shop) -> None:
    posted = rich.pay_in("posted", rich.bela, 1)
    closed = in_block(lambda: posting.open_account(rich.book, "closed", "any", "EUR", posting.CREDIT))
    heavy = in_block(lambda: posting.open_account(rich.book, "heavy", "any", "EUR", posting.CREDIT, weight=2))
    in_block(lambda: posting.close_account(rich.book, closed))
    good = move("good", rich.anna, rich.bela, 1)
    anna, bela = rich.anna, rich.bela
    before = picture(rich.book)
    for kind, wrong in (
        (errors.Unbalanced, Posting("w", "t", [Leg(anna, 2), Leg(bela, -1)])),
        (errors.TooFewLegs, Posting("w", "t", [Leg(anna, 2), Leg(anna, -2)])),
        (errors.TooFewLegs, Posting("w", "t", [])),
        (errors.ZeroAmount, Posting("w", "t", [Leg(anna, 0), Leg(bela, 0)])),
        (errors.UnknownAccount, move("w", anna, open_shop().bela, 1)),
        (errors.AccountClosed, move("w", anna, closed, 1)),
        (errors.Unbacked, move("w", anna, heavy, 1)),
        (errors.InsufficientFunds, move("w", anna, bela, 100)),
        (errors.KeyReused, move("posted", anna, bela, 1)),
        (errors.KeyReused, move("good", bela, anna, 1)),
        (errors.InvalidPosting, Posting("", "t", [Leg(anna, 1), Leg(bela, -1)])),
        (errors.InvalidPosting, Posting("w", "t", [Leg(anna, 1.5), Leg(bela, -1)])),  # type: ignore[arg-type]
        (errors.InvalidPosting, Posting("w", "t", [Leg(anna, 1), Leg(bela, -1)], {"x": object()})),
    ):
        with pytest.raises(kind) as caught:
            hold(rich, "h", good, wrong)
        assert type(caught.value) is kind
    assert picture(rich.book) == before
    assert balance(bela) == posted.balances[bela]


@pytest.mark.parametrize("seconds", [0, -1, MAX_SECONDS + 1])
def test_time_limits_that_cannot_be(rich: Shop, seconds: int) -> None:
    with pytest.raises(errors.InvalidPosting):
        hold(rich, "h", move("k", rich.anna, rich.bela, 1), seconds=seconds)
    with pytest.raises(errors.InvalidPosting):
        hold(rich, "h")


def test_a_hold_on_an_account_with_lanes(rich: Shop) -> None:
    spread = in_block(lambda: posting.open_account(rich.book, "s", "any", "EUR", posting.CREDIT, None, lanes=3))
    hold(rich, "h", move("1", rich.anna, spread, 30), move("2", spread, rich.bela, 40))
    assert held(rich.anna) == (100, 30)
    post_hold(rich, "h")
    assert [answer.replayed for answer in post_hold(rich, "h")] == [True, True]
    found = balances([rich.anna, rich.bela, spread])
    assert [found[account].balance for account in (rich.anna, rich.bela, spread)] == [70, 40, -10]
    verified(rich.book)


# --- Time -----------------------------------------------------------------------------------------------------------


def test_time_frees_by_itself(rich: Shop) -> None:
    """Nobody expires anything: a posting that needs the money finds it free, and so does a hold."""
    first = hold(rich, "h", move("k", rich.anna, rich.bela, 60), seconds=1)
    last = hold(rich, "g", move("l", rich.anna, rich.bela, 40), seconds=1)
    line = in_block(lambda: posting.open_account(rich.book, "line", "liability", "EUR", posting.CREDIT, -9))
    hold(rich, "f", move("m", line, rich.bela, 9), seconds=1)
    refusal(errors.InsufficientFunds, rich, (rich.anna, 1), (rich.bela, -1))
    until_past(Hold.objects.get(book=rich.book, key="f").expires_at)
    assert last.expires_at > first.created_at
    assert holds.pending(rich.book) == []
    for key in "hg":
        with pytest.raises(errors.HoldEnded) as caught:
            post_hold(rich, key)
        assert (caught.value.code, caught.value.params["state"]) == ("hold_ended", "expired")
    rich.post("spend", (rich.anna, 1), (rich.bela, -1))
    assert (held(rich.anna), state(rich, "h")) == ((99, 0), "pending")
    hold(rich, "new", move("n", rich.anna, rich.bela, 99))
    verified(rich.book)
    assert hold(rich, "h", move("k", rich.anna, rich.bela, 60), seconds=1).state == "expired"
    in_block(lambda: posting.close_account(rich.book, line))
    assert in_block(lambda: holds.expire_holds(rich.book)) == ["h", "g", "f"]
    assert in_block(lambda: holds.expire_holds(rich.book)) == []
    assert {state(rich, key) for key in "hgf"} == {"expired"}
    assert held(rich.anna) == (99, 99)
    assert void_hold(rich, "h") == "expired"
    verified(rich.book)


def test_a_new_hold_frees_what_ran_out_and_voiding_says_expired(rich: Shop) -> None:
    ran_out = hold(rich, "h", move("k", rich.anna, rich.bela, 100), seconds=1)
    other = open_shop()
    other.pay_in("in", other.anna, 5)
    hold(other, "theirs", move("k", other.anna, other.bela, 5), seconds=1)
    until_past(Hold.objects.get(book=other.book).expires_at)
    hold(rich, "g", move("l", rich.anna, rich.bela, 100))
    assert held(rich.anna) == (100, 100)
    assert void_hold(rich, "h") == "expired"
    assert void_hold(rich, "h") == "expired"
    assert held(rich.anna) == (100, 100)
    assert in_block(lambda: holds.expire_holds(rich.book)) == []
    assert Hold.objects.get(id=ran_out.hold_id).ended_at is not None
    assert len(in_block(lambda: holds.expire_holds(other.book))) == 1
    for book in (rich.book, other.book):
        verified(book)


# --- Replays, ended and unknown holds ---------------------------------------------------------------------------------


def test_replays(rich: Shop) -> None:
    noted = Posting("1", "test", [Leg(rich.anna, 60), Leg(rich.bela, -60)], {"é": [1]})
    chain = [noted, move("2", rich.bela, rich.anna, 5)]
    first = hold(rich, "h", *chain)
    before = picture(rich.book)
    again = hold(rich, "h", *chain)
    assert (again.hold_id, again.created_at, again.state, again.replayed) == (
        first.hold_id, first.created_at, "pending", True,
    )  # fmt: skip
    for others, seconds in ((chain[:1], HOUR), (chain[::-1], HOUR), (chain, HOUR + 1), ([chain[0], chain[0]], HOUR)):
        with pytest.raises(errors.KeyReused):
            hold(rich, "h", *others, seconds=seconds)
    assert picture(rich.book) == before
    answers = post_hold(rich, "h")
    before = picture(rich.book)
    replayed = post_hold(rich, "h")
    assert [answer.replayed for answer in replayed] == [True, True]
    assert [(answer.transaction_id, answer.posted_at, answer.balances) for answer in replayed] == [
        (answer.transaction_id, answer.posted_at, answer.balances) for answer in answers
    ]
    assert hold(rich, "h", *chain).state == "posted"
    assert picture(rich.book) == before
    with transaction.atomic():
        assert posting.post_many(rich.book, chain)[1].transaction_id == answers[1].transaction_id


def test_ended_holds_are_refused(rich: Shop) -> None:
    hold(rich, "posted", move("1", rich.anna, rich.bela, 1))
    hold(rich, "voided", move("2", rich.anna, rich.bela, 1))
    post_hold(rich, "posted")
    assert (void_hold(rich, "voided"), void_hold(rich, "voided")) == ("voided", "voided")
    before = picture(rich.book)
    with pytest.raises(errors.HoldEnded) as caught:
        void_hold(rich, "posted")
    assert (caught.value.params["key"], caught.value.params["state"]) == ("posted", "posted")
    with pytest.raises(errors.HoldEnded) as caught:
        post_hold(rich, "voided")
    assert caught.value.params["state"] == "voided"
    assert hold(rich, "voided", move("2", rich.anna, rich.bela, 1)).state == "voided"
    assert picture(rich.book) == before


def test_unknown_holds(rich: Shop) -> None:
    hold(rich, "h", move("k", rich.anna, rich.bela, 1))
    other = open_shop()
    for shop, key in ((rich, "g"), (other, "h")):
        for attempt in (post_hold, void_hold):
            with pytest.raises(errors.UnknownHold) as caught:
                attempt(shop, key)
            assert (caught.value.code, caught.value.params) == ("unknown_hold", {"key": key})


def test_nothing_is_written_outside_atomic(rich: Shop) -> None:
    chain = [move("k", rich.anna, rich.bela, 1)]
    for attempt in (
        lambda: holds.hold(rich.book, "h", chain, seconds=1),
        lambda: holds.post_hold(rich.book, "h"),
        lambda: holds.void_hold(rich.book, "h"),
        lambda: holds.expire_holds(rich.book),
    ):
        with pytest.raises(errors.NotAtomic):
            attempt()


def test_what_happened_meanwhile_is_judged_when_the_hold_is_posted(rich: Shop) -> None:
    """A refused one stays pending: it may be voided, or posted when the reason is gone."""
    hold(rich, "closed", move("1", rich.anna, rich.bela, 10))
    rich.pay_in("2", rich.anna, 5)
    in_block(lambda: posting.close_account(rich.book, rich.bela))
    before = picture(rich.book)
    with pytest.raises(errors.AccountClosed):
        post_hold(rich, "closed")
    assert picture(rich.book) == before
    assert held(rich.anna) == (105, 10)
    assert void_hold(rich, "closed") == "voided"
    verified(rich.book)


# --- At once --------------------------------------------------------------------------------------------------------


def results_of(results: Sequence[object], kind: type) -> list[object]:
    """Those of one kind."""
    return [result for result in results if isinstance(result, kind)]


def test_two_post_one_hold_at_once(rich: Shop) -> None:
    hold(rich, "h", move("1", rich.anna, rich.bela, 60), move("2", rich.bela, rich.anna, 10))
    results = results_of(together(lambda _: post_hold(rich, "h")), list)
    assert len(results) == THREADS
    replayed = sorted(answer.replayed for result in results for answer in result)  # type: ignore[attr-defined]
    assert replayed == [False] * 2 + [True] * 2 * (THREADS - 1)
    assert (held(rich.anna), held(rich.bela)) == ((50, 0), (50, 0))
    verified(rich.book)


def test_one_is_posted_and_voided_at_once(rich: Shop) -> None:
    """Whichever comes first, all agree."""
    for turn in range(4):
        key = f"h{turn}"
        hold(rich, key, move(f"k{turn}", rich.anna, rich.bela, 10))
        results = together(lambda n, key=key: (post_hold if n % 2 else void_hold)(rich, key), 6)
        refused = results_of(results, errors.HoldEnded)
        assert len(refused) == 3
        assert {error.params["state"] for error in refused} == {state(rich, key)}  # type: ignore[attr-defined]
        assert held(rich.anna)[1] == 0
    posted = Hold.objects.filter(book=rich.book, state="posted").count()
    assert balance(rich.anna) == Balance(100 - 10 * posted, 1 + posted)
    verified(rich.book)


def test_the_last_coin_is_held_once(rich: Shop) -> None:
    results = together(lambda n: hold(rich, f"h{n}", move(f"k{n}", rich.anna, rich.bela, 100)))
    assert len(results_of(results, Held)) == 1
    assert len(results_of(results, errors.InsufficientFunds)) == THREADS - 1


def test_one_key_held_at_once(rich: Shop) -> None:
    results = together(lambda _: hold(rich, "h", move("k", rich.anna, rich.bela, 60)))
    assert sorted(result.replayed for result in results_of(results, Held)) == [False] + [True] * (THREADS - 1)  # type: ignore[attr-defined]
    assert held(rich.anna) == (100, 60)


def test_posting_waits_for_the_hold_under_way(rich: Shop) -> None:
    with session() as other:
        with transaction.atomic():
            holds.hold(rich.book, "h", [move("k", rich.anna, rich.bela, 60)], seconds=HOUR)
            spending = other.start(lambda: rich.post("s", (rich.anna, 41), (rich.bela, -41)))
            until_waiting()
        with pytest.raises(errors.InsufficientFunds):
            spending.result(timeout=PATIENCE)


def test_holds_run_out_while_others_post(rich: Shop) -> None:
    """Some tidy up, some post and so release by themselves; nothing is released twice, nothing kept."""
    for n in range(20):
        hold(rich, f"h{n}", move(f"k{n}", rich.anna, rich.bela, n % 5 + 1), seconds=1)
    until_past(Hold.objects.filter(book=rich.book).latest("expires_at").expires_at)

    def work(number: int) -> object:
        if number % 2:
            return [rich.post(f"{number}:{turn}", (rich.anna, 1), (rich.bela, -1)).replayed for turn in range(5)]
        return len(in_block(lambda: holds.expire_holds(rich.book)))

    results = together(work)
    assert results_of(results, BaseException) == []
    assert sum(result for result in results if isinstance(result, int)) == 20
    assert Hold.objects.filter(book=rich.book, state="expired").count() == 20
    assert held(rich.anna) == (100 - 5 * THREADS // 2, 0)
    assert not Reserve.objects.filter(hold__book=rich.book, released_at=None).exists()
    verified(rich.book)
