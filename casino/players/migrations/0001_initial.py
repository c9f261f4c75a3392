"""Players, and who is behind them, sealed."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import install, protect


class Migration(migrations.Migration):
    """Tables, functions, triggers and rights."""

    initial = True

    dependencies = [
        ("houses", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Player",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="players", to="houses.house"
                    ),
                ),
                (
                    "ref",
                    models.CharField(
                        max_length=32,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[A-Za-z0-9_-]{1,32}\\Z", "1 to 32 ASCII letters, digits, - or _"
                            )
                        ],
                    ),
                ),
                ("registered_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "player",
                "constraints": [models.UniqueConstraint(fields=("house", "ref"), name="player_ref")],
            },
        ),
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="houses.house",
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="persons", to="players.player"
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("sealed", models.BinaryField()),
                ("sealed_sha256", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "person",
                "constraints": [models.UniqueConstraint(fields=("house", "player", "version"), name="person_version")],
            },
        ),
        migrations.CreateModel(
            name="PersonKey",
            fields=[
                (
                    "house",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="houses.house",
                    ),
                ),
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
        install("players"),
        protect("players"),
    ]
