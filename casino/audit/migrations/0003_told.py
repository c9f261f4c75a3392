"""Events of version 2: they tell an approver, a reason and the ledger transactions of their database transaction, and a
ledger transaction of a house commits only with an event that tells it."""

from pathlib import Path
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from casino.core.schema import append_only, grant

_SQL = Path(__file__).resolve().parent.parent / "sql"
BEFORE = "audit_append(uuid, text, text, text, text, text, text, text)"
SIGNATURE = "audit_append(uuid, text, text, text, text, text, text, text, text, text, text)"
FORGET_TOLD = "DROP TRIGGER ledger_transaction_is_told ON ledger_transaction; DROP FUNCTION audit_require_told();"


def _grant_execute(_apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    role = schema_editor.connection.ops.quote_name(settings.CASINO_APP_ROLE)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"GRANT EXECUTE ON FUNCTION {SIGNATURE} TO {role}")


class Migration(migrations.Migration):
    """The new function, which ledger transactions were told, and the trigger that insists on it."""

    dependencies = [("audit", "0002_append"), ("ledger", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Posting",
            fields=[
                ("transaction_id", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "event",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="postings",
                        to="audit.event",
                    ),
                ),
            ],
            options={"verbose_name": "posting that was told", "db_table": "audit_told"},
        ),
        append_only(["audit_told"]),
        grant(("audit_told", "SELECT")),
        migrations.RunSQL(f"DROP FUNCTION {BEFORE}", (_SQL / "append.sql").read_text()),
        migrations.RunSQL((_SQL / "0003" / "append.sql").read_text(), f"DROP FUNCTION {SIGNATURE}"),
        migrations.RunPython(_grant_execute, migrations.RunPython.noop),
        migrations.RunSQL((_SQL / "0003" / "told.sql").read_text(), FORGET_TOLD),
    ]
