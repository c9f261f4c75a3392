"""The role's rights in this room; a set of chips never changes."""

from django.db import migrations

from casino.core.schema import append_only, grant


class Migration(migrations.Migration):
    """Rights."""

    dependencies = [("chips", "0001_initial"), ("house", "0002_rights")]

    operations = [
        grant(
            ("chips_chipset", "SELECT, INSERT, UPDATE"),
            ("chips_denomination", "SELECT, INSERT"),
            ("chips_imbalance", "SELECT, INSERT, UPDATE"),
        ),
        append_only(["chips_denomination"]),
    ]
