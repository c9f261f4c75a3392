"""Unknown persons, lines of the log, returns that were filed, rates of the euro."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import protect


class Migration(migrations.Migration):
    """Tables, triggers and rights."""

    initial = True

    dependencies = [
        ("houses", "0001_initial"),
        ("players", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="UnknownPerson",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("description", models.BinaryField()),
                ("opened_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("identified_at", models.DateTimeField(null=True)),
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
                    "identified_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "opened_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player"
                    ),
                ),
            ],
            options={
                "verbose_name": "unknown person",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="unknown_person_number"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("identified_at", None), ("identified_by", None), ("player", None)),
                            models.Q(
                                ("identified_at__isnull", False),
                                ("identified_by__isnull", False),
                                ("player__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="unknown_person_identified_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "capacity",
                    models.CharField(
                        choices=[("self", "who has made it"), ("behalf", "on whose behalf it was made")],
                        default="self",
                        max_length=6,
                    ),
                ),
                ("transaction", models.BigIntegerField(null=True)),
                ("day", models.CharField(blank=True, default="", max_length=10)),
                ("place", models.CharField(max_length=32)),
                ("kind", models.CharField(max_length=32)),
                ("direction", models.CharField(choices=[("in", "in"), ("out", "out")], max_length=3)),
                ("amount", models.BigIntegerField()),
                ("note", models.BinaryField(default=b"")),
                ("entered_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("withdrawn_at", models.DateTimeField(null=True)),
                ("withdrawn_reason", models.CharField(blank=True, default="", max_length=200)),
                (
                    "entered_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
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
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player"
                    ),
                ),
                (
                    "withdrawn_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "unknown_person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lines",
                        to="watching.unknownperson",
                    ),
                ),
            ],
            options={
                "verbose_name": "line of the log",
                "indexes": [
                    models.Index(
                        condition=models.Q(("withdrawn_at", None)),
                        fields=["unknown_person", "day"],
                        name="log_line_of_unknown_by_day",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="log_line_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("capacity", "self"), ("withdrawn_at", None)),
                        fields=("house", "transaction"),
                        name="log_line_one_maker",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("player__isnull", False), ("unknown_person", None)),
                            models.Q(("player", None), ("unknown_person__isnull", False)),
                            _connector="OR",
                        ),
                        name="log_line_of_one",
                    ),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="log_line_amount"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("withdrawn_at", None), ("withdrawn_by", None), ("withdrawn_reason", "")),
                            models.Q(
                                ("withdrawn_at__isnull", False),
                                ("withdrawn_by__isnull", False),
                                models.Q(("withdrawn_reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="log_line_withdrawn_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="EuroRate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("valid_from", models.DateTimeField()),
                ("millionths", models.BigIntegerField()),
                ("source", models.CharField(max_length=80)),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("approval", models.PositiveIntegerField(null=True)),
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
                    "set_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "rate of the euro",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="euro_rate_number"),
                    models.CheckConstraint(condition=models.Q(("millionths__gt", 0)), name="euro_rate_positive"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Filing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("transaction", models.BigIntegerField()),
                ("return_number", models.CharField(max_length=40)),
                ("filed_on", models.DateField()),
                ("filed_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("approval", models.PositiveIntegerField()),
                (
                    "filed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
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
            ],
            options={
                "verbose_name": "return that was filed",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="filing_number"),
                    models.UniqueConstraint(fields=("house", "transaction"), name="filing_once"),
                ],
            },
        ),
        protect("watching"),
    ]
