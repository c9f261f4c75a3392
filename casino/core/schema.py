"""Migration operations that PostgreSQL itself keeps: what the application's role may do, and rows nobody may change."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from ledger.roles import ensure_app_role, ensure_role

REFUSE_CHANGE = """
CREATE FUNCTION house_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'KZ900', HINT = 'Corrections are new rows.';
END $$;
"""


def _quote(schema_editor: BaseDatabaseSchemaEditor, name: str) -> str:
    return schema_editor.connection.ops.quote_name(name)


def create_app_role() -> migrations.RunPython:
    """Make sure the application's role exists; it owns nothing and gets only what `grant` gives."""

    def forwards(_apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        role = ensure_app_role(schema_editor)
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(f"GRANT USAGE ON SCHEMA public TO {role}")

    return migrations.RunPython(forwards, migrations.RunPython.noop)


def create_sequencer_role() -> migrations.RunPython:
    """Make sure the sequencer's role exists (`settings.CASINO_SEQUENCER_ROLE`); it gets only what is granted to it."""

    def forwards(_apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        role = ensure_role(schema_editor, settings.CASINO_SEQUENCER_ROLE)
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(f"GRANT USAGE ON SCHEMA public TO {role}")

    return migrations.RunPython(forwards, migrations.RunPython.noop)


def grant(*rights: tuple[str, str], role: str = "CASINO_APP_ROLE") -> migrations.RunPython:
    """Grant the application's role, table by table: `grant(("house_house", "SELECT"))`. Nothing else is granted.

    `role` is the setting that names another role.
    """

    def forwards(_apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        name = _quote(schema_editor, getattr(settings, role))
        with schema_editor.connection.cursor() as cursor:
            for table, privileges in rights:
                cursor.execute(f"GRANT {privileges} ON {_quote(schema_editor, table)} TO {name}")

    return migrations.RunPython(forwards, migrations.RunPython.noop)


def grant_execute(*functions: str, role: str = "CASINO_APP_ROLE") -> migrations.RunPython:
    """Let the role that the setting `role` names run functions, each named with the types of its parameters."""

    def forwards(_apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        name = _quote(schema_editor, getattr(settings, role))
        with schema_editor.connection.cursor() as cursor:
            for function in functions:
                cursor.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {name}")

    return migrations.RunPython(forwards, migrations.RunPython.noop)


def revoke_execute(*functions: str) -> migrations.RunPython:
    """Take from the application's role the right to run functions, each named with the types of its parameters."""

    def change(schema_editor: BaseDatabaseSchemaEditor, statement: str) -> None:
        name = _quote(schema_editor, settings.CASINO_APP_ROLE)
        with schema_editor.connection.cursor() as cursor:
            for function in functions:
                cursor.execute(statement.format(function=function, role=name))

    return migrations.RunPython(
        lambda _apps, editor: change(editor, "REVOKE EXECUTE ON FUNCTION {function} FROM {role}"),
        lambda _apps, editor: change(editor, "GRANT EXECUTE ON FUNCTION {function} TO {role}"),
    )


def never_truncated(tables: Iterable[str]) -> migrations.RunSQL:
    """Refuse TRUNCATE on these tables, for everybody and in replica mode too."""
    forwards = "".join(
        f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION house_refuse_change();"
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_truncate;"
        for table in tables
    )
    return migrations.RunSQL(forwards, "".join(f"DROP TRIGGER {table}_no_truncate ON {table};" for table in tables))


def never_deleted(tables: Iterable[str]) -> migrations.RunSQL:
    """Refuse DELETE and TRUNCATE on these tables, for everybody and in replica mode too; rows may be updated."""
    forwards = "".join(
        f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION house_refuse_change();"
        f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION house_refuse_change();"
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_delete;"
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_truncate;"
        for table in tables
    )
    backwards = "".join(
        f"DROP TRIGGER {table}_no_delete ON {table}; DROP TRIGGER {table}_no_truncate ON {table};" for table in tables
    )
    return migrations.RunSQL(forwards, backwards)


def append_only(tables: Iterable[str]) -> migrations.RunSQL:
    """Refuse UPDATE, DELETE and TRUNCATE on these tables, for everybody and in replica mode too."""
    forwards = "".join(
        f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION house_refuse_change();"
        f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION house_refuse_change();"
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_change;"
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_truncate;"
        for table in tables
    )
    backwards = "".join(
        f"DROP TRIGGER {table}_no_change ON {table}; DROP TRIGGER {table}_no_truncate ON {table};" for table in tables
    )
    return migrations.RunSQL(forwards, backwards)
