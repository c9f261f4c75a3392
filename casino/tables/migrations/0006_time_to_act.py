"""The time to act at a table: so far there is none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """The columns; the role's rights are the table's."""

    dependencies = [("tables", "0005_client_seeds")]

    operations = [
        migrations.AddField(
            model_name="table", name="time_to_act", field=models.PositiveSmallIntegerField(blank=True, null=True)
        ),
        migrations.AddField(
            model_name="table", name="time_to_act_since", field=models.DateTimeField(blank=True, null=True)
        ),
        migrations.AddConstraint(
            model_name="table",
            constraint=models.CheckConstraint(
                condition=models.Q(("time_to_act", None), ("time_to_act__range", (5, 3600)), _connector="OR"),
                name="table_time_to_act",
            ),
        ),
    ]
