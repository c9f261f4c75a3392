"""Lines through which the time to act runs on are marked. No line of the past was under a clock that still runs."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One column; the guards of the table stay."""

    dependencies = [("hands", "0008_names_in_full")]

    operations = [migrations.AddField("handline", "aside", models.BooleanField(db_default=False))]
