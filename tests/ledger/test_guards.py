"""Every hole that a ledger is known to have, tried as the application's role and, past the functions, as the owner.

The application's role is stopped by its rights (42501), the owner by the guard triggers (class LG).
"""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connections, transaction

from ledger import errors, holds, posting
from ledger.posting import Leg, Posting
from tests.ledger.support import (
    APP,
    DENIED,
    OWNER,
    TABLES,
    Row,
    Shop,
    backdating,
    bare_post,
    both_refuse,
    forge,
    forge_head,
    open_shop,
    run,
    sqlstate,
    write_entries,
)

UNBALANCED, TOO_FEW_LEGS, OVERDRAWN, CLOSED, UNKNOWN_ACCOUNT = "LG001", "LG002", "LG004", "LG005", "LG006"
REVERSAL_OF_REVERSAL, UNKNOWN_TRANSACTION, NOT_EMPTY, INVALID = "LG009", "LG010", "LG013", "LG018"
IMMUTABLE, BROKEN_CHAIN, TIME_REVERSED, NOT_A_MIRROR = "LG014", "LG015", "LG016", "LG017"
CHECK_VIOLATION, UNIQUE_VIOLATION = "23514", "23505"

INSERT_TRANSACTION = (
    "INSERT INTO ledger_transaction (book, idempotency_key, kind, posted_at, metadata)"
    " VALUES (%s, 'empty', 'forged', clock_timestamp(), '{}')"
)


def till_and_anna(shop: Shop, amount: int = 5) -> list[Row]:
    """The right rows for the first posting on the two accounts."""
    return [Row(shop.till, 1, amount, amount), Row(shop.anna, 1, -amount, amount)]


def test_hand_written_rows_that_keep_every_promise_are_accepted_from_the_owner(shop: Shop) -> None:
    """Otherwise the refusals below would prove nothing."""
    forge(shop.book, till_and_anna(shop))
    assert shop.pay_in("next", shop.anna, 3).balances[shop.anna].balance == 8


# --- An empty transaction -------------------------------------------------------------------------------------------


def test_empty_transaction(shop: Shop) -> None:
    both_refuse(INSERT_TRANSACTION, [shop.book], TOO_FEW_LEGS)


def test_transaction_with_one_leg(shop: Shop) -> None:
    """It cannot balance, and that is what is recorded first."""
    with sqlstate(UNBALANCED):
        forge(shop.book, [Row(shop.till, 1, 5, 5)])


def test_transaction_that_only_moves_to_and_fro_on_one_account(shop: Shop) -> None:
    with sqlstate(TOO_FEW_LEGS):
        forge(shop.book, [Row(shop.till, 1, 5, 5), Row(shop.till, 2, -5, 0)])


# --- Editing, moving, deleting, adding a leg ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    ["amount = amount + 1", "balance_after = 0", "version = 9", "account_id = account_id + 1", "transaction_id = 0"],
)
def test_editing_or_moving_a_leg(shop: Shop, change: str) -> None:
    shop.pay_in("in", shop.anna, 100)
    both_refuse(f"UPDATE ledger_entry SET {change} WHERE account_id = %s", [shop.anna], IMMUTABLE)


def test_deleting_a_leg(shop: Shop) -> None:
    shop.pay_in("in", shop.anna, 100)
    both_refuse("DELETE FROM ledger_entry WHERE account_id = %s", [shop.anna], IMMUTABLE)


def test_inserting_a_leg_as_the_application(shop: Shop) -> None:
    posted = shop.pay_in("in", shop.anna, 100)
    with sqlstate(DENIED):
        forge(shop.book, [Row(shop.till, 2, 5, 105)], into=posted.transaction_id, alias=APP)


def test_adding_balanced_legs_to_a_transaction_that_is_posted(shop: Shop) -> None:
    posted = shop.pay_in("in", shop.anna, 100)
    rows = [Row(shop.till, 2, 5, 105), Row(shop.anna, 2, -5, 105)]
    with sqlstate(TOO_FEW_LEGS):
        forge(shop.book, rows, into=posted.transaction_id)


