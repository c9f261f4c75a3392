"""Batches: many postings in one call are what the same postings one by one are, or nothing at all."""

import random
import uuid

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger import errors, posting
from ledger.balances import balances
from ledger.models import Entry, Transaction
from ledger.posting import AccountSpec, Balance, Leg, Posted, Posting
from tests.ledger.model import Account, Book
from tests.ledger.sessions import in_block
from tests.ledger.support import APP, Shop, open_shop, picture, run, sqlstate, verified


def move(key: str, source: int, target: int, amount: int) -> Posting:
    """Credit one account, debit the other."""
    return Posting(key, "test", [Leg(target, amount), Leg(source, -amount)])


def post_many(shop: Shop, *postings: Posting) -> list[Posted]:
    """Post in a transaction of its own."""
    return in_block(lambda: posting.post_many(shop.book, postings))


def refused(kind: type[errors.LedgerError], shop: Shop, *postings: Posting) -> errors.LedgerError:
    """The batch must be refused, and must leave nothing."""
    before = picture(shop.book)
    with pytest.raises(kind) as caught:
        post_many(shop, *postings)
    assert type(caught.value) is kind
    assert picture(shop.book) == before
    return caught.value


def history(book: uuid.UUID) -> dict[str, list[tuple[str, str, int, int, int]]]:
    """What each account went through: keys, kinds, versions, amounts and balances, by code."""
    rows = Entry.objects.filter(account__book=book).order_by("account_id", "version")
    fields = (
        "account__code",
        "transaction__idempotency_key",
        "transaction__kind",
        "version",
        "amount",
        "balance_after",
    )
    found: dict[str, list[tuple[str, str, int, int, int]]] = {}
    for code, *line in rows.values_list(*fields):
        found.setdefault(code, []).append(tuple(line))
    return found


def test_answers_come_in_the_order_of_the_postings(shop: Shop) -> None:
    answers = post_many(
        shop,
        move("c", shop.bela, shop.till, 30),
        move("a", shop.anna, shop.till, 50),
        move("b", shop.bela, shop.anna, 20),
    )
    assert [answer.balances for answer in answers] == [
        {shop.till: Balance(30, 1), shop.bela: Balance(30, 1)},
        {shop.till: Balance(80, 2), shop.anna: Balance(50, 1)},
        {shop.anna: Balance(30, 2), shop.bela: Balance(50, 2)},
    ]
    ids = [answer.transaction_id for answer in answers]
    assert ids == sorted(ids)
    rows = Transaction.objects.filter(book=shop.book).order_by("id")
    assert list(rows.values_list("idempotency_key", "posted_at")) == [
        (key, answer.posted_at) for key, answer in zip("cab", answers, strict=True)
    ]
    verified(shop.book)


def test_no_posting_is_a_batch_too(shop: Shop) -> None:
    assert post_many(shop) == []


def test_each_has_its_own_kind_metadata_and_time(shop: Shop) -> None:
    legs = [Leg(shop.till, 1), Leg(shop.anna, -1)]
    post_many(shop, Posting("a", "one", legs, {"n": 1}), Posting("b", "two", legs, {"n": [2]}))
    rows = Transaction.objects.filter(book=shop.book).order_by("id").values_list("kind", "metadata")
    assert list(rows) == [("one", {"n": 1}), ("two", {"n": [2]})]


def test_one_round_trip(shop: Shop, django_assert_num_queries: object) -> None:
    with transaction.atomic(), django_assert_num_queries(1):  # type: ignore[operator]
        posting.post_many(shop.book, [move(f"{n}", shop.anna, shop.till, 1) for n in range(20)])


def test_nothing_is_written_outside_atomic(shop: Shop) -> None:
    with pytest.raises(errors.NotAtomic):
        posting.post_many(shop.book, [move("a", shop.anna, shop.till, 1)])


# --- All or nothing -------------------------------------------------------------------------------------------------


def test_one_wrong_posting_undoes_them_all(shop: Shop) -> None:
    good = [move(f"good {n}", shop.anna, shop.till, 10) for n in range(3)]
    with transaction.atomic():
        closed = posting.open_account(shop.book, "closed", "asset", "EUR", posting.DEBIT, None)
        posting.close_account(shop.book, closed)
    till, anna = shop.till, shop.anna
    for kind, legs in (
        (errors.Unbalanced, [Leg(till, 2), Leg(anna, -1)]),
        (errors.TooFewLegs, []),
        (errors.TooFewLegs, [Leg(till, 1), Leg(till, -1)]),
        (errors.ZeroAmount, [Leg(till, 1), Leg(anna, -1), Leg(shop.bela, 0)]),
        (errors.InsufficientFunds, [Leg(anna, 31), Leg(till, -31)]),
        (errors.UnknownAccount, [Leg(2**50, 1), Leg(anna, -1)]),
        (errors.AccountClosed, [Leg(closed, 1), Leg(anna, -1)]),
    ):
        error = refused(kind, shop, *good, Posting("wrong", "test", legs))
        assert error.params.get("key", "wrong") == "wrong"
        refused(kind, shop, Posting("wrong", "test", legs), *good)
    refused(errors.InvalidPosting, shop, *good, Posting("", "test", [Leg(till, 1), Leg(anna, -1)]))


