"""Chip sets, their denominations, templates of floats and trays, and what the continuous checks found."""

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
                ("lapsed_pieces", models.JSONField(blank=True, null=True)),
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
                        condition=models.Q(
                            models.Q(("lapsed_at__isnull", True), ("lapsed_pieces__isnull", True)),
                            models.Q(("lapsed_at__isnull", False), ("lapsed_pieces__isnull", False)),
                            _connector="OR",
                        ),
                        name="chip_set_lapsed_with_pieces",
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
        migrations.CreateModel(
            name="Template",
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
                ("kind", models.CharField(choices=[("drawer", "Drawer"), ("table", "Table")], max_length=6)),
                ("place", models.CharField(max_length=32)),
                ("number", models.PositiveIntegerField()),
                ("valid_from", models.DateTimeField()),
                (
                    "chip_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="templates", to="chips.chipset"
                    ),
                ),
                ("cash", models.BigIntegerField(default=0)),
                ("pieces", models.JSONField()),
                ("least", models.JSONField(default=dict)),
                ("ceiling", models.BigIntegerField(null=True)),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("set_by", models.CharField(max_length=64)),
                ("approval", models.PositiveIntegerField(null=True)),
            ],
            options={
                "verbose_name": "template",
                "indexes": [
                    models.Index(fields=["house", "kind", "place", "-valid_from", "-number"], name="template_in_force")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("house", "kind", "place", "number"), name="template_number"),
                    models.CheckConstraint(condition=models.Q(("kind__in", ["drawer", "table"])), name="template_kind"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cash__gte", 0),
                            models.Q(("ceiling", None), ("ceiling__gte", models.F("cash")), _connector="OR"),
                        ),
                        name="template_cash",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind", "drawer"),
                            models.Q(("cash", 0), ("ceiling", None), ("kind", "table"), ("least", {})),
                            _connector="OR",
                        ),
                        name="template_of_a_tray_is_chips",
                    ),
                ],
            },
        ),
        install("chips"),
        protect("chips"),
    ]
