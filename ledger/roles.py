"""The database roles: one that owns the tables and migrates, one that the running application uses.

The application's role (`settings.LEDGER_APP_ROLE`, default "ledger_app") owns nothing and gets by GRANT what it needs.
"""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_CREATE = """
DO $do$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {role}) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE', {role});
        -- An owner that is no superuser needs this for SET ROLE; since PostgreSQL 16 creating a role makes its creator
        -- a member of it that may administer it, but not yet SET it.
        IF NOT pg_has_role(current_user, {role},
                           CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END)
        THEN
            EXECUTE format('GRANT %I TO CURRENT_USER', {role});
        END IF;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    -- Roles belong to the whole server: another database's migration made it in the same moment.
    NULL;
END $do$
"""


def app_role() -> str:
    """Name of the application's role, unquoted."""
    return str(getattr(settings, "LEDGER_APP_ROLE", "ledger_app"))


def ensure_app_role(editor: BaseDatabaseSchemaEditor) -> str:
    """Create the application's role if the server lacks it; return its quoted name for use in GRANT statements."""
    return ensure_role(editor, app_role())


def ensure_role(editor: BaseDatabaseSchemaEditor, role: str) -> str:
    """Create a role without any right if the server lacks it; return its quoted name for use in GRANT statements."""
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT quote_literal(%s), quote_ident(%s)", [role, role])
        literal, name = cursor.fetchone()
    editor.execute(_CREATE.format(role=literal), params=None)
    return str(name)


def install_sql(editor: BaseDatabaseSchemaEditor, files: Iterable[Path]) -> None:
    """Run SQL files in the schema where the tables are (`@schema@`), for the application's role (`@app@`)."""
    role = ensure_app_role(editor)
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(current_schema())")
        schema = cursor.fetchone()[0]
    for file in files:
        text = file.read_text(encoding="utf-8")
        editor.execute(text.replace("@schema@", schema).replace("@app@", role), params=None)