def test_postings_that_only_balance_together(shop: Shop) -> None:
    refused(
        errors.Unbalanced,
        shop,
        Posting("a", "test", [Leg(shop.till, 5), Leg(shop.anna, -4)]),
        Posting("b", "test", [Leg(shop.till, -5), Leg(shop.anna, 4)]),
    )


def test_the_floor_counts_after_each_posting(shop: Shop) -> None:
    """Not after the batch: what comes in later does not pay for what went out before."""
    out, back = move("out", shop.till, shop.anna, 5), move("in", shop.anna, shop.till, 5)
    error = refused(errors.InsufficientFunds, shop, out, back)
    assert (error.params["account"], error.params["key"]) == (shop.anna, "out")
    post_many(shop, back, out)
    assert balances([shop.anna])[shop.anna] == Balance(0, 2)


def test_several_legs_on_one_account_count_once_for_the_floor(shop: Shop) -> None:
    to_and_fro = [Leg(shop.anna, 30), Leg(shop.bela, -30), Leg(shop.anna, -50), Leg(shop.till, 50)]
    again = Posting("2", "test", [Leg(shop.anna, 25), Leg(shop.anna, -5), Leg(shop.bela, -20)])
    first, second = post_many(shop, Posting("1", "test", to_and_fro), again)
    assert first.balances[shop.anna] == Balance(20, 2)
    assert second.balances[shop.anna] == Balance(0, 4)
    lines = Entry.objects.filter(account_id=shop.anna).order_by("version").values_list("amount", "balance_after")
    assert list(lines) == [(30, -30), (-50, 20), (25, -5), (-5, 0)]
    verified(shop.book)


# --- Keys -----------------------------------------------------------------------------------------------------------


def test_one_key_twice(shop: Shop) -> None:
    one = move("k", shop.anna, shop.till, 5)
    for other in (one, move("k", shop.bela, shop.till, 5)):
        error = refused(errors.KeyReused, shop, one, move("l", shop.anna, shop.till, 1), other)
        assert error.params["key"] == "k"


def test_replays_among_new_ones(shop: Shop) -> None:
    first, second = post_many(shop, move("1", shop.anna, shop.till, 50), move("2", shop.bela, shop.till, 20))
    before = balances([shop.till, shop.anna, shop.bela])
    answers = post_many(
        shop,
        move("3", shop.anna, shop.bela, -10),
        move("2", shop.bela, shop.till, 20),
        move("4", shop.bela, shop.till, 1),
        move("1", shop.anna, shop.till, 50),
    )
    assert [answer.replayed for answer in answers] == [False, True, False, True]
    assert (answers[1].transaction_id, answers[1].balances) == (second.transaction_id, second.balances)
    assert (answers[3].transaction_id, answers[3].posted_at) == (first.transaction_id, first.posted_at)
    after = balances([shop.till, shop.anna, shop.bela])
    assert {account: after[account].version - before[account].version for account in after} == {
        shop.till: 1, shop.anna: 1, shop.bela: 2,
    }  # fmt: skip
    verified(shop.book)


def test_a_batch_of_replays_writes_nothing(shop: Shop) -> None:
    batch = [move(f"{n}", shop.anna, shop.till, n + 1) for n in range(5)]
    first = post_many(shop, *batch)
    before = picture(shop.book)
    again = post_many(shop, *batch)
    assert picture(shop.book) == before
    assert all(answer.replayed for answer in again)
    assert [answer.balances for answer in again] == [answer.balances for answer in first]


def test_a_key_of_the_batch_that_posted_something_else(shop: Shop) -> None:
    posted = shop.pay_in("k", shop.anna, 5)
    error = refused(errors.KeyReused, shop, move("new", shop.anna, shop.till, 1), move("k", shop.anna, shop.till, 6))
    assert error.params == {"key": "k", "transaction": posted.transaction_id}


