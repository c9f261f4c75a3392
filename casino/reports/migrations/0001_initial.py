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
        migrations.AddConstraint(
            model_name="reportrun",
            constraint=models.UniqueConstraint(fields=("house", "number"), name="report_run_number"),
        ),
        migrations.AddConstraint(
            model_name="reportrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["waiting", "made", "failed", "cancelled"])), name="report_run_state"
            ),
        ),
        migrations.AddConstraint(
            model_name="reportrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("state", "waiting")),
                    models.Q(models.Q(("state", "waiting"), _negated=True), ("ended_at__isnull", False)),
                    _connector="OR",
                ),
                name="report_run_ended",
            ),
        ),
        migrations.AddConstraint(
            model_name="reportfile",
            constraint=models.UniqueConstraint(fields=("house", "run", "name"), name="report_file_name"),
        ),
        protect("reports"),
    ]
