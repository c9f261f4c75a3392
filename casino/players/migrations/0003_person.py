"""Personal data, sealed under a key of each player's own; the key is destroyed by one function only."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import append_only, grant, grant_execute

FORGET = (Path(__file__).resolve().parent.parent / "sql" / "0003" / "forget.sql").read_text()
DESTROY_KEY = "players_destroy_key(bigint)"
BACK = (
    f"DROP FUNCTION {DESTROY_KEY}; DROP TRIGGER players_personkey_no_change ON players_personkey; "
    "DROP TRIGGER players_personkey_no_truncate ON players_personkey;"
)


class Migration(migrations.Migration):
    """Tables, guards, rights, and the one way in which a key ends."""

    dependencies = [
        ("players", "0002_rights"),
        ("audit", "0002_append"),
    ]

    operations = [
        migrations.CreateModel(
            name="PersonKey",
            fields=[
                (
                    "player",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="players.player",
                    ),
                ),
                ("wrapped", models.BinaryField()),
            ],
            options={
                "verbose_name": "person's key",
            },
        ),
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("sealed", models.BinaryField()),
                ("sealed_sha256", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="persons", to="players.player"
                    ),
                ),
            ],
            options={
                "verbose_name": "person",
                "constraints": [models.UniqueConstraint(fields=("player", "version"), name="person_version")],
            },
        ),
        append_only(["players_person"]),
        migrations.RunSQL(FORGET, BACK),
        grant(("players_person", "SELECT, INSERT"), ("players_personkey", "SELECT, INSERT")),
        grant_execute(DESTROY_KEY),
    ]
