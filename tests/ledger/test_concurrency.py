"""Many connections on the same few accounts: nothing lost, nothing twice, no deadlock, no time turned back."""

import random
from contextlib import suppress

import pytest
from django.db import transaction

from ledger import checks, errors, holds, periods, posting
from ledger.balances import balances
from ledger.models import Account, Entry, Transaction
from ledger.posting import AccountSpec, Leg, Posted, Posting
from tests.ledger.history import agree, play
from tests.ledger.sessions import PATIENCE, THREADS, in_block, session, together, until_waiting
from tests.ledger.support import APP, OWNER, Shop, bare_post, run, verified


def test_hammering_four_accounts(shop: Shop) -> None:
    """Legs come in random order, floors are met; a deadlock would surface as an exception that is no LedgerError."""
    rounds = 25
    accounts = [shop.till, shop.anna, shop.bela]
    with transaction.atomic():
        accounts.append(posting.open_account(shop.book, "deposit:cili", "liability", "EUR", posting.CREDIT))

    def work(number: int) -> list[Posted]:
        dice = random.Random(number)
        done = []
        for turn in range(rounds):
            order = dice.sample(accounts, 4)
            amounts = [dice.randint(1, 9), dice.randint(-9, -1), dice.randint(1, 9)]
            amounts.append(-sum(amounts) or 1)
            amounts[0] -= sum(amounts)
            if 0 in amounts:
                continue
            try:
                done.append(shop.post(f"{number}:{turn}", *zip(order, amounts, strict=True)))
            except errors.InsufficientFunds:
                continue
        return done

    shop.post("float", (shop.till, 90), *((account, -30) for account in accounts[1:]))
    results = together(work)
    assert [result for result in results if isinstance(result, BaseException)] == []
    posted = [one for result in results if isinstance(result, list) for one in result]
    assert len(posted) > THREADS * rounds / 4
    assert checks.verify(shop.book) == []  # sums, versions without a gap, chains, times
    held = balances(accounts)
    assert {held[account].version for account in accounts} == {len(posted) + 1}
    answers = {
        (account, balance.version): balance.balance for one in posted for account, balance in one.balances.items()
    }
    entries = Entry.objects.filter(account_id__in=accounts, version__gt=1)
    assert answers == {(e.account_id, e.version): e.balance_after for e in entries}


def eight(shop: Shop) -> list[int]:
    """Eight deposits with 50 each, in locking orders of their own."""
    specs = [AccountSpec(f"seat:{n}", "liability", "EUR", posting.CREDIT, 0, 7 - n) for n in range(8)]
    with transaction.atomic():
        ids = posting.ensure_accounts(shop.book, specs)
    seats = [ids[spec.code, spec.commodity] for spec in specs]
    shop.post("float", (shop.till, 400), *((seat, -50) for seat in seats))
    return seats


def payment(key: str, dice: random.Random, seats: list[int]) -> Posting:
    """From one seat to two others, legs in any order."""
    source, *others = dice.sample(seats, 3)
    amounts = [dice.randint(1, 6), dice.randint(1, 6)]
    legs = [Leg(source, sum(amounts)), *(Leg(seat, -amount) for seat, amount in zip(others, amounts, strict=True))]
    return Posting(key, "test", dice.sample(legs, 3))


def eight_days(shop: Shop) -> None:
    """Open each and close the one before."""
    for day in range(1, 9):
        with transaction.atomic():
            periods.open_period(shop.book, f"day {day}")
        with transaction.atomic():
            periods.close_period(shop.book, f"day {day - 1}")


def failures(results: list[object]) -> list[object]:
    """Sessions that ended with an exception."""
    return [result for result in results if isinstance(result, BaseException)]


def test_hammering_with_batches(shop: Shop) -> None:
    """Each batch locks most of the seats, whatever the order of its postings."""
    seats = eight(shop)

    def work(number: int) -> int:
        dice = random.Random(number)
        done = 0
        for turn in range(6):
            batch = [payment(f"{number}:{turn}:{n}", dice, seats) for n in range(6)]
            with suppress(errors.InsufficientFunds), transaction.atomic():
                done += len(posting.post_many(shop.book, batch))
        return done

    results = together(work)
    assert failures(results) == []
    assert Transaction.objects.filter(book=shop.book).count() == 1 + sum(results)  # type: ignore[arg-type]
    verified(shop.book)
    play(shop.book)


