"""Promises that once did not hold: what PostgreSQL accepted, by hand or through the functions, and refuses now."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections, transaction

from ledger import errors, holds, posting, snapshots
from ledger.models import Account, Claim
from ledger.posting import MAX_AMOUNT, AccountSpec, Leg, Posting
from tests.ledger.sessions import PATIENCE, in_block, session, until_past, until_waiting
from tests.ledger.support import (
    APP,
    OWNER,
    Row,
    Shop,
    bare_post,
    forge,
    forge_head,
    run,
    sqlstate,
    verified,
    write_entries,
)

TIME_REVERSED, IMMUTABLE, BROKEN_CHAIN, INVALID, TOO_FEW_LEGS = "LG016", "LG014", "LG015", "LG018", "LG002"
CHECK_VIOLATION = "23514"


def till_and_anna(shop: Shop) -> list[Row]:
    return [Row(shop.till, 1, 5, 5), Row(shop.anna, 1, -5, 5)]


def chain(shop: Shop, key: str, amount: int = 10) -> list[Posting]:
    return [Posting(key, "test", [Leg(shop.anna, amount), Leg(shop.bela, -amount)])]


@pytest.fixture
def rich(shop: Shop) -> Shop:
    shop.pay_in("in", shop.anna, 100)
    return shop


# --- Times ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("apart", [timedelta(days=-1), timedelta(hours=1), timedelta(days=365 * 70)])
def test_a_time_by_hand_is_the_clocks(shop: Shop, apart: timedelta) -> None:
    with sqlstate(TIME_REVERSED):
        forge(shop.book, till_and_anna(shop), posted_at=datetime.now(UTC) + apart)
    assert shop.pay_in("after", shop.anna, 1).posted_at < datetime.now(UTC) + timedelta(minutes=1)


@pytest.mark.parametrize("column", ["posted_at", "occurred_at"])
@pytest.mark.parametrize("moment", ["infinity", "-infinity"])
def test_times_are_finite(shop: Shop, column: str, moment: str) -> None:
    state = TIME_REVERSED if (column, moment) == ("posted_at", "-infinity") else CHECK_VIOLATION
    times = {"posted_at": "clock_timestamp()", "occurred_at": "NULL", column: f"'{moment}'"}
    with sqlstate(state):
        run(
            OWNER,
            "INSERT INTO ledger_transaction (book, idempotency_key, kind, metadata, posted_at, occurred_at)"
            f" VALUES (%s, 'k', 'k', '{{}}', {times['posted_at']}, {times['occurred_at']})",
            [shop.book],
        )


# --- Holds ----------------------------------------------------------------------------------------------------------


def test_a_pending_hold_is_not_released_by_hand(rich: Shop) -> None:
    in_block(lambda: holds.hold(rich.book, "h", chain(rich, "k", 60), seconds=3600))
    release = "UPDATE ledger_reserve SET released_at = now() WHERE account_id = %(anna)s"
    lower = "UPDATE ledger_account SET held = held - 60 WHERE id = %(anna)s"
    for sql, state in (
        (f"WITH r AS ({release}) {lower}", BROKEN_CHAIN),
        (f"WITH a AS ({lower}) {release}", BROKEN_CHAIN),
        (release, IMMUTABLE),
        ("UPDATE ledger_hold SET state = 'expired', ended_at = now() WHERE book = %(book)s", IMMUTABLE),
        ("UPDATE ledger_hold SET state = 'posted', ended_at = now() WHERE book = %(book)s", BROKEN_CHAIN),
    ):
        with sqlstate(state):
            run(OWNER, sql, {"anna": rich.anna, "book": rich.book})
    with pytest.raises(errors.InsufficientFunds):
        rich.post("s", (rich.anna, 41), (rich.bela, -41))
    verified(rich.book)


def test_voiding_by_hand_lets_go_of_everything(rich: Shop) -> None:
    in_block(lambda: holds.hold(rich.book, "h", chain(rich, "k", 60), seconds=3600))
    run(OWNER, "UPDATE ledger_hold SET state = 'voided', ended_at = now() WHERE book = %s", [rich.book])
    assert Account.objects.get(id=rich.anna).held == 0
    verified(rich.book)


def test_a_key_is_claimed_by_one_hold(rich: Shop) -> None:
    in_block(lambda: holds.hold(rich.book, "one", chain(rich, "k"), seconds=3600))
    with pytest.raises(errors.KeyReused) as caught:
        in_block(lambda: holds.hold(rich.book, "two", chain(rich, "k"), seconds=3600))
    assert caught.value.params["key"] == "k"
    in_block(lambda: holds.post_hold(rich.book, "one"))
    with pytest.raises(errors.KeyReused):
        in_block(lambda: holds.hold(rich.book, "two", chain(rich, "k"), seconds=3600))
    verified(rich.book)


@pytest.mark.parametrize("function", ["ledger_post", "ledger_post_one"])
def test_a_claimed_key_posts_nothing_else(rich: Shop, function: str) -> None:
    in_block(lambda: holds.hold(rich.book, "h", chain(rich, "k"), seconds=3600))
    legs = sorted([(rich.anna, 1), (rich.bela, -1)])
    with sqlstate("LG007"):
        bare_post(APP, rich.book, "k", legs, function=function)
    in_block(lambda: holds.void_hold(rich.book, "h"))
    bare_post(APP, rich.book, "k", legs, function=function)
    verified(rich.book)


def test_a_posting_that_waited_for_the_hold_sees_its_claim(rich: Shop) -> None:
    with session() as other:
        with transaction.atomic():
            holds.hold(rich.book, "h", chain(rich, "k"), seconds=3600)
            late = other.start(lambda: rich.post("k", (rich.anna, 1), (rich.bela, -1)))
            until_waiting()
        with pytest.raises(errors.KeyReused):
            late.result(timeout=PATIENCE)


def test_a_claim_passes_on_when_its_hold_is_out_of_time(rich: Shop) -> None:
    first = in_block(lambda: holds.hold(rich.book, "one", chain(rich, "k"), seconds=1))
    claim = Claim.objects.get(hold=first.hold_id)
    with sqlstate(IMMUTABLE):
        run(OWNER, "UPDATE ledger_claim SET hold_id = 0 WHERE digest = %s", [claim.digest])
    until_past(first.expires_at)
    second = in_block(lambda: holds.hold(rich.book, "two", chain(rich, "k"), seconds=3600))
    assert Claim.objects.get(digest=claim.digest).hold_id == second.hold_id
    assert not in_block(lambda: holds.post_hold(rich.book, "two"))[0].replayed
    verified(rich.book)


# --- What is acknowledged -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_snapshot_is_of_the_moment_it_names(shop: Shop, level: str) -> None:
    with transaction.atomic(), connections[APP].cursor() as cursor:
        cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        with pytest.raises(errors.InvalidPosting):
            snapshots.take(shop.book, "evening")


@pytest.fixture
def without_autocommit(live_db: None) -> Iterator[None]:
    connections[APP].set_autocommit(False)
    try:
        yield
    finally:
        connections[APP].rollback()
        connections[APP].set_autocommit(True)


def test_a_posting_that_stands_alone_is_committed(shop: Shop, without_autocommit: None) -> None:
    with pytest.raises(errors.NotAtomic):
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {}, alone=True)


@pytest.mark.parametrize("function", ["ledger_post", "ledger_post_one"])
@pytest.mark.parametrize(("before", "after"), [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")])
def test_a_posting_waits_for_the_disk(shop: Shop, function: str, before: str, after: str) -> None:
    legs = sorted([(shop.till, 1), (shop.anna, -1)])
    with transaction.atomic(), connections[APP].cursor() as cursor:
        cursor.execute(f"SET LOCAL synchronous_commit = {before}")
        bare_post(APP, shop.book, "k", legs, function=function)
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == (after,)


def test_switching_it_off_after_the_posting_does_not_help(shop: Shop) -> None:
    """The check at commit switches it on again; it is brought forward here to be seen."""
    with transaction.atomic(), connections[APP].cursor() as cursor:
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {})
        cursor.execute("SET LOCAL synchronous_commit = off")
        cursor.execute("SET CONSTRAINTS ledger_transaction_has_legs IMMEDIATE")
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)


# --- Bounds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["ledger_post", "ledger_post_one"])
def test_amounts_and_balances_leave_headroom(shop: Shop, function: str) -> None:
    legs = sorted([(shop.till, MAX_AMOUNT + 1), (shop.anna, -MAX_AMOUNT - 1)])
    with sqlstate(CHECK_VIOLATION):
        bare_post(APP, shop.book, "k", legs, function=function)
    shop.pay_in("most", shop.anna, MAX_AMOUNT)
    with pytest.raises(errors.AmountOutOfRange):
        shop.pay_in("more", shop.anna, 1)
    with pytest.raises(errors.AmountOutOfRange):  # also on the way, though the last leg brings it back
        shop.post("there", (shop.anna, -1), (shop.anna, 1), (shop.till, 1), (shop.till, -1))
    verified(shop.book)


def test_totals_of_the_largest_balances_are_numbers(shop: Shop) -> None:
    names = ("a", "b", "c", "d")
    specs = [AccountSpec(name, "any", "X", posting.DEBIT, None, weight=MAX_AMOUNT) for name in names]
    ids = in_block(lambda: posting.ensure_accounts(shop.book, specs))
    a, b, c, d = (ids[name, "X"] for name in names)
    shop.post("one", (a, MAX_AMOUNT), (b, -MAX_AMOUNT))
    shop.post("two", (c, MAX_AMOUNT), (d, -MAX_AMOUNT))
    verified(shop.book)


# --- Shapes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metadata", ["[]", "1", "null", '"text"'])
def test_metadata_is_an_object(shop: Shop, metadata: str) -> None:
    legs = [sorted([shop.till, shop.anna]), [1, -1]]
    with sqlstate(CHECK_VIOLATION):
        run(APP, "SELECT ledger_post_one(%s, NULL, 'k', 't', %s, NULL, %s, %s)", [shop.book, metadata, *legs])
    with pytest.raises(errors.InvalidPosting), transaction.atomic():
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], [])  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_the_length_of_keys(shop: Shop, key: str) -> None:
    with sqlstate(CHECK_VIOLATION):
        bare_post(APP, shop.book, key, sorted([(shop.till, 1), (shop.anna, -1)]), function="ledger_post_one")


def test_a_posting_is_whole_when_constraints_are_immediate(shop: Shop) -> None:
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ledger_transaction_has_legs IMMEDIATE")
        posting.post(shop.book, "k", "test", [Leg(shop.till, 1), Leg(shop.anna, -1)], {}, using=OWNER)
    verified(shop.book)


def test_legs_that_are_looked_for_too_early(shop: Shop) -> None:
    block = transaction.atomic(using=OWNER)
    with (
        pytest.raises(errors.TooFewLegs) as caught,
        block,
        errors.translated(OWNER),
        connections[OWNER].cursor() as cursor,
    ):
        cursor.execute("SET CONSTRAINTS ledger_transaction_has_legs IMMEDIATE")
        write_entries(cursor, [(forge_head(cursor, shop.book), row) for row in till_and_anna(shop)])
    assert "IMMEDIATE" in str(caught.value.__cause__)


@pytest.mark.parametrize("code", ["fees#1", "#0", "a#b#12"])
def test_no_account_is_named_like_a_lane(shop: Shop, code: str) -> None:
    with pytest.raises(errors.InvalidPosting):
        in_block(lambda: posting.ensure_accounts(shop.book, [AccountSpec(code, "any", "EUR", posting.DEBIT)]))
    with sqlstate(INVALID):
        run(
            APP,
            "SELECT ledger_open_accounts(%s, %s, '{any}', '{EUR}', '{1}', '{0}', '{0}', '{0}', '{0}')",
            [shop.book, [code]],
        )
