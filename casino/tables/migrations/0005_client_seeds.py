"""Whose seeds an electronic hand needs at a table: so far nobody's."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """The column; the role's rights are the table's."""

    dependencies = [("tables", "0004_seat_keys_kept")]

    operations = [
        migrations.AddField(
            model_name="table",
            name="client_seeds",
            field=models.CharField(
                choices=[("optional", "none; whoever wants to, may"), ("all", "every seat that is dealt in")],
                db_default="optional",
                default="optional",
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            model_name="table",
            constraint=models.CheckConstraint(
                condition=models.Q(("client_seeds__in", ["optional", "all"])), name="table_client_seeds"
            ),
        ),
    ]
