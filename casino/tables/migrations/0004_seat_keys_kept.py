"""Keys of seats are not truncated."""

from django.db import migrations

NOT_TRUNCATED = """
CREATE TRIGGER tables_seatkey_no_truncate BEFORE TRUNCATE ON tables_seatkey
    FOR EACH STATEMENT EXECUTE FUNCTION house_refuse_change();
ALTER TABLE tables_seatkey ENABLE ALWAYS TRIGGER tables_seatkey_no_truncate;
"""


class Migration(migrations.Migration):
    """The guard."""

    dependencies = [("tables", "0003_seat_keys"), ("house", "0002_rights")]

    operations = [migrations.RunSQL(NOT_TRUNCATED, "DROP TRIGGER tables_seatkey_no_truncate ON tables_seatkey")]