# --- Bare calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "numbers", "state"),
    [(["a"], [1, 1, 2, 2], "LG018"), (["a"], [0, 0, 1, 1], "LG018"), (["a", "b"], [1, 1, 1, 1], "LG002")],
    ids=["a posting too many", "a posting nought", "a posting without legs"],
)
def test_a_bare_call_whose_arrays_do_not_fit(shop: Shop, keys: list[str], numbers: list[int], state: str) -> None:
    count = len(keys)
    with sqlstate(state):
        run(
            APP,
            "SELECT * FROM ledger_post(%s, NULL, %s::text[], array_fill('test'::text, ARRAY[%s]),"
            " array_fill('{}'::jsonb, ARRAY[%s]), array_fill(NULL::timestamptz, ARRAY[%s]),"
            " array_fill(NULL::bigint, ARRAY[%s]), %s::int[], %s::bigint[], '{1,-1,1,-1}')",
            [shop.book, keys, count, count, count, count, numbers, [shop.till, shop.anna] * 2],
        )


def test_a_bare_call_with_unsorted_legs_answers_as_a_sorted_one(shop: Shop) -> None:
    sql = (
        "SELECT postings, accounts, balances, versions FROM ledger_post(%s, NULL, %s::text[], '{t,t}',"
        " '{\"{}\",\"{}\"}', '{NULL,NULL}', '{NULL,NULL}', %s::int[], %s::bigint[], %s::bigint[])"
    )
    legs = [(2, shop.till, 3), (1, shop.till, 5), (2, shop.anna, -3), (1, shop.anna, -5)]
    for dice in range(4):
        other = open_shop()
        names = {shop.till: other.till, shop.anna: other.anna}
        rows = random.Random(dice).sample([(n, names[account], amount) for n, account, amount in legs], 4)
        keys = [f"a{dice}", f"b{dice}"]
        ((postings, accounts, after, versions),) = run(
            APP, sql, [other.book, keys, *map(list, zip(*rows, strict=True))]
        )
        assert list(zip(postings, accounts, after, versions, strict=True)) == [
            (1, other.anna, 5, 1), (2, other.anna, 8, 2), (1, other.till, 5, 1), (2, other.till, 8, 2),
        ]  # fmt: skip


# --- Size, and equality with one by one -------------------------------------------------------------------------------


def test_a_thousand_postings(shop: Shop) -> None:
    answers = post_many(shop, *(move(f"{n}", (shop.anna, shop.bela)[n % 2], shop.till, n + 1) for n in range(1000)))
    assert [answer.balances[shop.till] for answer in answers] == [
        Balance((n + 1) * (n + 2) // 2, n + 1) for n in range(1000)
    ]
    verified(shop.book)


@st.composite
def batches(draw: st.DrawFn) -> list[tuple[str, list[tuple[int, int]]]]:
    """Postings on four accounts, by key; most balance, a few break a rule."""
    account = st.integers(0, 3)
    amount = st.integers(-20, 40)
    pair = st.tuples(account, account, amount).map(lambda p: [(p[0], p[2]), (p[1], -p[2])])
    legs = st.lists(pair, min_size=1, max_size=3).map(lambda pairs: [leg for two in pairs for leg in two])
    return draw(st.lists(st.tuples(st.integers(0, 40).map(str), legs), min_size=1, max_size=12))


@given(batches(), st.integers(0, 12))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_batch_is_its_postings_one_by_one(
    live_db: None, case: list[tuple[str, list[tuple[int, int]]]], before: int
) -> None:
    """Some of them may have been posted before; where one of them is refused, the batch leaves nothing."""
    specs = [AccountSpec(f"a{n}", "any", "EUR", 1 - 2 * (n % 2), (None, -25)[n // 2], n) for n in range(4)]
    books = uuid.uuid4(), uuid.uuid4()
    ids = [list(in_block(lambda book=book: posting.ensure_accounts(book, specs)).values()) for book in books]
    made = [[Posting(key, "any", [Leg(own[a], n) for a, n in legs]) for key, legs in case] for own in ids]
    model = Book({number: Account(spec) for number, spec in zip(ids[1], specs, strict=True)})
    faults = model.post(made[1], None).faults
    if faults:
        with pytest.raises(errors.LedgerError) as caught, transaction.atomic():
            posting.post_many(books[1], made[1])
        assert caught.value.code in faults
        assert not Transaction.objects.filter(book=books[1]).exists()
        return
    for one in made[0]:
        with transaction.atomic():
            assert not posting.post(books[0], one.key, one.kind, one.legs, {}).replayed
    with transaction.atomic():
        posting.post_many(books[1], made[1][:before])
    with transaction.atomic():
        answers = posting.post_many(books[1], made[1])
    assert [answer.replayed for answer in answers] == [n < before for n in range(len(case))]
    assert history(books[0]) == history(books[1])
    verified(books[1])
