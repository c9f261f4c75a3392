"""Chip sets, their denominations, and what the continuous checks found."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import protect


class Migration(migrations.Migration):
    """Tables, functions, triggers and rights."""

    initial = True

    dependencies = [
        ("houses", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChipSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="chip_sets", to="houses.house"
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        max_length=16,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[A-Z0-9_-]{1,16}\\Z", "1 to 16 capital letters, digits, - or _"
                            )
                        ],
                    ),
                ),
                ("in_use", models.BooleanField(default=True)),
                ("introduced_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                ("redeem_until", models.DateField(blank=True, null=True)),
                ("lapsed_at", models.DateTimeField(blank=True, null=True)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "chip set",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "code"), name="chip_set_code"),
                    models.UniqueConstraint(
                        condition=models.Q(("in_use", True)), fields=("house",), name="chip_set_one_in_use"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("lapsed_at__isnull", True),
                                ("redeem_until__isnull", True),
                                ("withdrawn_at__isnull", True),
                            ),
                            models.Q(
                                ("in_use", False), ("redeem_until__isnull", False), ("withdrawn_at__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="chip_set_withdrawn_with_notice",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("in_use", False), ("retired_at", None), _connector="OR"),
                        name="chip_set_retired_is_unused",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Denomination",
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
                    "chip_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="denominations", to="chips.chipset"
                    ),
                ),
                ("value", models.BigIntegerField()),
                ("colour", models.CharField(blank=True, default="", max_length=32)),
            ],
            options={
                "verbose_name": "denomination",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "chip_set", "value"), name="denomination_value"),
                    models.CheckConstraint(condition=models.Q(("value__gt", 0)), name="denomination_positive"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Imbalance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("custody", "Custody"), ("snapshot", "Snapshot")], default="custody", max_length=16
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="imbalances", to="houses.house"
                    ),
                ),
                ("found_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("found", models.JSONField()),
                ("cleared_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "imbalance",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("cleared_at", None)), fields=("house", "kind"), name="imbalance_one_open"
                    )
                ],
            },
        ),
        protect("chips"),
    ]
