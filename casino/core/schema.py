"""Migration operations: an app's SQL files, and the triggers and rights that it declares (`casino/core/protection.py`).

Each may run again: a later migration that changes a function or a declaration calls the same operation. Nothing here is
undone by migrating backwards; the books of a house are not taken apart.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from casino.core import protection
from casino.core.protection import Function, Rights, Table
from ledger.roles import ensure_role

_CASINO = Path(__file__).resolve().parent.parent


def create_roles() -> migrations.RunPython:
    """Make sure that the application's and the sequencer's role exist; they own nothing and get what is declared."""

    def forwards(_apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
        for role in (settings.CASINO_APP_ROLE, settings.CASINO_SEQUENCER_ROLE):
            editor.execute(f"GRANT USAGE ON SCHEMA public TO {ensure_role(editor, role)}", params=None)

    return migrations.RunPython(forwards)


def install(app: str, folder: str = "sql") -> migrations.RunPython:
    """Run the SQL files of an app, `casino/APP/sql/*.sql`: its functions and views, each of them once."""

    def forwards(_apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
        for file in sorted((_CASINO / app / folder).glob("*.sql")):
            editor.execute(file.read_text(encoding="utf-8"), params=None)

    return migrations.RunPython(forwards)


def protect(app: str) -> migrations.RunPython:
    """Make the triggers and rights that an app declares.

    Tables and functions that do not exist yet are left to the migration that makes them, which calls this again.
    """

    def forwards(_apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
        found = protection.of(app)
        for table in found.tables:
            if _exists(editor, "to_regclass", table.name):
                _run(editor, _table(editor, table))
        for function in found.functions:
            if _exists(editor, "to_regprocedure", function.signature):
                _run(editor, _function(editor, function))

    return migrations.RunPython(forwards)


def _exists(editor: BaseDatabaseSchemaEditor, lookup: str, name: str) -> bool:
    with editor.connection.cursor() as cursor:
        cursor.execute(f"SELECT {lookup}(%s) IS NOT NULL", [name])
        found: bool = cursor.fetchone()[0]
    return found


def _run(editor: BaseDatabaseSchemaEditor, statements: Iterator[str]) -> None:
    for statement in statements:
        editor.execute(statement, params=None)


def _roles(editor: BaseDatabaseSchemaEditor) -> tuple[str, str]:
    quote = editor.connection.ops.quote_name
    return quote(settings.CASINO_APP_ROLE), quote(settings.CASINO_SEQUENCER_ROLE)


def _table(editor: BaseDatabaseSchemaEditor, table: Table) -> Iterator[str]:
    """Triggers and exactly the declared rights; earlier grants are revoked."""
    for trigger in table.made():
        yield from trigger.statements(table.name)
    given: tuple[Rights | None, Rights | None] = (table.app, table.sequencer)
    for role, rights in zip(_roles(editor), given, strict=True):
        if rights is not None:
            yield f"REVOKE ALL ON {table.name} FROM {role}"
            yield from rights.statements(table.name, role)


def _function(editor: BaseDatabaseSchemaEditor, function: Function) -> Iterator[str]:
    yield f"REVOKE ALL ON FUNCTION {function.signature} FROM PUBLIC"
    for role, may in zip(_roles(editor), (function.app, function.sequencer), strict=True):
        grant, to = ("GRANT", "TO") if may else ("REVOKE", "FROM")
        yield f"{grant} EXECUTE ON FUNCTION {function.signature} {to} {role}"
