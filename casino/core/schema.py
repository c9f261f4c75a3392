"""Migration operations: an app's SQL files, and the triggers and rights that it declares (`casino/core/protection.py`).

Each may run again: a later migration that changes a function or a declaration calls the same operation. Nothing here is
undone by migrating backwards; the books of a house are not taken apart.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation

from casino.core import migrating, protection
from casino.core.protection import Function, Rights, Table
from ledger.roles import ensure_role

_CASINO = Path(__file__).resolve().parent.parent


def create_roles() -> migrations.RunPython:
    """Make sure that the application's and the sequencer's role exist; they own nothing and get what is declared."""

    def forwards(_apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
        for role in (settings.CASINO_APP_ROLE, settings.CASINO_SEQUENCER_ROLE):
            editor.execute(f"GRANT USAGE ON SCHEMA public TO {ensure_role(editor, role)}", params=None)

    return migrations.RunPython(forwards)


Changed = TypeVar("Changed", bound=Operation)


class Install(migrations.RunPython):
    """What `install` makes: its statements may be looked at without a database."""


class Protect(migrations.RunPython):
    """What `protect` makes; `tables` are those that it is limited to, all of the app's if there are none."""

    tables: tuple[str, ...] = ()


def on_purpose(operation: Changed, code: str, reason: str) -> Changed:
    """The operation, which does on purpose what `make check` refuses in a migration with this code, and why that harms
    neither play nor the processes of the release before."""
    operation.__dict__["reasons"] = {**reasons_of(operation), code: reason}
    return operation


def reasons_of(operation: Operation) -> dict[str, str]:
    """What of an operation is on purpose: the reasons by code."""
    return dict(operation.__dict__.get("reasons", {}))


def install(app: str, folder: str = "sql") -> Install:
    """Run the SQL files of an app, `casino/APP/sql/*.sql`: its functions and views, each of them once."""

    def forwards(_apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
        for file in sorted((_CASINO / app / folder).glob("*.sql")):
            editor.execute(file.read_text(encoding="utf-8"), params=None)

    return Install(forwards)


def protect(app: str, *tables: str) -> Protect:
    """Make the triggers and rights that an app declares; of its tables only those that are named, if any are.

    Tables and functions that do not exist yet are left to the migration that makes them, which calls this again. A
    trigger that is made again locks its table: name those that have changed, where a house may be playing.
    """

    def forwards(_apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
        found = protection.of(app)
        for table in found.tables:
            if tables and table.name not in tables:
                continue
            if _exists(editor, "to_regclass", table.name):
                _run(editor, _table(editor, table))
        for function in found.functions:
            if _exists(editor, "to_regprocedure", function.signature):
                _run(editor, _function(editor, function))

    made = Protect(forwards)
    made.tables = tables
    return made


class AddIndexBesideWrites(AddIndexConcurrently):
    """An index of a table that a house writes to: made while others write, in a migration with `atomic = False`.

    It waits for the transactions that began before it, for as long as they take, because nobody waits behind it. One
    that was left behind invalid, by a try that failed, is made again; one that is there and valid was made by a try
    after which only the record of the migration failed.
    """

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        """Make the index, unless it is there."""
        self._ensure_not_in_transaction(schema_editor)
        with migrating.lock_timeout(schema_editor.connection, migrating.CONCURRENT_SECONDS):
            valid = None if schema_editor.collect_sql else _valid(schema_editor, self.index.name)
            if valid:
                return
            if valid is False:
                name = schema_editor.connection.ops.quote_name(self.index.name)
                schema_editor.execute(f"DROP INDEX CONCURRENTLY {name}", params=None)
            super().database_forwards(app_label, schema_editor, from_state, to_state)


def _valid(editor: BaseDatabaseSchemaEditor, index: str) -> bool | None:
    """Whether an index can be used; None if there is none."""
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [index])
        row = cursor.fetchone()
    return None if row is None else bool(row[0])


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
