"""Triggers and rights: what the apps declare is what the database has, and nothing else."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connections, transaction

from casino.core import protection, sql
from casino.core.protection import Function, Protection, Rights, Table, Trigger
from casino.core.schema import protect

#: Table, definition and state of every trigger.
TRIGGERS = """
SELECT c.relname, t.tgname, pg_get_triggerdef(t.oid), t.tgenabled::text
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace
"""
#: Every right on a table, view or sequence that anybody but its owner has.
GRANTS = """
SELECT c.relname, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
    a.privilege_type, a.is_grantable
FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
WHERE c.relnamespace = 'public'::regnamespace AND a.grantee <> c.relowner
"""
COLUMN_GRANTS = """
SELECT c.relname, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
    a.privilege_type || ' ' || t.attname, a.is_grantable
FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid CROSS JOIN LATERAL aclexplode(t.attacl) a
WHERE c.relnamespace = 'public'::regnamespace AND a.grantee <> c.relowner
"""
#: Every function, and who but its owner may execute it; no row of `proacl` at all means everybody.
FUNCTIONS = """
SELECT p.oid::regprocedure::text, ARRAY(
    SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
    FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee <> p.proowner ORDER BY 1)
FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
"""
#: The ledger makes its own functions; its own checks compare them.
LEDGER = "ledger_"


def tables() -> Iterator[Table]:
    """Every declared table."""
    yield from protection.declared().tables


def roles() -> dict[str, str]:
    """The role that a field of a declaration is about."""
    return {"app": settings.CASINO_APP_ROLE, "sequencer": settings.CASINO_SEQUENCER_ROLE}


def declared_grants() -> set[tuple[str, str, str]]:
    """Table, role and privilege, as `GRANTS` and `COLUMN_GRANTS` have them."""
    found = set()
    for table in tables():
        for field, role in roles().items():
            rights: Rights | None = getattr(table, field)
            if rights is not None:
                found |= {(table.name, role, privilege) for privilege in rights.privileges()}
                found |= {(table.name, role, f"UPDATE {column}") for column in rights.columns()}
    return found


def test_the_database_has_the_declared_triggers_and_no_other(live_db: None) -> None:
    there = {(table, name): state for table, name, _, state in sql.rows(TRIGGERS, [])}
    assert set(there) == {(table.name, name) for table in tables() for name in table.guards()}
    assert set(there.values()) == {"A"}


def test_each_trigger_does_what_its_declaration_says(live_db: None) -> None:
    definitions = {(table, name): text for table, name, text, _ in sql.rows(TRIGGERS, [])}
    made = [(table.name, trigger) for table in tables() for trigger in table.made()]
    assert len(made) > 50
    for table, trigger in made:
        found = definitions[table, f"{table}_{trigger.name}"]
        before, events = trigger.when.split(" ", 1)
        # PostgreSQL names the events in an order of its own.
        said = found.split(f"{table}_{trigger.name} ", 1)[1].split(" ON ")[0]
        assert said.split(" ", 1)[0] == before
        assert set(said.split(" ", 1)[1].split(" OR ")) == set(events.split(" OR ")), found
        assert found.endswith(f"FOR EACH {trigger.each} EXECUTE FUNCTION {trigger.function}()"), found
        assert ("DEFERRABLE INITIALLY DEFERRED" in found) == trigger.deferred


def test_the_roles_have_the_declared_rights_and_nobody_any_other(live_db: None) -> None:
    there = [*sql.rows(GRANTS, []), *sql.rows(COLUMN_GRANTS, [])]
    assert not [row for row in there if row[3]], "rights that may be passed on"
    assert {tuple(row[:3]) for row in there} == declared_grants()


def test_functions_are_executed_by_the_declared_roles_only(live_db: None) -> None:
    there = {name: set(who) for name, who in sql.rows(FUNCTIONS, []) if not name.startswith(LEDGER)}
    wanted: dict[str, set[str]] = {}
    for function in protection.declared().functions:
        ((name,),) = sql.rows("SELECT %s::regprocedure::text", [function.signature])
        wanted[name] = {role for field, role in roles().items() if getattr(function, field)}
    assert there == wanted


def test_nobody_but_the_owner_executes_a_function_of_the_ledger_by_default(live_db: None) -> None:
    everybody = [name for name, who in sql.rows(FUNCTIONS, []) if "PUBLIC" in who]
    assert everybody == []


def test_every_table_of_an_app_is_declared_by_it(live_db: None) -> None:
    models = defaultdict(set)
    for model in apps.get_models(include_auto_created=True):
        if model.__module__.startswith("casino."):
            models[model._meta.app_label].add(model._meta.db_table)
    assert len(models) == 16
    for app, names in models.items():
        assert names <= {table.name for table in protection.of(app).tables}, app


def test_the_ledger_knows_which_triggers_on_its_tables_are_not_its_own() -> None:
    others = [f"{table.name}.{name}" for table in tables() if table.name.startswith(LEDGER) and not table.own_triggers
              for name in table.guards()]  # fmt: skip
    assert others == settings.LEDGER_OTHER_TRIGGERS


@pytest.mark.parametrize("field", ["app", "sequencer"])
def test_a_role_gets_its_rights_on_a_table_from_one_declaration(field: str) -> None:
    given = [table.name for table in tables() if getattr(table, field) is not None]
    assert given and len(given) == len(set(given))


def test_a_declaration_is_carried_out_exactly(live_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rights that were granted before and are not declared go; a column may stand alone; a second run is the same."""
    declared = Protection(
        tables=(
            Table(
                name="protected",
                triggers=(Trigger("stays", "BEFORE UPDATE OR DELETE", "houses_refuse_change"),),
                app=Rights(insert=True, update=("b",)),
            ),
            Table(name="not_there_yet", app=Rights()),
        ),
        functions=(Function(signature="protected_one()", sequencer=True), Function(signature="not_there()", app=True)),
    )
    monkeypatch.setattr(protection, "of", lambda app: declared)
    app, sequencer = roles().values()
    made: dict[str, Any] = {}
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("CREATE TABLE protected (a int, b int)")
        cursor.execute("CREATE FUNCTION protected_one() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        cursor.execute(f"GRANT ALL ON protected TO {app}; GRANT EXECUTE ON FUNCTION protected_one() TO {app}")
        with connections["owner"].schema_editor() as editor:
            for _ in range(2):
                protect("x").code(None, editor)
        for name, query in (("grants", GRANTS), ("columns", COLUMN_GRANTS), ("triggers", TRIGGERS)):
            cursor.execute(query)
            made[name] = [row for row in cursor.fetchall() if row[0] == "protected"]
        cursor.execute(FUNCTIONS)
        made["functions"] = [row for row in cursor.fetchall() if row[0] == "protected_one()"]
        transaction.set_rollback(True, using="owner")
    assert sorted(row[1:3] for row in made["grants"]) == [(app, "INSERT"), (app, "SELECT")]
    assert [row[1:3] for row in made["columns"]] == [(app, "UPDATE b")]
    assert [(row[1], row[3]) for row in made["triggers"]] == [("protected_stays", "A")]
    assert made["functions"] == [("protected_one()", [sequencer])]
