"""Keys of seats; which deal is prepared at a table, and how many were abandoned since its last hand."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

import casino.houses.models
from casino.core.schema import grant

# A key belongs to one seating for good; all that can happen to it is that a new one takes its place.
KEYS_STAY = """
CREATE FUNCTION tables_seat_key_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.replaced_at IS NOT NULL
       OR (OLD.seating_id, OLD.digest, OLD.issued_at) IS DISTINCT FROM (NEW.seating_id, NEW.digest, NEW.issued_at) THEN
        RAISE EXCEPTION 'the key of a seat does not change' USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER tables_seatkey_stays BEFORE UPDATE OR DELETE ON tables_seatkey
    FOR EACH ROW EXECUTE FUNCTION tables_seat_key_stays();
ALTER TABLE tables_seatkey ENABLE ALWAYS TRIGGER tables_seatkey_stays;
"""


class Migration(migrations.Migration):
    """Columns, table, guard and rights."""

    dependencies = [("tables", "0002_rights")]

    operations = [
        migrations.AddField(model_name="table", name="abandoned_deals", field=models.PositiveIntegerField(default=0)),
        migrations.AddField(
            model_name="table",
            name="prepared_deal",
            field=models.CharField(blank=True, default="", max_length=48),
        ),
        migrations.CreateModel(
            name="SeatKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("issued_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("replaced_at", models.DateTimeField(null=True)),
                (
                    "seating",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="keys", to="tables.seating"
                    ),
                ),
            ],
            options={
                "verbose_name": "key of a seat",
                "constraints": [
                    models.UniqueConstraint(condition=Q(replaced_at=None), fields=["seating"], name="seat_key_one_good")
                ],
            },
        ),
        migrations.RunSQL(
            KEYS_STAY, "DROP TRIGGER tables_seatkey_stays ON tables_seatkey; DROP FUNCTION tables_seat_key_stays()"
        ),
        grant(("tables_seatkey", "SELECT, INSERT, UPDATE")),
    ]
