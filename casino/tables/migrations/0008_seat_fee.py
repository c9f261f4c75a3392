"""What a seat costs at a table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """The columns; the role's rights are the table's."""

    dependencies = [
        ("house", "0002_rights"),
        ("tables", "0007_no_money"),
    ]

    operations = [
        migrations.AddField(
            model_name="table",
            name="seat_fee",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="table",
            name="seat_fee_per",
            field=models.CharField(
                choices=[("deal", "every deal that a player is dealt into"), ("hour", "an hour, begun by a deal")],
                db_default="deal",
                default="deal",
                max_length=4,
            ),
        ),
        migrations.AddConstraint(
            model_name="table",
            constraint=models.CheckConstraint(condition=models.Q(("seat_fee__gte", 0)), name="table_seat_fee"),
        ),
        migrations.AddConstraint(
            model_name="table",
            constraint=models.CheckConstraint(
                condition=models.Q(("seat_fee_per__in", ["deal", "hour"])), name="table_seat_fee_per"
            ),
        ),
    ]