def test_hammering_with_everything(shop: Shop) -> None:
    """Posts, batches, reversals of one's own, holds that are posted or voided, while the days open and close."""
    seats = eight(shop)
    with transaction.atomic():
        periods.open_period(shop.book, "day 0")

    def deed(number: int, turn: int, dice: random.Random) -> None:
        key = f"{number}:{turn}"
        one = payment(key, dice, seats)
        if turn % 4 == 0:
            posted = posting.post(shop.book, key, "test", one.legs, {})
            posting.reverse(shop.book, f"{key} back", posted.transaction_id, {})
        elif turn % 4 == 1:
            posting.post_many(shop.book, [one, payment(f"{key} too", dice, seats)])
        elif turn % 4 == 2:
            holds.hold(shop.book, key, [one, payment(f"{key} then", dice, seats)], seconds=600)
        elif dice.random() < 0.7:
            holds.post_hold(shop.book, f"{number}:{turn - 1}")
        else:
            holds.void_hold(shop.book, f"{number}:{turn - 1}")

    def work(number: int) -> None:
        if number == 0:
            return eight_days(shop)
        dice = random.Random(number)
        for turn in range(16):
            # A posting and its reversal in one block lock the same accounts: the second waits for nobody.
            with suppress(errors.InsufficientFunds, errors.UnknownHold), transaction.atomic():
                deed(number, turn, dice)
        return None

    assert failures(together(work)) == []
    verified(shop.book)
    done = play(shop.book)
    days_posted = {one.period_id for one in Transaction.objects.filter(book=shop.book, id__in=done)}
    assert len(days_posted) > 2
    assert len(done) > THREADS * 8


def test_batches_that_share_keys_post_each_once(shop: Shop) -> None:
    """Everybody posts the same ten, in batches that overlap."""

    def work(number: int) -> list[Posted]:
        made = [Posting(f"{n}", "test", [Leg(shop.till, n + 1), Leg(shop.anna, -n - 1)]) for n in range(10)]
        with transaction.atomic():
            return posting.post_many(shop.book, made[number % 4 : 7 + number % 4])

    results = together(work)
    assert failures(results) == []
    answers = [answer for result in results if isinstance(result, list) for answer in result]
    agree(answers, play(shop.book))
    assert Transaction.objects.filter(book=shop.book).count() == 10
    verified(shop.book)


@pytest.mark.parametrize("function", ["ledger_post", "ledger_post_one"])
def test_accounts_are_locked_in_their_order_whatever_the_caller_sorts(shop: Shop, function: str) -> None:
    """Somebody has the first account; who waits for it must not have the second already."""
    first, second = sorted([shop.anna, shop.bela])
    legs = [(second, -1), (first, -1), (shop.till, 2)]
    with session() as other, transaction.atomic():
        posting.post(shop.book, "a", "test", [Leg(first, -1), Leg(shop.till, 1)], {})
        waiting = other.start(lambda: bare_post(APP, shop.book, "b", legs, function=function))
        until_waiting()
        free = run(OWNER, "SELECT id FROM ledger_account WHERE id = %s FOR NO KEY UPDATE SKIP LOCKED", [second])
        assert free == [(second,)]
        transaction.set_rollback(True)
    assert waiting.result(timeout=PATIENCE)
    verified(shop.book)


def test_the_books_balance_while_others_post(shop: Shop) -> None:
    def work(number: int) -> object:
        if number % 4 == 0:
            return [(checks.verify(shop.book), checks.trial_balance(shop.book).balanced) for _ in range(5)]
        return [shop.pay_in(f"{number}:{turn}", shop.anna, 1) for turn in range(20)]

    for result in together(work)[::4]:
        assert result == [([], True)] * 5


