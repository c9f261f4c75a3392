"""Transfers between cage and tables, and counts of boxes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import install, protect


class Migration(migrations.Migration):
    """Tables, functions, triggers and rights."""

    initial = True

    dependencies = [
        ("cage", "0001_initial"),
        ("houses", "0001_initial"),
        ("tables", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Serial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("series", models.CharField(max_length=16)),
                ("last", models.PositiveIntegerField()),
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
                "verbose_name": "series",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "series"), name="serial_series"),
                    models.CheckConstraint(condition=models.Q(("last__gte", 1)), name="serial_from_one"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SoftCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[("counted", "Counted"), ("confirmed", "Confirmed"), ("voided", "Voided")],
                        default="counted",
                        max_length=9,
                    ),
                ),
                ("expected_cash", models.BigIntegerField()),
                ("expected_pieces", models.JSONField()),
                ("counted_cash", models.BigIntegerField()),
                ("counted_pieces", models.JSONField()),
                ("counted_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "counted_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="soft_counts", to="cage.drawer"
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="soft_counts", to="houses.house"
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="soft_counts", to="tables.table"
                    ),
                ),
            ],
            options={
                "verbose_name": "soft count",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["counted", "confirmed", "voided"])), name="soft_count_state"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "counted")), fields=("house", "table"), name="soft_count_one_open"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "confirmed"), _negated=True),
                            models.Q(
                                ("ended_by__isnull", False),
                                models.Q(("ended_by", models.F("counted_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="soft_count_two_persons",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("counted_cash__gte", 0), ("expected_cash__gte", 0)), name="soft_count_cash"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Transfer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("fill", "from the cage to a table's tray"),
                            ("credit", "from a table's tray to the cage"),
                        ],
                        max_length=6,
                    ),
                ),
                ("serial", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "Requested"),
                            ("sent", "Sent"),
                            ("declined", "Declined"),
                            ("received", "Received"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="requested",
                        max_length=9,
                    ),
                ),
                ("requested", models.JSONField()),
                ("opened_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("sent", models.JSONField(null=True)),
                ("sent_at", models.DateTimeField(null=True)),
                ("miscounts", models.JSONField(default=list)),
                ("declined_at", models.DateTimeField(null=True)),
                ("counted", models.JSONField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                (
                    "carried_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "declined_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="transfers", to="cage.drawer"
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="transfers", to="houses.house"
                    ),
                ),
                (
                    "opened_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "sent_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="transfers", to="tables.table"
                    ),
                ),
            ],
            options={
                "verbose_name": "transfer",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["requested", "sent", "declined"])),
                        fields=["house", "id"],
                        name="transfer_under_way",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("kind__in", ["fill", "credit"])), name="transfer_kind"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["requested", "sent", "declined", "received", "cancelled"])),
                        name="transfer_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("sent__isnull", True), ("state", "requested")),
                            ("state", "cancelled"),
                            models.Q(("sent__isnull", False), ("sent_at__isnull", False), ("sent_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="transfer_sent_is_signed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "received"), _negated=True),
                            models.Q(("counted__isnull", False), ("ended_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="transfer_received_is_counted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "received"), _negated=True),
                            models.Q(("ended_by", models.F("sent_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="transfer_two_persons",
                    ),
                    models.UniqueConstraint(fields=("house", "kind", "serial"), name="transfer_serial"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "received"), _negated=True),
                            models.Q(
                                ("carried_by__isnull", False),
                                models.Q(("carried_by", models.F("sent_by")), _negated=True),
                                models.Q(("carried_by", models.F("ended_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="transfer_carried_by_a_third",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "cancelled"), _negated=True),
                            ("sent__isnull", True),
                            models.Q(
                                ("declined_by__isnull", True),
                                models.Q(("ended_by", models.F("sent_by")), _negated=True),
                            ),
                            models.Q(
                                ("declined_by__isnull", False),
                                models.Q(("declined_by", models.F("sent_by")), _negated=True),
                                models.Q(("declined_by", models.F("ended_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="transfer_cancelled_by_two",
                    ),
                ],
            },
        ),
        install("transfers"),
        protect("transfers"),
    ]
