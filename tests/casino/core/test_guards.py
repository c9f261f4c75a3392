"""Triggers that keep what was written: all of them known, and none switched off unnoticed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connections

from casino.core import guards, heartbeat, sql
from casino.core.heartbeat import Part
from casino.reports.verifying import verification
from casino.verification import auditing
from tests.casino.kit import Kit

#: Tables that may be emptied: sessions and passkeys, which end by being deleted, and by the beginning of their names
#: the lock of sign-ins and what Django keeps for itself. What passkeys there must be the verifier knows.
EMPTIED = ("staff_terminaltoken", "staff_passkey", "auth_", "axes_", "django_")
#: Tables whose guard against TRUNCATE fires for everybody, in replica mode too.
_KEPT = """
SELECT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND t.tgenabled = 'A' AND t.tgtype & 32 > 0 AND c.relnamespace = 'public'::regnamespace
"""


def run(statement: str) -> None:
    """As the owner, committed."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement)


def definitions(table: str) -> list[str]:
    """Statements that make the triggers of a table."""
    found = sql.rows(
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = %s::regclass", [table]
    )
    return [statement for (statement,) in found]


@contextmanager
def guards_changed(table: str, change: str) -> Iterator[None]:
    """A table whose triggers somebody has changed, put right afterwards."""
    made = definitions(table)
    try:
        run(change)
        yield
    finally:
        run(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        for statement in set(made) - set(definitions(table)):
            run(statement)
        for name in (name for guarded, name in guards.wanted() if guarded == table):
            run(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")


def test_no_table_of_the_house_or_the_ledger_is_truncated(live_db: None) -> None:
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    guarded = {table for table, _, _ in sql.rows(guards.THERE, [])}
    emptied = {table for table in tables if table.startswith(EMPTIED)}
    assert not emptied & guarded
    assert {"houses_house", "ledger_entry", "hands_hand", "transfers_transfer"} <= tables
    assert (tables | guarded) - emptied == {table for (table,) in sql.rows(_KEPT, [])}


def alive() -> None:
    """Whatever came before may have taken longer than a sign of life lasts."""
    heartbeat.live(Part.BEAT)
    heartbeat.live(Part.WORKER)


# "one" is as "all of a table", "replica only" as "not always".
@pytest.mark.some_now(2)
@pytest.mark.usefixtures("all_running")
@pytest.mark.parametrize(
    ("table", "change", "off", "problem"),
    [
        ("audit_event", "DISABLE TRIGGER USER", ["no_change", "no_truncate"], "it is disabled"),
        ("ledger_entry", "DISABLE TRIGGER ledger_entry_fixed", ["fixed"], "it is disabled"),
        ("hands_hand", "ENABLE TRIGGER hands_hand_cards_stay", ["cards_stay"], "sleeps in replica mode"),
        ("audit_log", "ENABLE REPLICA TRIGGER audit_log_no_delete", ["no_delete"], "in replica mode only"),
        ("audit_leaf", "DROP", ["no_truncate"], "it is missing"),
    ],
    ids=["all of a table", "one", "not always", "replica only", "dropped"],
)
def test_a_guard_that_is_off_is_named(
    kit: Kit,
    table: str,
    change: str,
    off: list[str],
    problem: str,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit.sequence()
    statement = f"ALTER TABLE {table} {change}" if change != "DROP" else f"DROP TRIGGER {table}_no_truncate ON {table}"
    places = [f"table {table}, trigger {table}_{name}" for name in off]
    with guards_changed(table, statement):
        found = auditing.verify_house(kit.house).findings
        objects = [f"trigger {table}.{table}_{name}" for name in off]
        assert [(one.code, one.place) for one in found] == [("catalogue_differs", name) for name in objects]
        answer = verification(kit.house)
        assert not answer["ok"] and [one["place"] for one in answer["audit_findings"]] == objects
        with pytest.raises(CommandError, match="findings"):
            call_command("verify_audit", kit.house.code)
        assert f"{table}_{off[0]}" in capsys.readouterr().out
        alive()
        ready = kit.http(None).get("/readyz")
        assert (ready.status_code, ready.json()["failed"]) == (503, [{"check": "guards", "code": "guards_off"}])
        assert not any(name in ready.text for name in (table, *off))
        assert all(place in caplog.text for place in places)
    assert auditing.verify_house(kit.house).findings == [] and verification(kit.house)["ok"]
    alive()
    assert kit.http(None).get("/readyz").status_code == 200


@pytest.mark.parametrize("table", ["tables_seatkey", "transfers_transfer", "transfers_box", "hands_deal"])
def test_the_owner_truncates_none_of_them(live_db: None, table: str) -> None:
    with pytest.raises(DatabaseError, match="append-only: TRUNCATE is refused"):
        run(f"TRUNCATE {table} CASCADE")
