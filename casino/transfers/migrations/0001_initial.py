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
        ("chips", "0001_initial"),
        ("houses", "0001_initial"),
        ("players", "0001_initial"),
        ("tables", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Box",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("serial", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("drop", "cash that players put down"),
                            ("tax", "chips of the tax and of fees"),
                            ("tip", "chips of tips"),
                        ],
                        max_length=4,
                    ),
                ),
                ("number", models.CharField(max_length=32)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("at_table", "At Table"),
                            ("taken", "Taken"),
                            ("brought", "Brought"),
                            ("counted", "Counted"),
                            ("received", "Received"),
                        ],
                        default="at_table",
                        max_length=8,
                    ),
                ),
                ("put_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("seal", models.CharField(blank=True, default="", max_length=32)),
                ("taken_at", models.DateTimeField(null=True)),
                ("for_day", models.CharField(blank=True, default="", max_length=10)),
                ("expected_cash", models.BigIntegerField(null=True)),
                ("expected_pieces", models.JSONField(null=True)),
                ("seal_read", models.CharField(blank=True, default="", max_length=32)),
                ("brought_at", models.DateTimeField(null=True)),
                ("differing_rounds", models.PositiveSmallIntegerField(default=0)),
                ("counted_cash", models.BigIntegerField(null=True)),
                ("counted_pieces", models.JSONField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                (
                    "observer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("received_at", models.DateTimeField(null=True)),
                (
                    "brought_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "decided_by",
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
                        on_delete=django.db.models.deletion.PROTECT, related_name="boxes", to="houses.house"
                    ),
                ),
                (
                    "put_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "received_by",
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
                        on_delete=django.db.models.deletion.PROTECT, related_name="boxes", to="tables.table"
                    ),
                ),
                (
                    "taken_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "box",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("kind__in", ["drop", "tax", "tip"])), name="box_kind"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["at_table", "taken", "brought", "counted", "received"])),
                        name="box_state",
                    ),
                    models.UniqueConstraint(fields=("house", "serial"), name="box_serial"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "at_table")),
                        fields=("house", "table", "kind"),
                        name="box_one_at_table",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["at_table", "taken", "brought"])),
                        fields=("house", "number"),
                        name="box_in_use",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state", "at_table"),
                            models.Q(
                                models.Q(("seal", ""), _negated=True),
                                ("expected_cash__gte", 0),
                                ("expected_pieces__isnull", False),
                                ("taken_at__isnull", False),
                                ("taken_by__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="box_taken_is_sealed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["at_table", "taken"]),
                            models.Q(
                                models.Q(("seal_read", ""), _negated=True),
                                ("brought_by__isnull", False),
                                models.Q(("brought_by", models.F("taken_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="box_brought_by_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["counted", "received"]), _negated=True),
                            models.Q(("counted_cash__gte", 0), ("counted_pieces__isnull", False)),
                            _connector="OR",
                        ),
                        name="box_counted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "received"), _negated=True),
                            models.Q(
                                ("received_at__isnull", False),
                                ("received_by__isnull", False),
                                models.Q(("received_by", models.F("taken_by")), _negated=True),
                                models.Q(
                                    ("decided_by__isnull", True),
                                    models.Q(("received_by", models.F("decided_by")), _negated=True),
                                    _connector="OR",
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="box_received_by_a_third",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_by", None), ("observer", None)),
                            models.Q(
                                ("decided_by__isnull", False),
                                ("observer__isnull", False),
                                models.Q(("observer", models.F("decided_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="box_decided_before_surveillance",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BoxCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("round", models.PositiveSmallIntegerField()),
                ("cash", models.BigIntegerField()),
                ("pieces", models.JSONField()),
                ("counted_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "box",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="counts", to="transfers.box"
                    ),
                ),
                (
                    "counted_by",
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
                "verbose_name": "count of a box",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "box", "round", "counted_by"), name="box_count_by_two"),
                    models.CheckConstraint(condition=models.Q(("cash__gte", 0)), name="box_count_cash"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ChipMove",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("delivery", "new chips come from the maker"),
                            ("set_aside", "chips of the vault are put aside, to be destroyed"),
                            ("withdrawn", "chips of a withdrawn set come from a drawer that has taken them back"),
                            ("destruction", "chips that were put aside are destroyed before surveillance"),
                        ],
                        max_length=11,
                    ),
                ),
                ("serial", models.PositiveIntegerField()),
                ("paper", models.CharField(max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("differed", "Differed"), ("done", "Done")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("noted", models.JSONField()),
                ("noted_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("differing_rounds", models.PositiveSmallIntegerField(default=0)),
                ("counted", models.JSONField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "chip_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="chips.chipset"
                    ),
                ),
                (
                    "decided_by",
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
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="cage.drawer"
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="chip_moves", to="houses.house"
                    ),
                ),
                (
                    "noted_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "observer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "movement of chips",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["delivery", "set_aside", "withdrawn", "destruction"])),
                        name="chip_move_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "differed", "done"])), name="chip_move_state"
                    ),
                    models.UniqueConstraint(fields=("house", "serial"), name="chip_move_serial"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("kind", "destruction"),
                                ("observer__isnull", False),
                                models.Q(("observer", models.F("noted_by")), _negated=True),
                            ),
                            models.Q(models.Q(("kind", "destruction"), _negated=True), ("observer", None)),
                            _connector="OR",
                        ),
                        name="chip_move_observed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("drawer__isnull", False), ("kind", "withdrawn")),
                            models.Q(models.Q(("kind", "withdrawn"), _negated=True), ("drawer", None)),
                            _connector="OR",
                        ),
                        name="chip_move_from_a_drawer",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True),
                            models.Q(("counted__isnull", False), ("ended_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="chip_move_counted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_by", None), ("reason", "")),
                            models.Q(
                                ("decided_by__isnull", False),
                                ("kind", "delivery"),
                                ("state", "done"),
                                models.Q(("reason", ""), _negated=True),
                                models.Q(("decided_by", models.F("noted_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="chip_move_decided_by_another",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ChipMoveCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("round", models.PositiveSmallIntegerField()),
                ("pieces", models.JSONField()),
                ("counted_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "counted_by",
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
                    "move",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="counts", to="transfers.chipmove"
                    ),
                ),
            ],
            options={
                "verbose_name": "count of a movement of chips",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("house", "move", "round", "counted_by"), name="chip_move_count_by_two"
                    ),
                ],
            },
        ),
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
                (
                    "reservation",
                    models.CharField(
                        blank=True,
                        choices=[("pending", "Pending"), ("voided", "Voided"), ("expired", "Expired")],
                        db_default="",
                        default="",
                        max_length=7,
                    ),
                ),
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
                    ),
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
                    models.CheckConstraint(
                        condition=models.Q(
                            ("reservation", ""),
                            models.Q(("kind", "fill"), ("reservation__in", ["pending", "voided", "expired"])),
                            _connector="OR",
                        ),
                        name="transfer_reservation",
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
        migrations.CreateModel(
            name="TrayCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("serial", models.PositiveIntegerField()),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("opener", "before the table opens"),
                            ("closer", "after the table has closed"),
                            ("box_change", "when boxes are changed"),
                            ("check", "at any other time"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("confirmed", "Confirmed"),
                            ("differed", "Differed"),
                            ("replaced", "Replaced"),
                        ],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("expected", models.JSONField()),
                ("pieces", models.JSONField()),
                ("counted_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("witnessed", models.JSONField(null=True)),
                (
                    "exception",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "nothing"),
                            ("differs_from_closer", "chips came or went since the last closer without a transfer"),
                            ("no_closer", "no closer was counted since the opener before it"),
                        ],
                        default="",
                        max_length=19,
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "counted_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="tray_counts", to="houses.house"
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="tray_counts", to="tables.table"
                    ),
                ),
                (
                    "witnessed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "tray count",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("purpose__in", ["opener", "closer", "box_change", "check"])),
                        name="tray_count_purpose",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "confirmed", "differed", "replaced"])),
                        name="tray_count_state",
                    ),
                    models.UniqueConstraint(fields=("house", "serial"), name="tray_count_serial"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "waiting")),
                        fields=("house", "table"),
                        name="tray_count_one_waiting",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["waiting", "replaced"]),
                            models.Q(
                                ("witnessed__isnull", False),
                                ("witnessed_by__isnull", False),
                                models.Q(("witnessed_by", models.F("counted_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="tray_count_two_persons",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TroncPool",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("serial", models.PositiveIntegerField()),
                ("amount", models.BigIntegerField()),
                ("shared_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="tronc_pools", to="houses.house"
                    ),
                ),
                (
                    "shared_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "tronc pool",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "serial"), name="tronc_pool_serial"),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="tronc_pool_amount"),
                ],
            },
        ),
        migrations.CreateModel(
            name="TroncShare",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("points", models.PositiveIntegerField()),
                ("amount", models.BigIntegerField()),
                ("paid_at", models.DateTimeField(null=True)),
                (
                    "drawer",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="cage.drawer"
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
                    "paid_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "pool",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="shares", to="transfers.troncpool"
                    ),
                ),
                (
                    "staff",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "share of the tronc",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "pool", "staff"), name="tronc_share_once"),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gte", 0), ("points__gt", 0)), name="tronc_share_amount"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("drawer__isnull", True), ("paid_at__isnull", True), ("paid_by__isnull", True)),
                            models.Q(
                                ("drawer__isnull", False),
                                ("paid_at__isnull", False),
                                ("paid_by__isnull", False),
                                models.Q(("paid_by", models.F("staff")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="tronc_share_paid_by_another",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LateClaim",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("amount", models.BigIntegerField()),
                ("pieces", models.JSONField()),
                ("reason", models.CharField(max_length=200)),
                ("paid_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "chip_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="late_claims", to="chips.chipset"
                    ),
                ),
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="late_claims", to="cage.drawer"
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="late_claims", to="houses.house"
                    ),
                ),
                (
                    "paid_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player"
                    ),
                ),
            ],
            options={
                "verbose_name": "late claim",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="late_claim_number"),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="late_claim_amount"),
                    models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="late_claim_reason"),
                ],
            },
        ),
        install("transfers"),
        protect("transfers"),
    ]
