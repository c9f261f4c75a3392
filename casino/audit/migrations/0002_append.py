"""Events are appended by one function; nobody changes them; the role may read and execute, nothing else."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from casino.core.schema import append_only, grant

APPEND = (Path(__file__).resolve().parent.parent / "sql" / "append.sql").read_text()
SIGNATURE = "audit_append(uuid, text, text, text, text, text, text, text)"


def _grant_execute(_apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    role = schema_editor.connection.ops.quote_name(settings.CASINO_APP_ROLE)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"GRANT EXECUTE ON FUNCTION {SIGNATURE} TO {role}")


class Migration(migrations.Migration):
    """Function, guards and rights."""

    dependencies = [("audit", "0001_initial"), ("house", "0002_rights")]

    operations = [
        append_only(["audit_event"]),
        migrations.RunSQL(APPEND, f"DROP FUNCTION {SIGNATURE}"),
        migrations.RunPython(_grant_execute, migrations.RunPython.noop),
        grant(("audit_event", "SELECT"), ("audit_chainhead", "SELECT")),
    ]