def test_concurrent_replays_post_once(shop: Shop) -> None:
    results = together(lambda _: [shop.pay_in(f"k{turn}", shop.anna, 5) for turn in range(8)])
    for turn in range(8):
        answers = [result[turn] for result in results if isinstance(result, list)]
        assert len(answers) == THREADS
        assert sorted(answer.replayed for answer in answers) == [False] + [True] * (THREADS - 1)
        assert len({(answer.transaction_id, answer.posted_at, answer.balances[shop.anna]) for answer in answers}) == 1
    assert Account.objects.get(id=shop.anna).balance == 40
    assert Transaction.objects.filter(book=shop.book).count() == 8


def test_concurrent_bodies_under_one_key_post_one_of_them(shop: Shop) -> None:
    results = together(lambda number: shop.pay_in("k", (shop.anna, shop.bela)[number % 2], 5 + number))
    assert len([result for result in results if isinstance(result, Posted)]) == 1
    assert len([result for result in results if isinstance(result, errors.KeyReused)]) == THREADS - 1
    assert Account.objects.get(id=shop.till).version == 1


def test_concurrent_reversals_make_one(shop: Shop) -> None:
    posted = shop.pay_in("in", shop.anna, 500)

    def work(number: int) -> Posted:
        with transaction.atomic():
            return posting.reverse(shop.book, f"undo {number}", posted.transaction_id, {})

    results = together(work)
    (winner,) = (result for result in results if isinstance(result, Posted))
    refused = [result for result in results if isinstance(result, errors.AlreadyReversed)]
    assert len(refused) == THREADS - 1
    assert {refusal.params["by"] for refusal in refused} == {winner.transaction_id}


def test_the_last_coin_is_spent_once(shop: Shop) -> None:
    shop.pay_in("in", shop.anna, 1)
    results = together(lambda number: shop.post(f"spend {number}", (shop.anna, 1), (shop.bela, -1)))
    assert len([result for result in results if isinstance(result, Posted)]) == 1
    assert len([result for result in results if isinstance(result, errors.InsufficientFunds)]) == THREADS - 1


def test_concurrent_openings_agree(shop: Shop) -> None:
    """Both wait for the seat that a third is opening; had they come to it in their own orders, they would deadlock."""
    specs = [AccountSpec(f"seat:{n}", "liability", "EUR", posting.CREDIT) for n in range(9)]
    with session() as one, session() as other:
        with transaction.atomic():
            posting.ensure_accounts(shop.book, specs[4:5])
            first = one.start(lambda: in_block(lambda: posting.ensure_accounts(shop.book, specs)))
            second = other.start(lambda: in_block(lambda: posting.ensure_accounts(shop.book, specs[::-1])))
            until_waiting(2)
            transaction.set_rollback(True)
        opened = first.result(timeout=PATIENCE)
        assert len(opened) == 9
        assert second.result(timeout=PATIENCE) == opened


def test_closing_against_posting(shop: Shop) -> None:
    """Either the account closes empty and nothing lands on it, or it holds something and stays open."""

    def work(number: int) -> object:
        if number:
            return shop.pay_in(f"in {number}", shop.anna, 1)
        with transaction.atomic():
            return posting.close_account(shop.book, shop.anna)

    results = together(work, 4)
    account = Account.objects.get(id=shop.anna)
    refusals = {type(result) for result in results if isinstance(result, BaseException)}
    if account.closed_at is None:
        assert refusals == {errors.AccountNotEmpty}
        assert account.balance == 3
    else:
        assert refusals == {errors.AccountClosed}
        assert account.balance == 0


def test_one_posting_per_transaction_block_is_not_required(shop: Shop) -> None:
    """Several postings in one block land together, in the order of the calls."""

    def work(number: int) -> list[int]:
        with transaction.atomic():
            return [
                posting.post(shop.book, f"{number}:{n}", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {})
                .balances[shop.anna]
                .version
                for n in range(5)
            ]

    versions = [result for result in together(work) if isinstance(result, list)]
    assert sorted(version for five in versions for version in five) == list(range(1, THREADS * 5 + 1))
    assert all(five == list(range(five[0], five[0] + 5)) for five in versions)
