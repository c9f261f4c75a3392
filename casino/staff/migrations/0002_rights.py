"""The role's rights in this room; the tables of the sign-in lock (axes) belong to it too."""

from django.db import migrations

from casino.core.schema import grant


class Migration(migrations.Migration):
    """Rights."""

    dependencies = [
        ("staff", "0001_initial"),
        ("house", "0002_rights"),
        ("axes", "0010_accessattemptexpiration"),
    ]

    operations = [
        grant(
            ("staff_staff", "SELECT, INSERT, UPDATE"),
            ("staff_terminal", "SELECT, INSERT, UPDATE"),
            ("staff_terminaltoken", "SELECT, INSERT, UPDATE, DELETE"),
            ("staff_answeredrequest", "SELECT, INSERT, UPDATE"),
            ("axes_accessattempt", "SELECT, INSERT, UPDATE, DELETE"),
            ("axes_accessattemptexpiration", "SELECT, INSERT, UPDATE, DELETE"),
            ("axes_accesslog", "SELECT, INSERT"),
            ("axes_accessfailurelog", "SELECT, INSERT, DELETE"),
        ),
    ]
