"""Runs of reports and their files, and what PostgreSQL keeps of them."""

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
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ReportRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("report", models.CharField(max_length=40)),
                ("report_version", models.PositiveIntegerField()),
                ("filters", models.JSONField()),
                ("group_by", models.CharField(max_length=40)),
                ("formats", models.JSONField()),
                ("style", models.JSONField()),
                ("repeats", models.PositiveIntegerField(null=True)),
                ("copy", models.PositiveIntegerField()),
                ("requested_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("made", "Made"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="waiting",
                        max_length=12,
                    ),
                ),
                ("as_of", models.JSONField(null=True)),
                ("row_count", models.BigIntegerField(default=0)),
                ("worked_until", models.DateTimeField(null=True)),
                ("equalities", models.JSONField(null=True)),
                ("failure", models.CharField(default="", max_length=40)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "run of a report",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="report_run_number"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "made", "failed", "cancelled"])),
                        name="report_run_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("state", "waiting")),
                            models.Q(models.Q(("state", "waiting"), _negated=True), ("ended_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="report_run_ended",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReportFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("size", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
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
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="files",
                        to="reports.reportrun",
                    ),
                ),
            ],
            options={
                "verbose_name": "file of a report",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "run", "name"), name="report_file_name"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReportPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                (
                    "file",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="parts",
                        to="reports.reportfile",
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
                "verbose_name": "part of a report's file",
                "constraints": [models.UniqueConstraint(fields=("house", "file", "number"), name="report_part_number")],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("schedule", models.CharField(max_length=40)),
                ("version", models.PositiveIntegerField()),
                ("period", models.CharField(max_length=10)),
                ("destination", models.CharField(max_length=40)),
                ("run", models.PositiveIntegerField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("sent", "Sent"),
                            ("failed", "Failed"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("problem", models.CharField(default="", max_length=40)),
                ("created_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("next_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("worked_until", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
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
                "verbose_name": "delivery of files",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="report_delivery_number"),
                    models.UniqueConstraint(
                        fields=("house", "schedule", "period", "destination"), name="report_delivery_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "sent", "failed", "withdrawn"])),
                        name="report_delivery_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("state", "waiting")),
                            models.Q(models.Q(("state", "waiting"), _negated=True), ("ended_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="report_delivery_ended",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReportSchedule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=40)),
                ("number", models.PositiveIntegerField()),
                ("valid_from", models.DateTimeField()),
                ("what", models.CharField(max_length=40)),
                (
                    "cadence",
                    models.CharField(
                        choices=[
                            ("day_close", "when a gaming day is closed"),
                            ("daily", "on every date"),
                            ("monthly", "on the first of every month, about the month before"),
                            ("off", "never: the schedule has ended"),
                        ],
                        max_length=10,
                    ),
                ),
                ("time_of_day", models.CharField(max_length=5)),
                ("formats", models.JSONField()),
                ("filters", models.JSONField()),
                ("destinations", models.JSONField()),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("approval", models.PositiveIntegerField(null=True)),
                ("stopped", models.CharField(default="", max_length=24)),
                ("stopped_at", models.DateTimeField(null=True)),
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
                "verbose_name": "version of a schedule",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("stopped", ""), ("stopped_at", None)),
                            models.Q(models.Q(("stopped", ""), _negated=True), ("stopped_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="report_schedule_stopped",
                    ),
                    models.UniqueConstraint(fields=("house", "name", "number"), name="report_schedule_number"),
                    models.CheckConstraint(
                        condition=models.Q(("cadence__in", ["day_close", "daily", "monthly", "off"])),
                        name="report_schedule_cadence",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Printout",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("document", models.CharField(max_length=200)),
                ("copy", models.PositiveIntegerField()),
                ("form", models.CharField(choices=[("slip", "a slip of 80 mm"), ("a4", "pages")], max_length=4)),
                ("language", models.CharField(max_length=2)),
                ("about", models.JSONField()),
                ("as_of", models.JSONField(null=True)),
                ("printed_by", models.CharField(max_length=150)),
                ("printed_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
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
                "verbose_name": "printout",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="printout_number"),
                    models.UniqueConstraint(fields=("house", "document", "copy"), name="printout_copy"),
                    models.CheckConstraint(condition=models.Q(("form__in", ["slip", "a4"])), name="printout_form"),
                ],
            },
        ),
        protect("reports"),
    ]
