"""A table may be played at without money: a stack may be nothing."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """The limits of a stack from 0 on."""

    dependencies = [("tables", "0006_time_to_act")]

    operations = [
        migrations.RemoveConstraint(model_name="table", name="table_limits"),
        migrations.AddConstraint(
            model_name="table",
            constraint=models.CheckConstraint(
                condition=models.Q(("max_stack__gte", models.F("min_stack")), ("min_stack__gte", 0)),
                name="table_limits",
            ),
        ),
    ]
