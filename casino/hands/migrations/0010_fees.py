"""What the seats of a hand pay the house."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """The columns; the role's rights are the table's."""

    dependencies = [
        ("hands", "0009_asides"),
    ]

    operations = [
        migrations.AddField(
            model_name="hand",
            name="fees",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