# --- Deleting or editing a transaction, TRUNCATE --------------------------------------------------------------------


def test_deleting_a_transaction(shop: Shop) -> None:
    posted = shop.pay_in("in", shop.anna, 100)
    both_refuse("DELETE FROM ledger_transaction WHERE id = %s", [posted.transaction_id], IMMUTABLE)


@pytest.mark.parametrize(
    "change",
    ["idempotency_key = 'other'", "kind = 'other'", "posted_at = now()", "period_id = 1", "metadata = '{\"a\": 1}'"],
)
def test_editing_a_transaction(shop: Shop, change: str) -> None:
    posted = shop.pay_in("in", shop.anna, 100)
    both_refuse(f"UPDATE ledger_transaction SET {change} WHERE id = %s", [posted.transaction_id], IMMUTABLE)


@pytest.mark.parametrize("tables", ["ledger_entry", "ledger_transaction", "ledger_account", "ledger_account CASCADE"])
def test_truncate(shop: Shop, tables: str) -> None:
    both_refuse(f"TRUNCATE {tables}", [], IMMUTABLE)


# --- The same key with another body ---------------------------------------------------------------------------------


def test_same_key_with_another_body(shop: Shop) -> None:
    """The database compares with what it stored, so that not even a caller of the bare function passes another body."""
    bare_post(APP, shop.book, "k", [(shop.till, 7), (shop.anna, -7)])
    for alias in (APP, OWNER):
        with sqlstate("LG007"):
            bare_post(alias, shop.book, "k", [(shop.till, 8), (shop.anna, -8)])
    with sqlstate(UNIQUE_VIOLATION):
        run(OWNER, INSERT_TRANSACTION.replace("'empty'", "'k'"), [shop.book])


# --- A time earlier than the predecessor's --------------------------------------------------------------------------


def test_time_earlier_than_the_predecessor(shop: Shop) -> None:
    posted = shop.pay_in("in", shop.anna, 100)
    rows = [Row(shop.till, 2, 5, 105), Row(shop.anna, 2, -5, 105)]
    earlier = posted.posted_at - timedelta(microseconds=1)
    with sqlstate(DENIED):
        forge(shop.book, rows, posted_at=earlier, alias=APP)
    with sqlstate(TIME_REVERSED):
        forge(shop.book, rows, posted_at=earlier)
    with backdating():
        with sqlstate(TIME_REVERSED):
            forge(shop.book, rows, posted_at=earlier)
        forge(shop.book, rows, posted_at=posted.posted_at)


def test_a_clock_that_was_ahead_does_not_turn_time_back(shop: Shop) -> None:
    ahead = datetime.now(UTC) + timedelta(hours=1)
    forge(shop.book, till_and_anna(shop))
    run(OWNER, "ALTER TABLE ledger_account DISABLE TRIGGER ledger_account_explained")
    run(OWNER, "UPDATE ledger_account SET posted_at = %s WHERE id = %s", [ahead, shop.anna])
    run(OWNER, "ALTER TABLE ledger_account ENABLE ALWAYS TRIGGER ledger_account_explained")
    assert shop.pay_in("now", shop.anna, 1).posted_at == ahead
    legs = [Leg(shop.till, 1), Leg(shop.anna, -1)]
    chain = [Posting("held", "test", [Leg(shop.anna, 1), Leg(shop.bela, -1)])]
    with transaction.atomic():
        batch = posting.post_many(shop.book, [Posting("a", "test", legs), Posting("b", "test", legs)])
        undone = posting.reverse(shop.book, "undo", batch[0].transaction_id, {})
        holds.hold(shop.book, "h", chain, seconds=60)
        held = holds.post_hold(shop.book, "h")
    assert {posted.posted_at for posted in [*batch, undone, *held]} == {ahead}


# --- Two reversals --------------------------------------------------------------------------------------------------


def mirror(shop: Shop) -> list[Row]:
    """The mirror of a first posting of 100 from the till to Anna, as rows."""
    return [Row(shop.till, 2, -100, 0), Row(shop.anna, 2, 100, 0)]


