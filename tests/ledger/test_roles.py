"""What the application's role may do with the ledger: read it and call its functions, nothing else."""

import pytest
from django.conf import settings
from django.db import connections

from ledger.roles import app_role, ensure_app_role
from tests.ledger.support import APP, DENIED, OWNER, Shop, run, sqlstate

TABLES = ["ledger_account", "ledger_entry", "ledger_transaction"]
CALLABLE = {
    "ledger_post", "ledger_reverse", "ledger_open_accounts", "ledger_close_account", "ledger_version_at",
    "ledger_is_mirror",
}  # fmt: skip


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


def test_rights_on_functions(live_db: None) -> None:
    rows = run(
        OWNER,
        "SELECT proname, has_function_privilege(%s, oid, 'EXECUTE'), has_function_privilege('public', oid, 'EXECUTE')"
        " FROM pg_proc WHERE proname LIKE 'ledger\\_%%'",
        [app_role()],
    )
    assert {name for name, application, _ in rows if application} == CALLABLE
    assert not [name for name, _, public in rows if public]


def test_every_function_fixes_its_search_path(live_db: None) -> None:
    """Otherwise a caller's own `ledger_account` could stand in for the real one."""
    rows = run(OWNER, "SELECT proname, proconfig FROM pg_proc WHERE proname LIKE 'ledger\\_%%'")
    assert len(rows) >= 13
    for name, config in rows:
        assert any(item.startswith("search_path=") and item.endswith("pg_temp") for item in config), name


def test_plans_never_scan_a_whole_table(live_db: None) -> None:
    """A plan cached while the tables were small must not go on scanning them when they have grown."""
    hot = [*CALLABLE, "ledger_stored", "ledger_account_guard", "ledger_entry_guard", "ledger_transaction_guard"]
    rows = run(OWNER, "SELECT proname FROM pg_proc WHERE 'enable_seqscan=off' = ANY (proconfig)")
    assert {name for (name,) in rows} == set(hot)


def test_a_temporary_table_of_the_caller_changes_nothing(shop: Shop) -> None:
    with sqlstate("LG006"):
        run(
            APP,
            "CREATE TEMP TABLE ledger_account (LIKE public.ledger_account) ON COMMIT DROP;"
            "SELECT * FROM ledger_post(gen_random_uuid(), 'k', 'test', '{1,2}', '{1,-1}', '{}', NULL)",
        )


@pytest.mark.parametrize(
    "function", ["ledger_stored(gen_random_uuid(), 'k', '')", "ledger_explain_posting(NULL, NULL, NULL)"]
)
def test_inner_functions_are_out_of_reach(live_db: None, function: str) -> None:
    with sqlstate(DENIED):
        run(APP, f"SELECT {function}")


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
