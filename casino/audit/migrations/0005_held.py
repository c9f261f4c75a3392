"""What PostgreSQL itself holds the application to: an event tells no posting of another house or time, and nobody but
the owner opens an epoch."""

from pathlib import Path

from django.db import migrations

from casino.core.schema import revoke_execute

_SQL = Path(__file__).resolve().parent.parent / "sql"
OPEN_EPOCH = "audit_open_epoch(uuid, integer, text, bigint, text, bigint, integer, bigint, bytea)"
BEFORE = (_SQL / "0003" / "append.sql").read_text().replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)


class Migration(migrations.Migration):
    """The function anew, with the rights that it had, and one right less."""

    dependencies = [("audit", "0004_log")]

    operations = [
        migrations.RunSQL((_SQL / "0005" / "append.sql").read_text(), BEFORE),
        revoke_execute(OPEN_EPOCH),
    ]
