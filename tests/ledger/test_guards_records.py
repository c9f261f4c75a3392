"""Holes in periods, holds, snapshots, assertions, weights and lanes, tried past the functions as the owner.

The application's role may write none of these tables at all: `test_roles` and `both_refuse`.
"""

from datetime import timedelta

import pytest
from django.db import connections, transaction

from ledger import assertions, holds, periods, posting, snapshots
from ledger.posting import AccountSpec, Leg, Posting
from tests.ledger.support import (
    OWNER,
    Row,
    Shop,
    both_refuse,
    forge,
    forge_head,
    open_shop,
    run,
    sqlstate,
    write_entries,
)

UNBALANCED, OVERDRAWN, UNKNOWN_ACCOUNT = "LG001", "LG004", "LG006"
IMMUTABLE, BROKEN_CHAIN, UNBACKED, NOT_OPEN, UNTRUE = "LG014", "LG015", "LG019", "LG020", "LG022"
INVALID, CHECK_VIOLATION, UNIQUE_VIOLATION = "LG018", "23514", "23505"


@pytest.fixture
def kept(shop: Shop) -> Shop:
    """A book with one row at least in every table: Anna holds 100, of which 30 are set aside for Bela."""
    with transaction.atomic():
        periods.open_period(shop.book, "monday")
        periods.open_period(shop.book, "tuesday")
    shop.pay_in("in", shop.anna, 100)
    with transaction.atomic():
        periods.close_period(shop.book, "monday")
        chain = [Posting("later", "test", [Leg(shop.anna, 30), Leg(shop.bela, -30)])]
        holds.hold(shop.book, "hold", chain, seconds=3600)
        assertions.assert_balance(shop.book, shop.anna, 100)
        snapshots.take(shop.book, "evening")
    return shop


def period(shop: Shop, name: str) -> int:
    """Id of a period."""
    return int(run(OWNER, "SELECT id FROM ledger_period WHERE book = %s AND name = %s", [shop.book, name])[0][0])


# --- Periods --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    ["closed_at = NULL", "closed_at = now()", "name = 'other'", "opened_at = now()", "book = gen_random_uuid()",
     "id = id + 1000000"],
)  # fmt: skip
def test_a_closed_period_does_not_change(kept: Shop, change: str) -> None:
    both_refuse(f"UPDATE ledger_period SET {change} WHERE book = %s AND name = 'monday'", [kept.book], IMMUTABLE)


@pytest.mark.parametrize("change", ["name = 'other'", "opened_at = now()", "id = id + 1000000"])
def test_an_open_period_only_closes(kept: Shop, change: str) -> None:
    both_refuse(f"UPDATE ledger_period SET {change} WHERE book = %s AND name = 'tuesday'", [kept.book], IMMUTABLE)


def test_a_period_neither_goes_nor_comes_closed(kept: Shop) -> None:
    both_refuse("DELETE FROM ledger_period WHERE book = %s", [kept.book], IMMUTABLE)
    both_refuse("TRUNCATE ledger_period", [], IMMUTABLE)
    sql = "INSERT INTO ledger_period (book, name, opened_at, closed_at) VALUES (%s, 'old', now(), now())"
    both_refuse(sql, [kept.book], IMMUTABLE)


def next_rows(shop: Shop) -> list[Row]:
    """The right rows for the second posting on till and Anna."""
    return [Row(shop.till, 2, 5, 105), Row(shop.anna, 2, -5, 105)]


def test_an_entry_into_a_closed_period(kept: Shop) -> None:
    with sqlstate(NOT_OPEN):
        forge(kept.book, next_rows(kept), period=period(kept, "monday"))
    forge(kept.book, next_rows(kept), period=period(kept, "tuesday"))


def test_an_entry_into_no_period_or_another_books(kept: Shop) -> None:
    other = open_shop()
    with transaction.atomic():
        foreign = periods.open_period(other.book, "monday")
    for into in (None, foreign, 2**31 - 1):
        with sqlstate(NOT_OPEN):
            forge(kept.book, next_rows(kept), period=into)


# --- Holds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    ["key = 'other'", "postings = '[]'", "created_at = now()", "expires_at = now() + interval '1 year'",
     "book = gen_random_uuid()", "id = id + 1000000"],
)  # fmt: skip
def test_what_a_hold_is_never_changes(kept: Shop, change: str) -> None:
    both_refuse(f"UPDATE ledger_hold SET {change} WHERE book = %s", [kept.book], IMMUTABLE)


