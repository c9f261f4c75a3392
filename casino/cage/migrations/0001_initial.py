"""Drawers and their shifts."""

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import protect


class Migration(migrations.Migration):
    """Tables, functions, triggers and rights."""

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("houses", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Drawer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="drawers", to="houses.house"
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        max_length=32,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[A-Za-z0-9_-]{1,32}\\Z", "1 to 32 ASCII letters, digits, - or _"
                            )
                        ],
                    ),
                ),
                ("version", models.BigIntegerField(default=1)),
            ],
            options={
                "verbose_name": "drawer",
                "constraints": [models.UniqueConstraint(fields=("house", "code"), name="drawer_code")],
            },
        ),
        migrations.CreateModel(
            name="Shift",
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
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="shifts", to="cage.drawer"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "opened_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("opened_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("float_cash", models.BigIntegerField()),
                ("float_chips", models.BigIntegerField()),
                ("float_pieces", models.JSONField(default=dict)),
                (
                    "closed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("closed_at", models.DateTimeField(null=True)),
                ("expected_cash", models.BigIntegerField(null=True)),
                ("counted_cash", models.BigIntegerField(null=True)),
                ("expected_chips", models.BigIntegerField(null=True)),
                ("counted_chips", models.BigIntegerField(null=True)),
                ("expected_pieces", models.JSONField(null=True)),
                ("counted_pieces", models.JSONField(null=True)),
            ],
            options={
                "verbose_name": "shift",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "drawer", "number"), name="shift_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at", None)), fields=("house", "drawer"), name="shift_one_open"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("closed_at", None), ("counted_cash", None), ("counted_chips", None)),
                            models.Q(
                                ("closed_at__isnull", False),
                                ("closed_by__isnull", False),
                                ("counted_cash__isnull", False),
                                ("counted_chips__isnull", False),
                                ("expected_cash__isnull", False),
                                ("expected_chips__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="shift_closed_is_counted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("float_cash__gte", 0), ("float_chips__gte", 0)), name="shift_float"
                    ),
                ],
            },
        ),
        protect("cage"),
    ]
