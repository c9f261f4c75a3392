"""The functions that begin a write to a hand and end every write, and answers with their version."""

from pathlib import Path

from django.db import migrations

from casino.core.schema import grant_execute

CASINO = Path(__file__).resolve().parents[2]
RECORD = (
    "core_record(uuid, text, text, text, text, text, text, text, text, text, text, text, text, text, timestamptz, text,"
    " bigint[], bigint[], bigint[], bigint[], text[], text[], bigint, text, text, smallint, bigint, text)"
)
OPEN = "hands_open(uuid, text, bigint, text, bigint, bigint, integer, integer)"


class Migration(migrations.Migration):
    """Functions and rights."""

    dependencies = [("hands", "0010_fees"), ("audit", "0006_not_truncated"), ("staff", "0007_answer_version")]

    operations = [
        migrations.RunSQL((CASINO / "core/functions/record.sql").read_text(), migrations.RunSQL.noop),
        migrations.RunSQL((CASINO / "hands/sql/open.sql").read_text(), migrations.RunSQL.noop),
        grant_execute("core_utc(timestamptz)", RECORD, OPEN),
    ]
