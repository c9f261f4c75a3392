"""Guards, functions and grants anew, for holds, periods, lanes and weights: the SQL files of `sql/0004`, in that order.

What judged the entries before and what moved the balances is one trigger now, which costs half as much. There is no
way back: undoing it would leave a ledger that anybody may edit.
"""

from pathlib import Path

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from ledger.roles import install_sql

SQL = Path(__file__).parent / "sql" / "0004"


def install(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Replace what 0002 installed."""
    names = ("drop.sql", "guards.sql", "periods.sql", "posting.sql", "holds.sql", "grants.sql")
    install_sql(editor, [SQL / name for name in names])


class Migration(migrations.Migration):
    dependencies = [("ledger", "0003_holds_periods_lanes")]
    operations = [migrations.RunPython(install)]
