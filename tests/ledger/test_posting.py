"""The way in: what a posting answers, what it refuses and why, replays, reversals, opening and closing accounts."""

import random
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import connection, transaction

from ledger import errors, posting
from ledger.models import Account, Entry, Transaction
from ledger.posting import MAX_AMOUNT, AccountSpec, Balance, Leg
from tests.ledger.support import OWNER, Shop, open_shop, picture, refusal, run


def test_worked_example(shop: Shop) -> None:
    """Anna pays in 100.00, buys three apples for 4.50 each; one transaction, two commodities."""
    shop.pay_in("in", shop.anna, 10_000)
    posted = shop.post(
        "buy", (shop.anna, 1350), (shop.bela, -1350), (shop.sold, 3), (shop.stock, -3), note="three apples"
    )
    assert not posted.replayed
    assert posted.balances == {
        shop.anna: Balance(8650, 2),
        shop.bela: Balance(1350, 1),
        shop.sold: Balance(3, 1),
        shop.stock: Balance(-3, 1),
    }
    row = Transaction.objects.get(id=posted.transaction_id)
    assert (row.idempotency_key, row.kind, row.metadata) == ("buy", "test", {"note": "three apples"})
    assert row.posted_at == posted.posted_at
    fields = ("account_id", "version", "amount", "balance_after")
    assert set(row.entries.values_list(*fields)) == {
        (shop.anna, 2, 1350, 8650),
        (shop.bela, 1, -1350, 1350),
        (shop.stock, 1, -3, -3),
        (shop.sold, 1, 3, 3),
    }


def test_legs_on_one_account_stay_separate_entries_and_the_floor_counts_last(shop: Shop) -> None:
    posted = shop.post("pairs", (shop.anna, 30), (shop.bela, -30), (shop.anna, -50), (shop.till, 50))
    assert posted.balances == {
        shop.anna: Balance(20, 2),
        shop.bela: Balance(30, 1),
        shop.till: Balance(50, 1),
    }
    lines = Entry.objects.filter(account_id=shop.anna).order_by("version").values_list("amount", "balance_after")
    assert list(lines) == [(30, -30), (-50, 20)]


def test_posted_at_is_stamped_by_the_database_and_occurred_at_is_kept(shop: Shop) -> None:
    said = datetime(2020, 1, 2, 3, 4, 5, 678, tzinfo=timezone(timedelta(hours=2)))
    before = datetime.now(UTC)
    with transaction.atomic():
        legs = [Leg(shop.till, 1), Leg(shop.anna, -1)]
        posted = posting.post(shop.book, "k", "test", legs, {}, said)
    assert before - timedelta(seconds=1) < posted.posted_at < datetime.now(UTC) + timedelta(seconds=1)
    assert Transaction.objects.get(id=posted.transaction_id).occurred_at == said


def test_a_posting_is_undone_with_its_transaction(shop: Shop) -> None:
    before = picture(shop.book)
    with pytest.raises(RuntimeError), transaction.atomic():
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {})
        raise RuntimeError
    assert picture(shop.book) == before


def test_a_posting_that_stands_alone_is_a_transaction_of_its_own(shop: Shop) -> None:
    legs = [Leg(shop.till, 5), Leg(shop.anna, -5)]
    posted = posting.post(shop.book, "k", "test", legs, {}, alone=True)
    assert Account.objects.using(OWNER).get(id=shop.anna).balance == 5
    assert posting.post(shop.book, "k", "test", legs, {}, alone=True) == replace(posted, replayed=True)
    with pytest.raises(errors.NotAtomic), transaction.atomic():
        posting.post(shop.book, "k2", "test", legs, {}, alone=True)


@pytest.mark.parametrize(
    ("legs", "refused"), [([(0, 5), (1, -4)], errors.Unbalanced), ([(0, -5), (1, 5)], errors.InsufficientFunds)]
)
def test_a_posting_that_stands_alone_is_refused_alike(
    shop: Shop, legs: list[tuple[int, int]], refused: type[errors.LedgerError]
) -> None:
    before = picture(shop.book)
    accounts = (shop.till, shop.anna)
    with pytest.raises(refused):
        posting.post(shop.book, "k", "test", [Leg(accounts[n], amount) for n, amount in legs], {}, alone=True)
    assert picture(shop.book) == before


def test_one_round_trip(shop: Shop, django_assert_num_queries: object) -> None:
    with transaction.atomic(), django_assert_num_queries(1):  # type: ignore[operator]
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {})
    with django_assert_num_queries(1):  # type: ignore[operator]
        posting.post(shop.book, "k2", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {}, alone=True)