def test_two_reversals(shop: Shop) -> None:
    posted = shop.pay_in("in", shop.anna, 100)
    shop.pay_in("more", shop.anna, 500)
    with transaction.atomic():
        posting.reverse(shop.book, "r1", posted.transaction_id, {})
    for alias in (APP, OWNER):
        with pytest.raises(errors.AlreadyReversed), transaction.atomic(using=alias):
            posting.reverse(shop.book, "r2", posted.transaction_id, {}, using=alias)
    with sqlstate(UNIQUE_VIOLATION):
        bare_post(APP, shop.book, "r3", [(shop.till, -100), (shop.anna, 100)], reverses=posted.transaction_id)
    with sqlstate(UNIQUE_VIOLATION):
        forge(shop.book, [], reverses=posted.transaction_id)


def test_a_reversal_by_hand_must_mirror(shop: Shop) -> None:
    posted = shop.pay_in("in", shop.anna, 100)
    with sqlstate(NOT_A_MIRROR):
        forge(shop.book, [Row(shop.till, 2, -99, 1), Row(shop.anna, 2, 99, 1)], reverses=posted.transaction_id)
    with sqlstate(NOT_A_MIRROR):
        bare_post(APP, shop.book, "r", [(shop.till, 100), (shop.anna, -100)], reverses=posted.transaction_id)
    forge(shop.book, mirror(shop), reverses=posted.transaction_id)


def test_a_reversal_of_a_reversal_or_of_nothing_by_hand(shop: Shop) -> None:
    posted = shop.pay_in("in", shop.anna, 100)
    reversal = forge(shop.book, mirror(shop), reverses=posted.transaction_id)
    again = [Row(shop.till, 3, 100, 100), Row(shop.anna, 3, -100, 100)]
    with sqlstate(REVERSAL_OF_REVERSAL):
        forge(shop.book, again, reverses=reversal)
    with sqlstate(UNKNOWN_TRANSACTION):
        forge(shop.book, again, reverses=2**62)


# --- Sums, chains, floors, books ------------------------------------------------------------------------------------


def test_legs_that_do_not_sum_to_zero(shop: Shop) -> None:
    with sqlstate(UNBALANCED):
        forge(shop.book, [Row(shop.till, 1, 5, 5), Row(shop.anna, 1, -4, 4)])


def test_commodities_that_only_sum_to_zero_together(shop: Shop) -> None:
    with sqlstate(UNBALANCED):
        forge(shop.book, [Row(shop.till, 1, 5, 5), Row(shop.stock, 1, -5, -5)])


@pytest.mark.parametrize(
    ("version", "after"),
    [(2, 5), (1, 6), (1, -5)],
    ids=["gap in the versions", "balance not previous plus amount", "wrong side"],
)
def test_entry_that_does_not_continue_its_chain(shop: Shop, version: int, after: int) -> None:
    with sqlstate(BROKEN_CHAIN):
        forge(shop.book, [Row(shop.till, version, 5, after), Row(shop.anna, 1, -5, 5)])


def test_entries_move_their_accounts(shop: Shop) -> None:
    """No account can lag behind its entries, no matter who inserts them."""
    rows = [*till_and_anna(shop), Row(shop.anna, 2, -2, 7), Row(shop.till, 2, 2, 7)]
    into = forge(shop.book, rows)
    [(posted_at,)] = run(APP, "SELECT posted_at FROM ledger_transaction WHERE id = %s", [into])
    assert run(APP, "SELECT balance, version, posted_at FROM ledger_account WHERE id = %s", [shop.anna]) == [
        (7, 2, posted_at)
    ]


def test_transactions_of_one_statement_are_judged_one_by_one(shop: Shop) -> None:
    """Together they would balance, and leave nothing below a floor."""
    in_turn = [Row(shop.till, 1, 5, 5), Row(shop.anna, 1, -4, 4)], [Row(shop.till, 2, -5, 0), Row(shop.anna, 2, 4, 0)]
    overdrawn = (
        [Row(shop.anna, 1, 5, -5), Row(shop.till, 1, -5, -5)],
        [Row(shop.anna, 2, -5, 0), Row(shop.till, 2, 5, 0)],
    )
    for (first, second), state in ((in_turn, UNBALANCED), (overdrawn, OVERDRAWN)):
        with sqlstate(state), transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
            one, two = forge_head(cursor, shop.book), forge_head(cursor, shop.book)
            write_entries(cursor, [(one, row) for row in first] + [(two, row) for row in second])


