"""Guards, posting functions and grants: the SQL files beside this one, in that order.

There is no way back: undoing it would leave a ledger that anybody may edit.
"""

from pathlib import Path

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from ledger.roles import install_sql

SQL = Path(__file__).parent / "sql"


def install(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Install guards, functions and grants."""
    install_sql(editor, [SQL / name for name in ("guards.sql", "posting.sql", "grants.sql")])


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_tables")]
    operations = [migrations.RunPython(install)]