@pytest.mark.parametrize("end", ["posted", "voided"])
def test_a_hold_ends_once(kept: Shop, end: str) -> None:
    with transaction.atomic():
        if end == "posted":
            holds.post_hold(kept.book, "hold")
        else:
            holds.void_hold(kept.book, "hold")
    for state in ("pending", "posted", "voided", "expired"):
        both_refuse("UPDATE ledger_hold SET state = %s WHERE book = %s", [state, kept.book], IMMUTABLE)


def test_a_hold_does_not_go(kept: Shop) -> None:
    both_refuse("DELETE FROM ledger_hold WHERE book = %s", [kept.book], IMMUTABLE)
    both_refuse("TRUNCATE ledger_hold", [], IMMUTABLE)


def test_a_hold_by_hand_is_named_and_has_a_state(kept: Shop) -> None:
    sql = (
        "INSERT INTO ledger_hold (book, key, postings, created_at, expires_at, state)"
        " VALUES (%s, %s, '[]', now(), now(), %s)"
    )
    for key, state, sqlstate_ in (
        ("", "pending", CHECK_VIOLATION),
        ("x", "odd", IMMUTABLE),
        ("x", "posted", IMMUTABLE),
    ):
        both_refuse(sql, [kept.book, key, state], sqlstate_)
    both_refuse(sql, [kept.book, "hold", "pending"], UNIQUE_VIOLATION)


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("amount = 31", IMMUTABLE),
        ("hold_id = 0", IMMUTABLE),
        ("account_id = 0", IMMUTABLE),
        ("released_at = now()", IMMUTABLE),
        ("expires_at = now()", IMMUTABLE),
    ],
)
def test_a_reserve_does_not_change_while_its_hold_is_pending(kept: Shop, change: str, state: str) -> None:
    both_refuse(f"UPDATE ledger_reserve SET {change} WHERE account_id = %s", [kept.anna], state)


def test_a_reserve_is_released_once(kept: Shop) -> None:
    with transaction.atomic():
        holds.void_hold(kept.book, "hold")
    for change in ("released_at = NULL", "released_at = now()"):
        both_refuse(f"UPDATE ledger_reserve SET {change} WHERE account_id = %s", [kept.anna], IMMUTABLE)


def test_a_reserve_does_not_go(kept: Shop) -> None:
    both_refuse("DELETE FROM ledger_reserve WHERE account_id = %s", [kept.anna], IMMUTABLE)
    both_refuse("TRUNCATE ledger_reserve", [], IMMUTABLE)


INSERT_RESERVE = (
    "INSERT INTO ledger_reserve (hold_id, account_id, amount, expires_at)"
    " SELECT id, %(account)s, %(amount)s, expires_at FROM ledger_hold WHERE book = %(book)s"
)


def test_a_reserve_of_no_pending_hold_of_its_book(kept: Shop) -> None:
    elsewhere = open_shop()
    with sqlstate(BROKEN_CHAIN):
        run(OWNER, INSERT_RESERVE, {"book": kept.book, "account": elsewhere.anna, "amount": 1})
    with transaction.atomic():
        holds.void_hold(kept.book, "hold")
    with sqlstate(BROKEN_CHAIN):
        run(OWNER, INSERT_RESERVE, {"book": kept.book, "account": kept.bela, "amount": 1})


@pytest.mark.parametrize("amount", [0, -5])
def test_a_reserve_of_nothing(kept: Shop, amount: int) -> None:
    sql = "INSERT INTO ledger_reserve (hold_id, account_id, amount, expires_at) VALUES (0, %s, %s, now())"
    both_refuse(sql, [kept.bela, amount], CHECK_VIOLATION)


@pytest.mark.parametrize("change", ["held = held + 1", "held = held - 1", "held = 0"])
def test_an_account_that_holds_back_without_a_reserve(kept: Shop, change: str) -> None:
    both_refuse(f"UPDATE ledger_account SET {change} WHERE id = %s", [kept.anna], BROKEN_CHAIN)


def test_an_account_that_holds_back_less_than_nothing(kept: Shop) -> None:
    both_refuse("UPDATE ledger_account SET held = -1 WHERE id = %s", [kept.anna], BROKEN_CHAIN)


