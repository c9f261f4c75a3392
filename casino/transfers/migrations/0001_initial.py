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
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("cage", "0001_initial"),
        ("houses", "0001_initial"),
        ("tables", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Transfer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="transfers", to="houses.house"
                    ),
                ),
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
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="transfers", to="tables.table"
                    ),
                ),
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="transfers", to="cage.drawer"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "Requested"),
                            ("sent", "Sent"),
                            ("received", "Received"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="requested",
                        max_length=9,
                    ),
                ),
                ("requested", models.JSONField()),
                (
                    "opened_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("opened_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("sent", models.JSONField(null=True)),
                (
                    "sent_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("sent_at", models.DateTimeField(null=True)),
                ("counted", models.JSONField(null=True)),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "verbose_name": "transfer",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["requested", "sent"])),
                        fields=["house", "id"],
                        name="transfer_under_way",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("kind__in", ["fill", "credit"])), name="transfer_kind"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["requested", "sent", "received", "cancelled"])),
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
                ],
            },
        ),
        migrations.CreateModel(
            name="SoftCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="soft_counts", to="cage.drawer"
                    ),
                ),
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
                (
                    "counted_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("counted_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "soft count",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["counted", "confirmed", "voided"])),
                        name="soft_count_state",
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
        install("transfers"),
        protect("transfers"),
    ]