# --- Refusals -------------------------------------------------------------------------------------------------------


def test_unbalanced(shop: Shop) -> None:
    error = refusal(errors.Unbalanced, shop, (shop.till, 5), (shop.anna, -4))
    assert (error.code, error.params) == ("unbalanced", {"commodity": "EUR", "sum": 1})


def test_unbalanced_in_one_of_two_commodities(shop: Shop) -> None:
    error = refusal(errors.Unbalanced, shop, (shop.till, 5), (shop.anna, -5), (shop.sold, 2), (shop.stock, -1))
    assert error.params == {"commodity": "APPLE", "sum": 1}


def test_too_few_legs(shop: Shop) -> None:
    for legs in ([], [(shop.till, 5)], [(shop.till, 5), (shop.till, -5)]):
        assert refusal(errors.TooFewLegs, shop, *legs).code == "too_few_legs"


def test_zero_amount(shop: Shop) -> None:
    error = refusal(errors.ZeroAmount, shop, (shop.till, 5), (shop.anna, -5), (shop.bela, 0))
    assert error.code == "zero_amount"


def test_insufficient_funds(shop: Shop) -> None:
    shop.pay_in("in", shop.anna, 100)
    error = refusal(errors.InsufficientFunds, shop, (shop.anna, 101), (shop.bela, -101))
    assert error.code == "insufficient_funds"
    assert error.params == {
        "account": shop.anna, "account_code": "deposit:anna", "commodity": "EUR", "balance": 100, "held": 0,
        "needed": 101, "min_balance": 0, "key": "refused",
    }  # fmt: skip
    shop.post("all of it", (shop.anna, 100), (shop.bela, -100))


def test_a_negative_floor_is_a_credit_line(shop: Shop) -> None:
    with transaction.atomic():
        line = posting.open_account(shop.book, "line", "liability", "EUR", posting.CREDIT, -50)
    shop.post("use it", (line, 50), (shop.bela, -50))
    error = refusal(errors.InsufficientFunds, shop, (line, 1), (shop.bela, -1))
    assert (error.params["balance"], error.params["needed"], error.params["min_balance"]) == (-50, -49, -50)


def test_unknown_account(shop: Shop) -> None:
    stranger = open_shop().anna
    for account in (2**62, stranger):
        error = refusal(errors.UnknownAccount, shop, (shop.till, 5), (account, -5))
        assert (error.code, error.params) == ("unknown_account", {"account": account, "key": "refused"})


def test_account_closed(shop: Shop) -> None:
    with transaction.atomic():
        posting.close_account(shop.book, shop.anna)
    error = refusal(errors.AccountClosed, shop, (shop.till, 5), (shop.anna, -5))
    assert (error.code, error.params["account_code"]) == ("account_closed", "deposit:anna")


def test_amount_out_of_range(shop: Shop) -> None:
    too_much = MAX_AMOUNT + 1
    error = refusal(errors.AmountOutOfRange, shop, (shop.till, too_much), (shop.anna, -too_much))
    assert error.code == "amount_out_of_range"
    shop.pay_in("most", shop.anna, MAX_AMOUNT)
    refusal(errors.AmountOutOfRange, shop, (shop.till, 1), (shop.bela, -1))


@pytest.mark.parametrize("amount", [1.0, "1", True, None])
def test_amounts_are_integers(shop: Shop, amount: object) -> None:
    refusal(errors.InvalidPosting, shop, (shop.till, amount), (shop.anna, -1))  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["", "x" * 256, "a\0b", "\ud800"])
def test_keys_and_kinds_that_cannot_be_kept(shop: Shop, key: str) -> None:
    refusal(errors.InvalidPosting, shop, (shop.till, 1), (shop.anna, -1), key=key)
    with pytest.raises(errors.InvalidPosting), transaction.atomic():
        posting.post(shop.book, "k", key, [Leg(shop.till, 1), Leg(shop.anna, -1)], {})


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, "a\0b", "\ud800"])
def test_metadata_that_cannot_be_kept(shop: Shop, value: object) -> None:
    with pytest.raises(errors.InvalidPosting), transaction.atomic():
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {"note": value})
    assert not Transaction.objects.filter(book=shop.book).exists()


def test_occurred_at_without_a_time_zone(shop: Shop) -> None:
    naive = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    with pytest.raises(errors.InvalidPosting), transaction.atomic():
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {}, naive)


def test_book_that_is_no_uuid(shop: Shop) -> None:
    with pytest.raises(errors.InvalidPosting), transaction.atomic():
        posting.post("house", "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {})


def test_nothing_is_written_outside_atomic(shop: Shop) -> None:
    with pytest.raises(errors.NotAtomic) as caught:
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {})
    assert caught.value.code == "not_atomic"
    assert not Transaction.objects.filter(book=shop.book).exists()


