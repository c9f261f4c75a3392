"""What the application's role may do with the ledger: read it and call its functions, nothing else."""

import pytest
from django.conf import settings
from django.db import connections, transaction

from ledger import posting
from ledger.posting import Leg
from ledger.roles import app_role, ensure_app_role
from tests.ledger.support import APP, DENIED, OWNER, TABLES, Shop, run, sqlstate

CALLABLE = {
    "ledger_post", "ledger_post_one", "ledger_reverse", "ledger_open_accounts", "ledger_close_account",
    "ledger_version_at", "ledger_is_mirror", "ledger_hold_chain", "ledger_post_hold", "ledger_void_hold",
    "ledger_expire_holds", "ledger_open_period", "ledger_close_period", "ledger_take_snapshot",
    "ledger_assert_balance", "ledger_seals_due",
}  # fmt: skip
INLINE = {"ledger_first_laned", "ledger_seal_of", "ledger_bytes"}
"""One expression each, written into the queries that call them."""
FUNCTIONS = "FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname LIKE 'ledger\\_%%'"


def test_the_application_runs_as_its_own_role(live_db: None) -> None:
    assert run(APP, "SELECT current_user") == [(app_role(),)]
    flags = run(APP, "SELECT rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user")
    assert flags == [(False, False, False)]


@pytest.mark.parametrize("table", TABLES)
def test_rights_on_tables(live_db: None, table: str) -> None:
    rights = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
    held = [
        right
        for right in rights
        if run(OWNER, "SELECT has_table_privilege(%s, %s, %s)", [app_role(), table, right])[0][0]
    ]
    assert held == ["SELECT"]
    assert run(OWNER, "SELECT tableowner = %s FROM pg_tables WHERE tablename = %s", [app_role(), table]) == [(False,)]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "sql",
    ["INSERT INTO {} DEFAULT VALUES", "UPDATE {} SET id = id", "DELETE FROM {}", "TRUNCATE {}", "DROP TABLE {}",
     "LOCK {} IN ACCESS EXCLUSIVE MODE", "CREATE TRIGGER t BEFORE INSERT ON {} EXECUTE FUNCTION ledger_refuse()"],
)  # fmt: skip
def test_the_application_writes_nothing_by_itself(live_db: None, table: str, sql: str) -> None:
    if "SET id" in sql and table in ("ledger_entry", "ledger_reserve", "ledger_snapshot_line"):
        sql = "UPDATE {} SET account_id = account_id"
    elif "SET id" in sql and table == "ledger_claim":
        sql = "UPDATE {} SET hold_id = hold_id"
    with sqlstate(DENIED):
        run(APP, sql.format(table))


def test_the_application_owns_nothing_and_creates_nothing(live_db: None) -> None:
    owned = "SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = %s"
    assert run(OWNER, owned, [app_role()]) == [(0,)]
    assert run(OWNER, f"SELECT count(*) {FUNCTIONS} AND pg_get_userbyid(proowner) = %s", [app_role()]) == [(0,)]
    for sql in (
        "CREATE TABLE public.ledger_mine (id int)",
        "CREATE FUNCTION public.ledger_mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE VIEW public.ledger_mine AS SELECT 1",
    ):
        with sqlstate(DENIED):
            run(APP, sql)


def test_rights_on_functions(live_db: None) -> None:
    rows = run(
        OWNER,
        "SELECT proname, has_function_privilege(%s, oid, 'EXECUTE'), has_function_privilege('public', oid, 'EXECUTE')"
        f" {FUNCTIONS}",
        [app_role()],
    )
    assert {name for name, application, _ in rows if application} == CALLABLE
    assert not [name for name, _, public in rows if public]


def test_functions_that_the_application_calls_run_as_their_owner(live_db: None) -> None:
    """All that write; the rest need no rights but the caller's."""
    rows = run(OWNER, f"SELECT proname, prosecdef {FUNCTIONS}")
    assert {name for name, definer in rows if definer} == CALLABLE - {"ledger_version_at", "ledger_is_mirror"}