def test_entries_and_their_account_in_one_statement(shop: Shop) -> None:
    """Entries move the account; a hand that moves it as well is one too many."""
    with sqlstate(BROKEN_CHAIN), transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        into = forge_head(cursor, shop.book)
        cursor.execute(
            "WITH moved AS (UPDATE ledger_account SET balance = 6, version = 1 WHERE id = %(anna)s)"
            " INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after)"
            " VALUES (%(till)s, 1, %(into)s, 5, 5), (%(anna)s, 1, %(into)s, -5, 5)",
            {"anna": shop.anna, "till": shop.till, "into": into},
        )


@pytest.mark.parametrize(
    "change",
    ["balance = 101", "version = 2", "version = 0", "posted_at = clock_timestamp()", "balance = 0, version = 2"],
)
def test_a_balance_moves_only_with_its_entry(shop: Shop, change: str) -> None:
    shop.pay_in("in", shop.anna, 100)
    both_refuse(f"UPDATE ledger_account SET {change} WHERE id = %s", [shop.anna], BROKEN_CHAIN)


@pytest.mark.parametrize(
    "change",
    [
        "id = -1", "book = gen_random_uuid()", "code = 'other'", "kind = 'asset'", "commodity = 'HUF'",
        "normal_side = -normal_side", "min_balance = -1000", "lock_rank = 99", "opened_at = now()", "weight = 1",
        "lanes = 1", "parent_id = 1",
    ],
)  # fmt: skip
def test_what_an_account_is_never_changes(shop: Shop, change: str) -> None:
    both_refuse(f"UPDATE ledger_account SET {change} WHERE id = %s", [shop.anna], IMMUTABLE)


def test_account_deleted(shop: Shop) -> None:
    both_refuse("DELETE FROM ledger_account WHERE id = %s", [shop.anna], IMMUTABLE)


@pytest.mark.parametrize("born_with", [(100, 0, 0), (0, 1, 0), (0, 0, 1)], ids=["balance", "version", "held"])
def test_account_born_with_something(shop: Shop, born_with: tuple[int, int, int]) -> None:
    sql = (
        "INSERT INTO ledger_account (book, code, kind, commodity, normal_side, balance, version, held, lock_rank,"
        " weight, lanes, opened_at) VALUES (%s, 'rich', 'asset', 'EUR', 1, %s, %s, %s, 0, 0, 0, now())"
    )
    both_refuse(sql, [shop.book, *born_with], IMMUTABLE)


def test_floor(shop: Shop) -> None:
    with sqlstate(CHECK_VIOLATION):
        forge(shop.book, [Row(shop.till, 1, -5, -5), Row(shop.anna, 1, 5, -5)])


def test_closed_account_takes_no_entry_and_stays_closed(shop: Shop) -> None:
    run(APP, "SELECT ledger_close_account(%s, %s)", [shop.book, shop.anna])
    wash = [Row(shop.anna, 1, -5, 5), Row(shop.anna, 2, 5, 0), Row(shop.till, 1, 5, 5), Row(shop.till, 2, -5, 0)]
    with sqlstate(CLOSED):
        forge(shop.book, wash)
    both_refuse("UPDATE ledger_account SET closed_at = NULL WHERE id = %s", [shop.anna], IMMUTABLE)


@pytest.mark.parametrize("field", ["idempotency_key", "kind"])
def test_transaction_without_a_name(shop: Shop, field: str) -> None:
    with sqlstate(CHECK_VIOLATION), transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        values = {"idempotency_key": "k", "kind": "k"} | {field: ""}
        cursor.execute(
            "INSERT INTO ledger_transaction (book, idempotency_key, kind, posted_at, metadata)"
            " VALUES (%s, %s, %s, now(), '{}') RETURNING id",
            [shop.book, values["idempotency_key"], values["kind"]],
        )
        into = int(cursor.fetchone()[0])
        write_entries(cursor, [(into, row) for row in till_and_anna(shop)])