def test_after_a_refusal_a_savepoint_lets_the_caller_go_on(shop: Shop) -> None:
    with transaction.atomic():
        with pytest.raises(errors.InsufficientFunds), transaction.atomic():
            posting.post(shop.book, "k", "test", [Leg(shop.anna, 1), Leg(shop.bela, -1)], {})
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.bela, -1)], {})
    assert Account.objects.get(id=shop.bela).balance == 1


def test_a_refusal_that_is_swallowed_still_loses_the_transaction(shop: Shop) -> None:
    with transaction.atomic():
        posting.post(shop.book, "kept?", "test", [Leg(shop.till, 1), Leg(shop.bela, -1)], {})
        with pytest.raises(errors.InsufficientFunds):
            posting.post(shop.book, "k", "test", [Leg(shop.anna, 1), Leg(shop.bela, -1)], {})
        with pytest.raises(transaction.TransactionManagementError):
            Account.objects.get(id=shop.bela)
    assert Account.objects.get(id=shop.bela).balance == 0


# --- Replays --------------------------------------------------------------------------------------------------------


def test_replay_returns_the_stored_result(shop: Shop) -> None:
    first = shop.post("k", (shop.anna, 30), (shop.bela, -30), (shop.anna, -50), (shop.till, 50), note="é")
    shop.pay_in("later", shop.anna, 7)
    before = picture(shop.book)
    again = shop.post("k", (shop.anna, 30), (shop.bela, -30), (shop.anna, -50), (shop.till, 50), note="é")
    assert again.replayed
    assert (again.transaction_id, again.posted_at, again.balances) == (
        first.transaction_id, first.posted_at, first.balances,
    )  # fmt: skip
    assert picture(shop.book) == before


@pytest.mark.parametrize("closed", [False, True])
def test_replay_of_what_could_not_be_posted_again(shop: Shop, closed: bool) -> None:
    """For want of funds, or of bits, or of an open account: a replay moves nothing and needs nothing."""
    shop.pay_in("most", shop.anna, MAX_AMOUNT)
    assert shop.pay_in("most", shop.anna, MAX_AMOUNT).balances[shop.anna] == Balance(MAX_AMOUNT, 1)
    shop.post("all", (shop.anna, MAX_AMOUNT), (shop.till, -MAX_AMOUNT))
    if closed:
        with transaction.atomic():
            posting.close_account(shop.book, shop.anna)
    before = picture(shop.book)
    assert shop.pay_in("most", shop.anna, MAX_AMOUNT).replayed
    assert shop.post("all", (shop.anna, MAX_AMOUNT), (shop.till, -MAX_AMOUNT)).replayed
    assert picture(shop.book) == before


def test_replay_within_one_transaction_and_after_the_account_closed(shop: Shop) -> None:
    legs = [Leg(shop.till, 5), Leg(shop.anna, -5)]
    with transaction.atomic():
        posting.post(shop.book, "k", "test", legs, {})
        assert posting.post(shop.book, "k", "test", legs, {}).replayed
        posting.post(shop.book, "back", "test", [Leg(shop.till, -5), Leg(shop.anna, 5)], {})
        posting.close_account(shop.book, shop.anna)
        assert posting.post(shop.book, "k", "test", legs, {}).balances[shop.anna] == Balance(5, 1)


def test_key_with_another_request(shop: Shop) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    request = ("test", [Leg(shop.till, 5), Leg(shop.anna, -5)], {"a": 1}, moment)
    with transaction.atomic():
        posted = posting.post(shop.book, "k", *request)
    kind, legs, metadata, _ = request
    for other in (
        ("other", legs, metadata, moment),
        (kind, [Leg(shop.till, 6), Leg(shop.anna, -6)], metadata, moment),
        (kind, [Leg(shop.till, 5), Leg(shop.bela, -5)], metadata, moment),
        (kind, legs, {"a": 2}, moment),
        (kind, legs, metadata, None),
        (kind, legs, metadata, moment + timedelta(microseconds=1)),
    ):
        with pytest.raises(errors.KeyReused) as caught, transaction.atomic():
            posting.post(shop.book, "k", *other)
        assert caught.value.code == "key_reused"
        assert caught.value.params == {"key": "k", "transaction": posted.transaction_id}
    assert Transaction.objects.filter(book=shop.book).count() == 1