def test_a_reserve_moves_its_account(kept: Shop) -> None:
    """What is right is accepted, so the refusals above prove something; what exceeds the floor is not."""
    kept.pay_in("bela", kept.bela, 10)
    with sqlstate(CHECK_VIOLATION):
        run(OWNER, INSERT_RESERVE, {"book": kept.book, "account": kept.bela, "amount": 11})
    run(OWNER, INSERT_RESERVE, {"book": kept.book, "account": kept.bela, "amount": 10})
    assert run(OWNER, "SELECT held FROM ledger_account WHERE id = %s", [kept.bela]) == [(10,)]


def test_entries_by_hand_leave_what_is_held(kept: Shop) -> None:
    """70 of Anna's 100 are hers to spend."""
    into = period(kept, "tuesday")
    with sqlstate(CHECK_VIOLATION):
        forge(kept.book, [Row(kept.anna, 2, 71, 29), Row(kept.bela, 1, -71, 71)], period=into)
    forge(kept.book, [Row(kept.anna, 2, 70, 30), Row(kept.bela, 1, -70, 70)], period=into)


def test_what_is_held_counts_after_each_transaction_of_a_statement(kept: Shop) -> None:
    """Not only after the last, which brings the money back."""
    into = period(kept, "tuesday")

    def there_and_back(amount: int) -> None:
        left = 100 - amount
        out = [Row(kept.anna, 2, amount, left), Row(kept.bela, 1, -amount, amount)]
        back = [Row(kept.anna, 3, -amount, 100), Row(kept.bela, 2, amount, 0)]
        with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
            one, two = (forge_head(cursor, kept.book, period=into) for _ in range(2))
            write_entries(cursor, [(one, row) for row in out] + [(two, row) for row in back])

    with sqlstate(OVERDRAWN):
        there_and_back(71)
    there_and_back(70)


# --- Snapshots ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["ledger_snapshot", "ledger_snapshot_line"])
def test_a_snapshot_neither_changes_nor_goes(kept: Shop, table: str) -> None:
    one = "id IN (SELECT id FROM ledger_snapshot WHERE book = %s)"
    one = one if table == "ledger_snapshot" else one.replace("id", "snapshot_id", 1)
    changes = {
        "ledger_snapshot": ["name = 'other'", "taken_at = now()", "book = gen_random_uuid()"],
        "ledger_snapshot_line": ["balance = balance + 1", "version = version + 1", "account_id = 0"],
    }
    for change in changes[table]:
        both_refuse(f"UPDATE {table} SET {change} WHERE {one}", [kept.book], IMMUTABLE)
    both_refuse(f"DELETE FROM {table} WHERE {one}", [kept.book], IMMUTABLE)
    both_refuse(f"TRUNCATE {table}", [], IMMUTABLE)


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        ("(%(id)s, %(till)s, 1, 100), (%(id)s, %(anna)s, 1, 99)", BROKEN_CHAIN),
        ("(%(id)s, %(till)s, 1, 100), (%(id)s, %(anna)s, 2, 100)", BROKEN_CHAIN),
        ("(%(id)s, %(till)s, 1, 100)", UNBALANCED),
        ("(%(id)s, %(till)s, 1, 100), (%(id)s, %(stranger)s, 1, 100)", BROKEN_CHAIN),
    ],
    ids=["another balance", "a version that is none", "a line left out", "an account of another book"],
)
def test_a_snapshot_line_that_lies(kept: Shop, lines: str, state: str) -> None:
    other = open_shop()
    other.pay_in("in", other.anna, 100)
    with sqlstate(state), transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_snapshot (book, name, taken_at) VALUES (%s, 'by hand', now()) RETURNING id", [kept.book]
        )
        names = {"id": cursor.fetchone()[0], "till": kept.till, "anna": kept.anna, "stranger": other.anna}
        cursor.execute(
            f"INSERT INTO ledger_snapshot_line (snapshot_id, account_id, version, balance) VALUES {lines}", names
        )


def test_a_line_added_to_a_snapshot(kept: Shop) -> None:
    taken = run(OWNER, "SELECT id FROM ledger_snapshot WHERE book = %s AND name = 'evening'", [kept.book])[0][0]
    kept.pay_in("bela", kept.bela, 10)
    with sqlstate(UNBALANCED):
        run(
            OWNER,
            "INSERT INTO ledger_snapshot_line (snapshot_id, account_id, version, balance) VALUES (%s, %s, 1, 10)",
            [taken, kept.bela],
        )


