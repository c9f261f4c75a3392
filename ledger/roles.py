"""The database roles: one that owns the tables and migrates, one that the running application uses.

The application's role (`settings.CASINO_APP_ROLE`, default "casino_app") owns nothing and gets by GRANT what it needs.
"""

from django.conf import settings
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_CREATE = """
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {literal}) THEN
        CREATE ROLE {name} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE;
        -- An owner that is no superuser needs membership for SET ROLE.
        IF NOT pg_has_role(current_user, {literal}, 'MEMBER') THEN
            GRANT {name} TO CURRENT_USER;
        END IF;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    -- Roles belong to the whole server: another database's migration made it in the same moment.
    NULL;
END $$
"""


def app_role() -> str:
    """Name of the application's role, unquoted."""
    return str(getattr(settings, "CASINO_APP_ROLE", "casino_app"))


def ensure_app_role(editor: BaseDatabaseSchemaEditor) -> str:
    """Create the application's role if the server lacks it; return its quoted name for use in GRANT statements."""
    name = editor.quote_name(app_role())
    literal = "'" + app_role().replace("'", "''") + "'"
    editor.execute(_CREATE.format(name=name, literal=literal), params=None)
    return name
