"""Packages of gaming days, and what PostgreSQL keeps of them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import protect


class Migration(migrations.Migration):
    """Table, triggers and rights."""

    initial = True

    dependencies = [
        ("houses", "0001_initial"),
        ("staff", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Package",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.CharField(max_length=10)),
                ("sha256", models.CharField(max_length=64)),
                ("size", models.BigIntegerField()),
                ("checkpoint", models.JSONField(null=True)),
                ("made_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("signed_at", models.DateTimeField(null=True)),
                (
                    "closed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                (
                    "signed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "package of a gaming day",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "day"), name="package_day"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("signed_at", None), ("signed_by", None)),
                            models.Q(
                                ("signed_at__isnull", False),
                                ("signed_by__isnull", False),
                                models.Q(("signed_by", models.F("closed_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="package_signed_by_another",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PackageContent",
            fields=[
                (
                    "package",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="bytes",
                        serialize=False,
                        to="days.package",
                    ),
                ),
                ("content", models.BinaryField()),
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
                "verbose_name": "content of a package",
            },
        ),
        protect("days"),
    ]
