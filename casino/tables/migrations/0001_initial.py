"""Tables, their sessions, who sits where, and the keys of seats."""

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
        ("players", "0001_initial"),
        ("staff", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Table",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tables",
                        to="houses.house",
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
                ("game", models.CharField(max_length=32)),
                (
                    "area",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        max_length=32,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[A-Za-z0-9_-]{1,32}\\Z", "1 to 32 ASCII letters, digits, - or _"
                            )
                        ],
                    ),
                ),
                ("options", models.JSONField()),
                ("seats", models.PositiveSmallIntegerField()),
                ("min_stack", models.BigIntegerField()),
                ("max_stack", models.BigIntegerField()),
                (
                    "carryover_on_close",
                    models.CharField(
                        choices=[
                            ("split", "equal shares, the odd rest to the first after the dealer"),
                            ("house", "to the house"),
                            ("last_dealer", "to the player who dealt last"),
                            ("hold", "kept by the house for the table's next session"),
                            (
                                "play_on",
                                "played for: the table closes when it is won, or when too few are left to play",
                            ),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "client_seeds",
                    models.CharField(
                        choices=[("optional", "none; every seat may add one"), ("all", "every seat that is dealt in")],
                        db_default="optional",
                        default="optional",
                        max_length=8,
                    ),
                ),
                ("time_to_act", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("time_to_act_since", models.DateTimeField(blank=True, null=True)),
                ("device_play", models.BooleanField(db_default=False, default=False)),
                ("seat_fee", models.BigIntegerField(db_default=0, default=0)),
                (
                    "seat_fee_per",
                    models.CharField(
                        choices=[
                            ("deal", "every deal that a player is dealt into"),
                            ("hour", "an hour, begun by a deal"),
                        ],
                        db_default="deal",
                        default="deal",
                        max_length=4,
                    ),
                ),
                ("terms_to_come", models.JSONField(blank=True, null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("closed", "Closed"),
                            ("open", "Open"),
                            ("playing", "Playing"),
                            ("settling", "Settling"),
                            ("disputed", "Disputed"),
                            ("retired", "Retired"),
                        ],
                        default="closed",
                        max_length=8,
                    ),
                ),
                ("version", models.BigIntegerField(default=1)),
                ("button", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("hands_dealt", models.PositiveIntegerField(default=0)),
                ("last_record_hash", models.CharField(blank=True, default="", max_length=64)),
                ("prepared_deal", models.CharField(blank=True, default="", max_length=48)),
                ("abandoned_deals", models.PositiveIntegerField(default=0)),
                (
                    "dealer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="staff.staff",
                    ),
                ),
            ],
            options={
                "verbose_name": "table",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "code"), name="table_code"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["closed", "open", "playing", "settling", "disputed", "retired"])
                        ),
                        name="table_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("carryover_on_close__in", ["split", "house", "last_dealer", "hold", "play_on"])
                        ),
                        name="table_carryover_on_close",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("client_seeds__in", ["optional", "all"])), name="table_client_seeds"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("max_stack__gte", models.F("min_stack")), ("min_stack__gte", 0)),
                        name="table_limits",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("time_to_act", None), ("time_to_act__range", (5, 3600)), _connector="OR"),
                        name="table_time_to_act",
                    ),
                    models.CheckConstraint(condition=models.Q(("seat_fee__gte", 0)), name="table_seat_fee"),
                    models.CheckConstraint(
                        condition=models.Q(("seat_fee_per__in", ["deal", "hour"])), name="table_seat_fee_per"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TableSession",
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
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="sessions", to="tables.table"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("opened_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("closed_at", models.DateTimeField(null=True)),
                ("held", models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict)),
                ("opener", models.BigIntegerField(null=True)),
                (
                    "resumes",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tables.tablesession",
                    ),
                ),
            ],
            options={
                "verbose_name": "table session",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "table", "number"), name="session_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at", None)), fields=("house", "table"), name="session_one_open"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Seating",
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
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="seatings", to="tables.tablesession"
                    ),
                ),
                ("seat", models.PositiveSmallIntegerField()),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="seatings", to="players.player"
                    ),
                ),
                ("sat_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("left_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "seating",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("left_at", None)),
                        fields=("house", "session", "seat"),
                        name="seat_taken_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("left_at", None)),
                        fields=("house", "session", "player"),
                        name="player_seated_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeatDevice",
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
                    "seating",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="devices", to="tables.seating"
                    ),
                ),
                ("mark", models.CharField(max_length=64)),
                ("named_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "device of a seat",
                "constraints": [models.UniqueConstraint(fields=("house", "seating", "mark"), name="seat_device_once")],
            },
        ),
        migrations.CreateModel(
            name="SeatKey",
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
                    "seating",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="keys", to="tables.seating"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("issued_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("replaced_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "key of a seat",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("replaced_at", None)), fields=("house", "seating"), name="seat_key_one_good"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TableTerms",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("terms", models.JSONField()),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("set_by", models.CharField(max_length=64)),
                ("begun_at", models.DateTimeField(null=True)),
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
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="terms", to="tables.table"
                    ),
                ),
            ],
            options={
                "verbose_name": "terms of a table",
                "verbose_name_plural": "terms of a table",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "table", "number"), name="table_terms_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("begun_at", None), ("ended_at", None)),
                        fields=("house", "table"),
                        name="table_terms_one_to_come",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("begun_at__isnull", False), ("ended_at", None)),
                        fields=("house", "table"),
                        name="table_terms_one_in_force",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DealerTurn",
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
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="turns", to="tables.table"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "dealer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="turns", to="staff.staff"
                    ),
                ),
                ("began_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("first_hand", models.PositiveIntegerField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("last_hand", models.PositiveIntegerField(null=True)),
                (
                    "ended_with",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("break", "the dealer goes on a break"),
                            ("done", "the dealer has another duty, or goes home"),
                            ("closed", "the table was closed"),
                        ],
                        default="",
                        max_length=6,
                    ),
                ),
            ],
            options={
                "verbose_name": "turn of a dealer",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "table", "number"), name="turn_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)), fields=("house", "table"), name="turn_one_at_a_table"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)), fields=("house", "dealer"), name="turn_at_one_table"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("ended_with", ""), ("last_hand__isnull", True)),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("ended_with__in", ["break", "done", "closed"]),
                                ("last_hand__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="turn_ended_with_something",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WaitingEntry",
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
                ("game", models.CharField(max_length=32)),
                (
                    "table",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tables.table"
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("called", "Called"),
                            ("seated", "Seated"),
                            ("no_show", "No Show"),
                            ("removed", "Removed"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("added_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "called_to",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tables.table"
                    ),
                ),
                ("called_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "entry of the waiting list",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="waiting_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["waiting", "called"])),
                        fields=("house", "player", "game"),
                        name="waiting_once_for_a_game",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("state__in", ["waiting", "called"])),
                            models.Q(("ended_at__isnull", False), ("state__in", ["seated", "no_show", "removed"])),
                            _connector="OR",
                        ),
                        name="waiting_ended_or_not",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("called_at__isnull", True), ("called_to__isnull", True), ("state", "waiting")),
                            ("state", "removed"),
                            models.Q(
                                ("called_at__isnull", False),
                                ("called_to__isnull", False),
                                ("state__in", ["called", "seated", "no_show"]),
                            ),
                            _connector="OR",
                        ),
                        name="waiting_called_or_not",
                    ),
                ],
            },
        ),
        install("tables"),
        protect("tables"),
    ]
