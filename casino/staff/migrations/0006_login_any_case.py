"""Logins that differ in the case of letters only are the same login."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models.functions import Lower

DOUBLE = """
SELECT string_agg(login, ', ' ORDER BY login) FROM staff_staff GROUP BY lower(login) HAVING count(*) > 1 ORDER BY 1
"""


class TwoOfALogin(Exception):
    """People whose logins differ in the case of letters only. Which of them keeps it the house decides, not we."""


def refuse_doubles(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Name the logins that are in the way. Raises TwoOfALogin; the migration changes nothing then."""
    with editor.connection.cursor() as cursor:
        cursor.execute(DOUBLE)
        found = [logins for (logins,) in cursor.fetchall()]
    if found:
        raise TwoOfALogin(
            f"These logins differ in the case of letters only: {'; '.join(found)}. As the owner of the database, set "
            "another login in staff_staff for all but one of each, tell their people, and migrate again. Events go on "
            "naming them as they were."
        )


class Migration(migrations.Migration):
    """The constraint."""

    dependencies = [("staff", "0005_password_givers")]

    operations = [
        migrations.RunPython(refuse_doubles, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="staff",
            constraint=models.UniqueConstraint(Lower("login"), name="staff_login_any_case"),
        ),
    ]
