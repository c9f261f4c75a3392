"""Who gave passwords stays on record, their givers too; given ones are to be changed."""

import django.contrib.postgres.fields
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

# Until now a password of one's own erased its giver; the audit trail still knows him. One look at the houses' chains.
TOLD = """
SELECT DISTINCT ON (event.doc -> 'data' ->> 'login') event.doc -> 'data' ->> 'login', event.doc ->> 'actor'
FROM audit_event event JOIN audit_chainhead chain ON chain.id = event.chain_id
WHERE starts_with(chain.name, 'house/') AND event.doc ->> 'kind' IN ('staff.hired', 'staff.password_set')
ORDER BY event.doc -> 'data' ->> 'login', event.id DESC
"""


def fill(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Lines as far as rows and trail tell them; longer ones than were at the time, at worst."""
    staff = apps.get_model("staff", "Staff").objects.using(editor.connection.alias)
    with editor.connection.cursor() as cursor:
        cursor.execute(TOLD)
        told = dict(cursor.fetchall())
    by = {person.login: person.password_by or told.get(person.login, "") for person in staff.all()}
    for person in staff.all():
        line: list[str] = []
        giver = by[person.login]
        while giver and giver not in line:
            line.append(giver)
            giver = by.get(giver, "")
        person.password_givers = line
        person.must_change_password = person.password_by in by
        person.save(update_fields=["password_givers", "must_change_password"])


def back(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """As it was: the giver of a password that was not changed yet."""
    for person in apps.get_model("staff", "Staff").objects.using(editor.connection.alias).all():
        person.password_by = person.password_givers[0] if person.must_change_password else ""
        person.save(update_fields=["password_by"])


class Migration(migrations.Migration):
    """Columns and their contents."""

    dependencies = [("staff", "0004_password_by"), ("audit", "0004_log")]

    operations = [
        migrations.AddField(
            model_name="staff",
            name="password_givers",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=64), db_default=[], default=list, size=None
            ),
        ),
        migrations.AddField(
            model_name="staff",
            name="must_change_password",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(fill, back),
        migrations.RemoveField(model_name="staff", name="password_by"),
    ]
