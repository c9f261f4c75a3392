"""The application's role, the guard of append-only tables, and the role's rights in this room."""

from django.db import migrations

from casino.core.schema import REFUSE_CHANGE, create_app_role, grant


class Migration(migrations.Migration):
    """Rights."""

    dependencies = [("house", "0001_initial"), ("contenttypes", "0002_remove_content_type_name")]

    operations = [
        create_app_role(),
        migrations.RunSQL(REFUSE_CHANGE, "DROP FUNCTION house_refuse_change()"),
        grant(
            ("house_house", "SELECT, INSERT"),
            ("house_outboxmessage", "SELECT, INSERT, UPDATE"),
            ("django_migrations", "SELECT"),
            ("django_content_type", "SELECT"),
        ),
    ]