def test_a_replay_is_known_by_the_request_whatever_the_session(shop: Shop) -> None:
    moment = datetime(2026, 7, 1, 12, tzinfo=UTC)
    legs = [Leg(shop.till, 5), Leg(shop.anna, -5)]
    with transaction.atomic():
        posting.post(shop.book, "k", "test", legs, {"a": 1, "b": 2}, moment)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL TimeZone = 'Asia/Tokyo'")
        elsewhere = moment.astimezone(timezone(timedelta(hours=9)))
        assert posting.post(shop.book, "k", "test", legs, {"b": 2, "a": 1}, elsewhere).replayed


def test_books_have_their_own_keys(shop: Shop) -> None:
    other = open_shop()
    assert not shop.pay_in("k", shop.anna, 1).replayed
    assert not other.pay_in("k", other.anna, 1).replayed


# --- Reversals ------------------------------------------------------------------------------------------------------


def reverse(shop: Shop, key: str, transaction_id: int) -> posting.Posted:
    """Reverse in a transaction of its own."""
    with transaction.atomic():
        return posting.reverse(shop.book, key, transaction_id, {})


def test_reversal_is_the_linked_mirror(shop: Shop) -> None:
    posted = shop.post("k", (shop.till, 50), (shop.anna, -30), (shop.anna, -15), (shop.bela, -5))
    undone = reverse(shop, "undo", posted.transaction_id)
    assert {account: balance.balance for account, balance in undone.balances.items()} == {
        shop.till: 0, shop.anna: 0, shop.bela: 0,
    }  # fmt: skip
    assert Transaction.objects.get(id=undone.transaction_id).reverses_id == posted.transaction_id
    entries = Entry.objects.filter(transaction_id=undone.transaction_id)
    assert sorted(entries.values_list("account_id", "amount")) == sorted(
        [(shop.till, -50), (shop.anna, 30), (shop.anna, 15), (shop.bela, 5)]
    )


def test_reversal_replays_and_happens_once(shop: Shop) -> None:
    posted = shop.pay_in("k", shop.anna, 5)
    undone = reverse(shop, "undo", posted.transaction_id)
    assert reverse(shop, "undo", posted.transaction_id).replayed
    with pytest.raises(errors.AlreadyReversed) as caught:
        reverse(shop, "undo again", posted.transaction_id)
    assert caught.value.params == {"transaction": posted.transaction_id, "by": undone.transaction_id}


def test_what_cannot_be_reversed(shop: Shop) -> None:
    posted = shop.pay_in("k", shop.anna, 5)
    undone = reverse(shop, "undo", posted.transaction_id)
    with pytest.raises(errors.CannotReverseReversal):
        reverse(shop, "redo", undone.transaction_id)
    elsewhere = open_shop()
    for book, target in ((shop, 2**62), (elsewhere, posted.transaction_id)):
        with pytest.raises(errors.UnknownTransaction):
            reverse(book, "x", target)


def test_a_mirror_is_no_reversal(shop: Shop) -> None:
    """The same legs, kind and metadata under one key are different requests when one of them reverses something."""
    posted = shop.pay_in("k", shop.anna, 5)
    mirrored = [Leg(shop.till, -5), Leg(shop.anna, 5)]
    with transaction.atomic():
        posting.post(shop.book, "mirror", "reversal", mirrored, {})
    shop.pay_in("more", shop.anna, 5)
    with pytest.raises(errors.KeyReused):
        reverse(shop, "mirror", posted.transaction_id)
    reverse(shop, "undo", posted.transaction_id)
    with pytest.raises(errors.KeyReused), transaction.atomic():
        posting.post(shop.book, "undo", "reversal", mirrored, {})


def test_reversal_respects_floors_and_keys(shop: Shop) -> None:
    posted = shop.pay_in("k", shop.anna, 5)
    with pytest.raises(errors.KeyReused):
        reverse(shop, "k", posted.transaction_id)
    shop.post("spent", (shop.anna, 5), (shop.bela, -5))
    with pytest.raises(errors.InsufficientFunds):
        reverse(shop, "undo", posted.transaction_id)


# --- Accounts -------------------------------------------------------------------------------------------------------


def test_opening_is_idempotent_and_attributes_must_agree(shop: Shop) -> None:
    with transaction.atomic():
        assert posting.open_account(shop.book, "deposit:anna", "liability", "EUR", posting.CREDIT) == shop.anna
    for spec in (
        ("asset", posting.CREDIT, 0, 0, 0, 0), ("liability", posting.DEBIT, 0, 0, 0, 0),
        ("liability", posting.CREDIT, None, 0, 0, 0), ("liability", posting.CREDIT, 0, 1, 0, 0),
        ("liability", posting.CREDIT, 0, 0, 1, 0), ("liability", posting.CREDIT, None, 0, 0, 2),
    ):  # fmt: skip
        kind, side, floor, rank, weight, lanes = spec
        with pytest.raises(errors.AccountDiffers) as caught, transaction.atomic():
            posting.open_account(shop.book, "deposit:anna", kind, "EUR", side, floor, rank, weight=weight, lanes=lanes)
        assert caught.value.params["account_code"] == "deposit:anna"


