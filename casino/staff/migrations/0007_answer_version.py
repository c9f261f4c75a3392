"""An answer is stored when it is known, with the version that it names."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Columns."""

    dependencies = [("staff", "0006_login_any_case")]

    operations = [
        migrations.AddField("answeredrequest", "version", models.BigIntegerField(db_default=0)),
        migrations.AlterField("answeredrequest", "version", models.BigIntegerField()),
        migrations.AlterField("answeredrequest", "answer", models.TextField()),
        migrations.AlterField("answeredrequest", "status", models.PositiveSmallIntegerField()),
    ]