@pytest.mark.parametrize(
    "change", [{"code": ""}, {"kind": ""}, {"commodity": ""}, {"normal_side": 0}, {"normal_side": 2}], ids=str
)
def test_account_that_makes_no_sense(shop: Shop, change: dict[str, object]) -> None:
    row = {"code": "x", "kind": "x", "commodity": "EUR", "normal_side": 1} | change
    both_refuse(
        "INSERT INTO ledger_account (book, code, kind, commodity, normal_side, balance, version, held, lock_rank,"
        " weight, lanes, opened_at) VALUES (%s, %s, %s, %s, %s, 0, 0, 0, 0, 0, 0, now())",
        [shop.book, *row.values()],
        INVALID,
    )


def test_closing_an_account_that_holds_something(shop: Shop) -> None:
    shop.pay_in("in", shop.anna, 1)
    both_refuse("UPDATE ledger_account SET closed_at = now() WHERE id = %s", [shop.anna], NOT_EMPTY)


def test_entries_across_books_or_of_nothing(shop: Shop) -> None:
    other = open_shop()
    with sqlstate(UNKNOWN_ACCOUNT):
        forge(shop.book, [Row(shop.till, 1, 5, 5), Row(other.anna, 1, -5, 5)])
    with sqlstate(UNKNOWN_TRANSACTION):
        forge(shop.book, till_and_anna(shop), into=2**62)


# --- Getting round the triggers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("what", ["DISABLE TRIGGER ALL", "DISABLE TRIGGER USER", "OWNER TO CURRENT_USER"])
def test_application_cannot_change_the_tables(shop: Shop, table: str, what: str) -> None:
    with sqlstate(DENIED):
        run(APP, f"ALTER TABLE {table} {what}")


def test_application_cannot_drop_or_replace_a_guard(shop: Shop) -> None:
    for sql in (
        "DROP TRIGGER ledger_entry_fixed ON ledger_entry",
        "CREATE OR REPLACE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "SET LOCAL session_replication_role = replica",
    ):
        with sqlstate(DENIED):
            run(APP, sql)


def test_replica_mode_does_not_silence_the_guards(shop: Shop) -> None:
    """Ordinary triggers and foreign keys would sleep in this mode; a plain owner may not even enter it."""
    shop.pay_in("in", shop.anna, 100)
    silence = "SET LOCAL session_replication_role = replica"
    delete = "DELETE FROM ledger_entry WHERE account_id = %s"
    with (
        pytest.raises(DatabaseError) as caught,
        transaction.atomic(using=OWNER),
        connections[OWNER].cursor() as cursor,
    ):
        cursor.execute(silence)
        cursor.execute(delete, [shop.anna])
    assert getattr(caught.value.__cause__, "sqlstate", None) in (IMMUTABLE, DENIED)


def test_every_guard_always_fires(live_db: None) -> None:
    rows = run(
        OWNER,
        "SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger"
        " WHERE NOT tgisinternal AND tgrelid = ANY (%s::regclass[])",
        [list(TABLES)],
    )
    assert len(rows) == len({name for _, name, _ in rows}) >= 30
    assert {table for table, _, _ in rows} == set(TABLES)
    assert {enabled for _, _, enabled in rows} == {"A"}


@pytest.mark.parametrize("table", TABLES)
def test_every_table_refuses_update_delete_and_truncate(live_db: None, table: str) -> None:
    """Each has a guard for each, so that none was forgotten; what they refuse is tested one by one."""
    for name, bit in (("delete", 8), ("update", 16), ("truncate", 32)):
        found = run(
            OWNER, "SELECT count(*) FROM pg_trigger WHERE tgrelid = %s::regclass AND tgtype & %s > 0", [table, bit]
        )
        assert found > [(0,)], name