def test_every_function_fixes_its_search_path(live_db: None) -> None:
    """Otherwise a caller's own `ledger_account` could stand in for the real one."""
    rows = dict(run(OWNER, f"SELECT proname, coalesce(proconfig, '{{}}') {FUNCTIONS}"))
    assert len(rows) >= 30
    for name in rows.keys() - INLINE:
        assert any(item.startswith("search_path=") and item.endswith("pg_temp") for item in rows[name]), name
    assert not INLINE & CALLABLE


def test_plans_never_scan_a_whole_table(live_db: None) -> None:
    """A plan cached while the tables were small must not go on scanning them when they have grown.

    Functions that read no table, or only to put an error into words, may do as they like.
    """
    calm = {"ledger_refuse", "ledger_refuse_unexplained", "ledger_refuse_overdraft", "ledger_refuse_hold",
            "ledger_explain_entry", "ledger_explain_posting", "ledger_check_batch", "ledger_check_postings",
            "ledger_make_durable", "ledger_need_read_committed", "ledger_seal_end", "ledger_seals_due"}  # fmt: skip
    rows = run(OWNER, f"SELECT proname, 'enable_seqscan=off' = ANY (coalesce(proconfig, '{{}}')) {FUNCTIONS}")
    assert {name for name, never in rows if not never} == calm | INLINE


def test_a_temporary_table_of_the_caller_changes_nothing(shop: Shop) -> None:
    """Nor does one that carries the name of what an inner function reads."""
    legs = [Leg(shop.till, 5), Leg(shop.anna, -5)]
    with transaction.atomic():
        with connections[APP].cursor() as cursor:
            for table in TABLES:
                cursor.execute(f"CREATE TEMP TABLE {table} (LIKE public.{table}) ON COMMIT DROP")
        posted = posting.post(shop.book, "k", "test", legs, {})
        with connections[APP].cursor() as cursor:
            cursor.execute("SELECT count(*) FROM ledger_transaction")
            assert cursor.fetchone() == (0,)
    assert run(APP, "SELECT book FROM ledger_transaction WHERE id = %s", [posted.transaction_id]) == [(shop.book,)]


def test_inner_functions_are_out_of_reach(live_db: None) -> None:
    takes = "SELECT proname, proargtypes::regtype[]::text[]"
    rows = run(OWNER, f"{takes} {FUNCTIONS} AND prorettype <> 'trigger'::regtype")
    inner = [(name, types) for name, types in rows if name not in CALLABLE]
    assert len(inner) > 12
    for name, types in inner:
        with sqlstate(DENIED):
            run(APP, f"SELECT {name}({', '.join(f'NULL::{kind}' for kind in types)})")


@pytest.mark.parametrize("function", sorted(CALLABLE))
def test_the_application_changes_no_function(live_db: None, function: str) -> None:
    for sql in ("ALTER FUNCTION {} SECURITY INVOKER", "ALTER FUNCTION {} RESET search_path", "DROP FUNCTION {}"):
        with sqlstate(DENIED):
            run(APP, sql.format(function))


def test_creating_the_role_again_changes_nothing(live_db: None) -> None:
    with connections[OWNER].schema_editor() as editor:
        assert ensure_app_role(editor).strip('"') == app_role()
    assert run(OWNER, "SELECT count(*) FROM pg_roles WHERE rolname = %s", [app_role()]) == [(1,)]


def test_another_role_name_is_created_as_asked(live_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    name = 'ledger test\'s "role"'
    monkeypatch.setattr(settings, "LEDGER_APP_ROLE", name)
    try:
        with connections[OWNER].schema_editor() as editor:
            assert ensure_app_role(editor) == '"ledger test\'s ""role"""'
        flags = run(OWNER, "SELECT rolcanlogin, rolsuper FROM pg_roles WHERE rolname = %s", [name])
        assert flags == [(False, False)]
    finally:
        run(OWNER, 'DROP ROLE IF EXISTS "ledger test\'s ""role"""')
