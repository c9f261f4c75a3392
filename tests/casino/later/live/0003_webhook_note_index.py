"""An index that is made while others write."""

from django.db import migrations, models

from casino.core.schema import AddIndexBesideWrites


class Migration(migrations.Migration):
    """An index, outside a transaction."""

    atomic = False
    dependencies = [("live", "0002_webhook_note")]

    operations = [
        AddIndexBesideWrites(model_name="webhook", index=models.Index(fields=["note"], name="live_webhook_note")),
    ]