def test_same_code_in_another_commodity_or_book_is_another_account(shop: Shop) -> None:
    with transaction.atomic():
        apples = posting.open_account(shop.book, "deposit:anna", "liability", "APPLE", posting.CREDIT)
        abroad = posting.open_account(uuid.uuid4(), "deposit:anna", "liability", "EUR", posting.CREDIT)
    assert len({shop.anna, apples, abroad}) == 3


def test_bulk_opening_names_each_account_even_when_asked_twice(shop: Shop) -> None:
    specs = [AccountSpec(f"seat:{n % 50}", "liability", "EUR", posting.CREDIT) for n in range(100)]
    with transaction.atomic():
        ids = posting.ensure_accounts(shop.book, specs)
        assert posting.ensure_accounts(shop.book, []) == {}
    assert len(ids) == len(set(ids.values())) == 50
    assert ids["seat:7", "EUR"] == Account.objects.get(book=shop.book, code="seat:7").id


def test_bulk_opening_answers_in_the_order_asked(shop: Shop) -> None:
    specs = [AccountSpec(f"seat:{n}", "liability", ("EUR", "HUF")[n % 2], posting.CREDIT) for n in range(200)]
    for dice in range(3):
        asked = random.Random(dice).sample(specs, 150)
        with transaction.atomic():
            answered = posting.ensure_accounts(shop.book, asked)
        assert list(answered) == [(spec.code, spec.commodity) for spec in asked]
        run(OWNER, "ANALYZE ledger_account")


def test_accounts_are_opened_in_the_order_of_their_codes(shop: Shop) -> None:
    """So that two who open the same ones wait for each other, and do not deadlock; whatever plan there is."""
    codes = [f"seat:{n:03}" for n in range(300)]
    specs = [AccountSpec(code, "liability", "EUR", posting.CREDIT) for code in codes]
    for opened in ([], specs[100:110]):
        book = uuid.uuid4()
        with transaction.atomic():
            posting.ensure_accounts(book, opened)
            posting.ensure_accounts(book, random.Random(1).sample(specs, 300))
        known = {spec.code for spec in opened}
        rows = Account.objects.filter(book=book).exclude(code__in=known).order_by("id")
        assert list(rows.values_list("code", flat=True)) == [code for code in codes if code not in known]
        run(OWNER, "ANALYZE ledger_account")


@pytest.mark.parametrize(
    "spec",
    [
        AccountSpec("x", "asset", "EUR", 0), AccountSpec("x", "asset", "EUR", 1, 1), AccountSpec("", "asset", "EUR", 1),
        AccountSpec("x", "asset", "EUR", 1, 0, 1024), AccountSpec("x", "asset", "EUR", 1, 0, -1),
        AccountSpec("x", "asset", "EUR", 1, None, 0, 2**63), AccountSpec("x", "asset", "EUR", 1, 0, 0, 0, 2),
        AccountSpec("x", "asset", "EUR", 1, None, 0, 0, 1001), AccountSpec("x", "asset", "EUR", 1, None, 0, 0, -1),
        AccountSpec("x", "", "EUR", 1), AccountSpec("x", "asset", "", 1), AccountSpec("x", "asset", "EUR", 1, -(2**63)),
    ],
)  # fmt: skip
def test_accounts_that_cannot_be(shop: Shop, spec: AccountSpec) -> None:
    with pytest.raises(errors.InvalidPosting), transaction.atomic():
        posting.ensure_accounts(shop.book, [spec])


def test_closing(shop: Shop) -> None:
    shop.pay_in("in", shop.anna, 5)
    with pytest.raises(errors.AccountNotEmpty) as caught, transaction.atomic():
        posting.close_account(shop.book, shop.anna)
    assert caught.value.params["balance"] == 5
    shop.post("out", (shop.anna, 5), (shop.till, -5))
    with transaction.atomic():
        closed_at = posting.close_account(shop.book, shop.anna)
        assert posting.close_account(shop.book, shop.anna) == closed_at
    with pytest.raises(errors.UnknownAccount), transaction.atomic():
        posting.close_account(uuid.uuid4(), shop.anna)
    with pytest.raises(errors.AccountClosed), transaction.atomic():
        posting.open_account(shop.book, "deposit:anna", "liability", "EUR", posting.CREDIT)
