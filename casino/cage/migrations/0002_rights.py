"""The role's rights in this room."""

from django.db import migrations

from casino.core.schema import grant


class Migration(migrations.Migration):
    """Rights."""

    dependencies = [("cage", "0001_initial"), ("house", "0002_rights")]

    operations = [grant(("cage_drawer", "SELECT, INSERT, UPDATE"), ("cage_shift", "SELECT, INSERT, UPDATE"))]
