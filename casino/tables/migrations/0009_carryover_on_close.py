"""What becomes of what is carried when a table closes, under its English name; it may be held or played for, too."""

from django.db import migrations, models

CHOICES = ["split", "house", "last_dealer", "hold", "play_on"]


class Migration(migrations.Migration):
    """The column's name, its choices, and what a sitting has held for the next one."""

    dependencies = [("tables", "0008_seat_fee")]

    operations = [
        migrations.RemoveConstraint(model_name="table", name="table_kassza_end"),
        migrations.RenameField(model_name="table", old_name="kassza_end", new_name="carryover_on_close"),
        migrations.AlterField(
            model_name="table",
            name="carryover_on_close",
            field=models.CharField(
                choices=[
                    ("split", "equal shares, the odd rest to the first after the dealer"),
                    ("house", "to the house"),
                    ("last_dealer", "to the player who dealt last"),
                    ("hold", "kept by the house for the table's next sitting"),
                    ("play_on", "played for: the table closes when it is won, or when too few are left to play"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddConstraint(
            model_name="table",
            constraint=models.CheckConstraint(
                condition=models.Q(("carryover_on_close__in", CHOICES)), name="table_carryover_on_close"
            ),
        ),
        migrations.AddField(
            model_name="sitting",
            name="held",
            field=models.JSONField(default=dict, db_default=models.Value({}, models.JSONField())),
        ),
        migrations.AddField(
            model_name="sitting",
            name="resumes",
            field=models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="tables.sitting"),
        ),
    ]
