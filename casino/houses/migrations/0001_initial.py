"""The house and its outbox, the two roles that work in the database, and the guard that all apps use."""

import uuid

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import create_roles, install, protect


class Migration(migrations.Migration):
    """Tables, functions, triggers and rights."""

    initial = True

    dependencies = [
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.CreateModel(
            name="House",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("code", models.CharField(max_length=32, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("currency", models.CharField(max_length=3)),
                ("currency_exponent", models.PositiveSmallIntegerField(default=0)),
                (
                    "time_zone",
                    models.CharField(default="UTC", max_length=64, validators=[casino.houses.models._known_time_zone]),
                ),
                ("day_cut_off", models.CharField(db_default="06:00", default="06:00", max_length=5)),
                ("second_factor_required", models.BooleanField(db_default=True, default=True)),
                ("is_sandbox", models.BooleanField(db_default=False, default=False)),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("founding", "being set up: no guest is served"),
                            ("live", "open to guests"),
                            ("suspended", "no play and no sale of chips; what is owed is paid out"),
                            ("closed", "closed for ever"),
                            ("sandbox", "for tests and rehearsals: never open to guests"),
                        ],
                        db_default="founding",
                        default="founding",
                        max_length=9,
                    ),
                ),
                ("opened_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "house",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("stage__in", ["founding", "live", "suspended", "closed", "sandbox"])),
                        name="house_stage",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("is_sandbox", False), models.Q(("stage", "sandbox"), _negated=True)),
                            models.Q(
                                ("is_sandbox", True), models.Q(("stage__in", ["founding", "live"]), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="house_stage_of_sandbox",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DataKey",
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
                ("number", models.PositiveIntegerField()),
                ("seal_key", models.CharField(max_length=120)),
                ("retired_seal_key", models.CharField(default="", max_length=120)),
                ("wrapped", models.BinaryField()),
            ],
            options={
                "verbose_name": "data key",
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="data_key_number")],
            },
        ),
        migrations.CreateModel(
            name="OutboxMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                ("task", models.CharField(max_length=64)),
                ("subject", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("sent_at", models.DateTimeField(null=True)),
                ("done_at", models.DateTimeField(null=True)),
                ("deliveries", models.PositiveIntegerField(default=0)),
                ("last_error", models.TextField(default="")),
            ],
            options={
                "verbose_name": "outbox message",
                "indexes": [
                    models.Index(condition=models.Q(("done_at", None)), fields=["id"], name="outbox_open"),
                    django.contrib.postgres.indexes.BrinIndex(
                        autosummarize=True, fields=["done_at"], name="outbox_done_at"
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("house", "task", "subject"), name="outbox_once")],
            },
        ),
        migrations.CreateModel(
            name="Limits",
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
                ("number", models.PositiveIntegerField()),
                ("valid_from", models.DateTimeField()),
                ("points", models.JSONField()),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("set_by", models.CharField(max_length=64)),
                ("approval", models.PositiveIntegerField(null=True)),
            ],
            options={
                "verbose_name": "limits",
                "verbose_name_plural": "limits",
                "indexes": [models.Index(fields=["house", "-valid_from", "-number"], name="limits_in_force")],
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="limits_number")],
            },
        ),
        migrations.CreateModel(
            name="Identity",
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
                ("number", models.PositiveIntegerField()),
                ("parts", models.JSONField()),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("set_by", models.CharField(max_length=64)),
                ("approval", models.PositiveIntegerField(null=True)),
            ],
            options={
                "verbose_name": "identity",
                "verbose_name_plural": "identities",
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="identity_number")],
            },
        ),
        migrations.CreateModel(
            name="HouseRules",
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
                ("number", models.PositiveIntegerField()),
                ("texts", models.JSONField()),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("set_by", models.CharField(max_length=64)),
                ("approval", models.PositiveIntegerField(null=True)),
            ],
            options={
                "verbose_name": "rules of the house",
                "verbose_name_plural": "rules of the house",
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="house_rules_number")],
            },
        ),
        migrations.CreateModel(
            name="DutyRates",
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
                ("number", models.PositiveIntegerField()),
                ("valid_from", models.CharField(max_length=7)),
                ("tax_code", models.CharField(max_length=32)),
                (
                    "base",
                    models.CharField(
                        choices=[
                            ("take", "the take of the house: tax of pots, what fell to it at closings, and fees"),
                            ("stakes", "the stakes of hands that were settled or ruled on"),
                        ],
                        max_length=8,
                    ),
                ),
                ("deductions", models.JSONField()),
                ("bands", models.JSONField()),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("set_by", models.CharField(max_length=64)),
                ("approval", models.PositiveIntegerField(null=True)),
            ],
            options={
                "verbose_name": "rates of the gaming duty",
                "verbose_name_plural": "rates of the gaming duty",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="duty_rates_number"),
                    models.CheckConstraint(
                        condition=models.Q(("base__in", ["take", "stakes"])), name="duty_rates_base"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("valid_from__regex", "^[0-9]{4}-(0[1-9]|1[0-2])$")),
                        name="duty_rates_valid_from",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RehearsalRun",
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
                ("number", models.PositiveIntegerField()),
                ("requested_by", models.CharField(max_length=64)),
                ("requested_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("played", "Played"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("worked_until", models.DateTimeField(null=True)),
                ("tries", models.PositiveIntegerField(default=0)),
                ("sandbox", models.CharField(default="", max_length=32)),
                ("part_count", models.PositiveIntegerField(default=0)),
                ("failure", models.CharField(default="", max_length=64)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "rehearsal that was asked for",
                "verbose_name_plural": "rehearsals that were asked for",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="rehearsal_run_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "waiting")), fields=("house",), name="rehearsal_run_one_waits"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "played", "failed", "cancelled"])),
                        name="rehearsal_run_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("state", "waiting")),
                            models.Q(
                                models.Q(("state", "waiting"), _negated=True),
                                ("ended_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="rehearsal_run_ended",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Rehearsal",
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
                ("number", models.PositiveIntegerField()),
                ("sandbox", models.CharField(max_length=32)),
                ("configuration", models.CharField(max_length=64)),
                ("passed", models.BooleanField()),
                ("items", models.JSONField()),
                ("verified", models.JSONField()),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "rehearsal",
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="rehearsal_number")],
            },
        ),
        migrations.CreateModel(
            name="GoLiveSignature",
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
                ("number", models.PositiveIntegerField()),
                ("role", models.CharField(max_length=16)),
                ("digest", models.CharField(max_length=64)),
                ("signed_by", models.CharField(max_length=64)),
                ("signed_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "signature before going live",
                "verbose_name_plural": "signatures before going live",
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="go_live_signature_number")],
            },
        ),
        create_roles(),
        install("core", "functions"),
        install("houses"),
        protect("houses"),
    ]
