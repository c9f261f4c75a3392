"""Guards, posting functions and grants: the SQL files beside this one, in that order.

There is no way back: undoing it would leave a ledger that anybody may edit.
"""

from pathlib import Path

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from ledger.roles import ensure_app_role

SQL = Path(__file__).parent / "sql"


def install(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Run the SQL files in the schema where the tables are, for the role that the application uses."""
    role = ensure_app_role(editor)
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(current_schema())")
        schema = cursor.fetchone()[0]
    for name in ("guards.sql", "posting.sql", "grants.sql"):
        text = (SQL / name).read_text(encoding="utf-8")
        editor.execute(text.replace("@schema@", schema).replace("@app@", role), params=None)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_tables")]
    operations = [migrations.RunPython(install)]
