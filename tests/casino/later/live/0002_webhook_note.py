"""A column that the release before does not know."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A nullable column."""

    dependencies = [("live", "0001_initial")]

    operations = [
        migrations.AddField(model_name="webhook", name="note", field=models.CharField(max_length=40, null=True)),
    ]