# --- Assertions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["balance = 1", "version = 0", "account_id = 0", "asserted_at = now()"])
def test_an_assertion_neither_changes_nor_goes(kept: Shop, change: str) -> None:
    both_refuse(f"UPDATE ledger_assertion SET {change} WHERE book = %s", [kept.book], IMMUTABLE)
    both_refuse("DELETE FROM ledger_assertion WHERE book = %s", [kept.book], IMMUTABLE)
    both_refuse("TRUNCATE ledger_assertion", [], IMMUTABLE)


def test_a_false_assertion(kept: Shop) -> None:
    sql = (
        "INSERT INTO ledger_assertion (book, account_id, version, balance, asserted_at, metadata)"
        " VALUES (%s, %s, %s, %s, now(), '{}')"
    )
    other = open_shop()
    for book, account, version, balance, state in (
        (kept.book, kept.anna, 1, 99, UNTRUE),
        (kept.book, kept.anna, 0, 1, UNTRUE),
        (kept.book, kept.anna, 2, 100, UNKNOWN_ACCOUNT),
        (kept.book, kept.anna, -1, 0, UNKNOWN_ACCOUNT),
        (other.book, kept.anna, 1, 100, UNKNOWN_ACCOUNT),
    ):
        both_refuse(sql, [book, account, version, balance], state)
    run(OWNER, sql, [kept.book, kept.anna, 1, 100])
    run(OWNER, sql, [kept.book, kept.anna, 0, 0])


# --- Weights and lanes ----------------------------------------------------------------------------------------------


def test_entries_by_hand_that_weigh_something(shop: Shop) -> None:
    """A debt worth 5 for a token worth 10."""
    with transaction.atomic():
        ids = posting.ensure_accounts(
            shop.book,
            [
                AccountSpec("debt", "liability", "EUR", posting.CREDIT, weight=1),
                AccountSpec("out", "custody", "CHIP", posting.DEBIT, weight=10),
                AccountSpec("rack", "custody", "CHIP", posting.DEBIT, None),
            ],
        )
    debt, out, rack = ids.values()
    chip = [Row(out, 1, 1, 1), Row(rack, 1, -1, -1)]
    with sqlstate(UNBACKED):
        forge(shop.book, [Row(shop.till, 1, 5, 5), Row(debt, 1, -5, 5), *chip])
    with sqlstate(UNBACKED):
        forge(shop.book, chip)
    forge(shop.book, [Row(shop.till, 1, 10, 10), Row(debt, 1, -10, 10), *chip])


def test_entries_by_hand_onto_an_account_with_lanes(shop: Shop) -> None:
    with transaction.atomic():
        spread = posting.open_account(shop.book, "spread", "asset", "EUR", posting.DEBIT, None, lanes=2)
    with sqlstate(UNKNOWN_ACCOUNT):
        forge(shop.book, [Row(spread, 1, 5, 5), Row(shop.anna, 1, -5, 5)])
    forge(shop.book, [Row(spread + 2, 1, 5, 5), Row(shop.anna, 1, -5, 5)])


@pytest.mark.parametrize(
    ("lanes", "floor"), [(2, "0"), (1001, "NULL"), (-1, "NULL")], ids=["a floor", "too many", "fewer than none"]
)
def test_accounts_by_hand_with_lanes_that_cannot_be(shop: Shop, lanes: int, floor: str) -> None:
    sql = (
        "INSERT INTO ledger_account (book, code, kind, commodity, normal_side, min_balance, balance, version, held,"
        f" lock_rank, weight, lanes, opened_at) VALUES (%s, 'x', 'x', 'EUR', 1, {floor}, 0, 0, 0, 0, 0, %s, now())"
    )
    both_refuse(sql, [shop.book, lanes], INVALID)


def test_time_in_a_period_runs_forward_too(kept: Shop) -> None:
    earlier = run(OWNER, "SELECT posted_at FROM ledger_account WHERE id = %s", [kept.anna])[0][0]
    with sqlstate("LG016"):
        forge(kept.book, next_rows(kept), posted_at=earlier - timedelta(microseconds=1), period=period(kept, "tuesday"))
