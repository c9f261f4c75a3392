"""The role's rights in this room."""

from django.db import migrations

from casino.core.schema import grant


class Migration(migrations.Migration):
    """Rights."""

    dependencies = [("tables", "0001_initial"), ("house", "0002_rights")]

    operations = [
        grant(
            ("tables_table", "SELECT, INSERT, UPDATE"),
            ("tables_sitting", "SELECT, INSERT, UPDATE"),
            ("tables_seating", "SELECT, INSERT, UPDATE"),
        )
    ]
