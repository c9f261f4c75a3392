"""Drops what the release before names."""

from django.db import migrations


class Migration(migrations.Migration):
    """A column that is gone."""

    dependencies = [("live", "0001_initial")]

    operations = [migrations.RemoveField(model_name="webhook", name="problem")]
