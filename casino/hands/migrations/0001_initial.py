"""Hands, their logs, their deals, entered cards and exceptions."""

import django.db.models.deletion
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import install, protect


class Migration(migrations.Migration):
    """Tables, functions, triggers and rights."""

    initial = True

    dependencies = [
        ("houses", "0001_initial"),
        ("tables", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Hand",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="hands",
                        to="houses.house",
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="hands", to="tables.table"
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="hands", to="tables.tablesession"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=48)),
                (
                    "mode",
                    models.CharField(choices=[("physical", "Physical"), ("electronic", "Electronic")], max_length=10),
                ),
                ("game", models.CharField(max_length=32)),
                ("rules", models.CharField(max_length=32)),
                ("options", models.JSONField()),
                ("seats", models.JSONField()),
                ("stacks", models.JSONField()),
                ("carry", models.BigIntegerField()),
                ("fees", models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict)),
                ("series", models.JSONField(default=dict)),
                ("commitment", models.CharField(blank=True, default="", max_length=64)),
                ("sealed_seed", models.BinaryField(default=b"")),
                ("client_seeds", models.JSONField(default=dict)),
                ("cards_roots", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("playing", "Playing"),
                            ("ended", "Ended"),
                            ("awaiting_approval", "Awaiting approval"),
                            ("approved", "Approved"),
                            ("settled", "Settled"),
                            ("disputed", "Disputed"),
                            ("ruled", "Ruled"),
                            ("voided", "Voided"),
                        ],
                        default="playing",
                        max_length=17,
                    ),
                ),
                ("previous_hash", models.CharField(blank=True, default="", max_length=64)),
                ("digest", models.CharField(blank=True, default="", max_length=64)),
                ("result", models.JSONField(null=True)),
                ("handle", models.BigIntegerField(null=True)),
                ("started_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("ended_at", models.DateTimeField(null=True)),
                ("settled_at", models.DateTimeField(null=True)),
                ("disputed_at", models.DateTimeField(null=True)),
                ("disputed_by", models.CharField(blank=True, default="", max_length=64)),
                ("disputed_from", models.CharField(blank=True, default="", max_length=17)),
                ("disputes_withdrawn", models.PositiveSmallIntegerField(default=0)),
                ("resumed_at", models.DateTimeField(null=True)),
                ("ruling", models.JSONField(null=True)),
                ("settlement", models.BigIntegerField(null=True)),
            ],
            options={
                "verbose_name": "hand",
                "indexes": [
                    models.Index(fields=["house", "id"], name="hand_house"),
                    models.Index(fields=["house", "started_at"], name="hand_started"),
                    GinIndex(fields=["seats"], opclasses=["jsonb_path_ops"], name="hand_seats"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("house", "name"), name="hand_name"),
                    models.UniqueConstraint(fields=("house", "table", "number"), name="hand_number"),
                    models.UniqueConstraint(fields=("house", "settlement"), name="hand_settlement"),
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("state__in", ["playing", "ended", "awaiting_approval", "approved", "disputed"])
                        ),
                        fields=("house", "table"),
                        name="hand_one_unsettled",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "playing",
                                    "ended",
                                    "awaiting_approval",
                                    "approved",
                                    "settled",
                                    "disputed",
                                    "ruled",
                                    "voided",
                                ],
                            )
                        ),
                        name="hand_state",
                    ),
                    models.CheckConstraint(condition=models.Q(("rules", ""), _negated=True), name="hand_has_rules"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["playing", "disputed", "ruled", "voided"]),
                            models.Q(("digest", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="hand_ended_has_digest",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["disputed", "ruled"]), _negated=True),
                            ("disputed_at__gte", models.F("started_at")),
                            _connector="OR",
                        ),
                        name="hand_disputed_has_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("disputed_by", ""), ("disputed_from", "")),
                            models.Q(
                                ("disputed_at__isnull", False),
                                ("disputed_from__in", ["playing", "ended", "awaiting_approval", "approved"]),
                                models.Q(("disputed_by", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="hand_disputed_by_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("disputes_withdrawn", 0), ("resumed_at__isnull", True)),
                            models.Q(
                                ("disputes_withdrawn__gt", 0),
                                ("resumed_at__gte", models.F("started_at")),
                            ),
                            _connector="OR",
                        ),
                        name="hand_resumed_has_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "settled"), _negated=True),
                            ("settled_at__gte", models.F("ended_at")),
                            _connector="OR",
                        ),
                        name="hand_settled_has_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ruling__isnull", False), ("settlement__isnull", False), ("state", "ruled")),
                            models.Q(models.Q(("state", "ruled"), _negated=True), ("ruling__isnull", True)),
                            _connector="OR",
                        ),
                        name="hand_ruled_has_ruling",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HandLine",
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
                    "hand",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lines",
                        to="hands.hand",
                    ),
                ),
                ("seq", models.PositiveIntegerField()),
                ("text", models.CharField(max_length=160)),
                ("sealed", models.BinaryField(db_default=b"")),
                ("hash", models.CharField(db_default="", max_length=64)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("aside", models.BooleanField(db_default=False)),
            ],
            options={
                "verbose_name": "line of a hand's log",
                "constraints": [models.UniqueConstraint(fields=("house", "hand", "seq"), name="hand_line_seq")],
            },
        ),
        migrations.CreateModel(
            name="Deal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"),
                ),
                (
                    "table",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tables.table"),
                ),
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=48)),
                ("commitment", models.CharField(max_length=64)),
                ("sealed_seed", models.BinaryField()),
                ("seats", models.JSONField()),
                ("announced", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[("prepared", "Prepared"), ("dealt", "Dealt"), ("abandoned", "Abandoned")],
                        default="prepared",
                        max_length=9,
                    ),
                ),
                ("closed_at", models.DateTimeField(null=True)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "deal",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "name"), name="deal_name"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "prepared")), fields=("house", "table"), name="deal_one_prepared"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["prepared", "dealt", "abandoned"])), name="deal_state"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeedCommitment",
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
                    "deal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="seed_commitments", to="hands.deal"
                    ),
                ),
                ("seat", models.PositiveSmallIntegerField()),
                ("player", models.CharField(max_length=32)),
                ("commitment", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "seed commitment",
                "constraints": [models.UniqueConstraint(fields=("house", "deal", "seat"), name="seed_commitment_once")],
            },
        ),
        migrations.CreateModel(
            name="ClientSeed",
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
                    "deal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="client_seeds", to="hands.deal"
                    ),
                ),
                ("seat", models.PositiveSmallIntegerField()),
                ("player", models.CharField(max_length=32)),
                ("seed", models.CharField(max_length=64)),
                ("given_by", models.CharField(choices=[("console", "Console"), ("player", "Player")], max_length=7)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "client seed",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "deal", "seat"), name="client_seed_once"),
                    models.CheckConstraint(
                        condition=models.Q(("given_by__in", ["console", "player"])), name="client_seed_given_by"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CardEntry",
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
                    "hand",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="hands.hand"
                    ),
                ),
                ("seat", models.PositiveSmallIntegerField()),
                ("index", models.PositiveSmallIntegerField()),
                ("sealed", models.BinaryField()),
                ("hash", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "card entry",
                "indexes": [models.Index(fields=["hand", "id"], name="card_entry_hand")],
            },
        ),
        migrations.CreateModel(
            name="Correction",
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
                    "hand",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="corrections", to="hands.hand"
                    ),
                ),
                ("seq", models.PositiveIntegerField()),
                ("before", models.CharField(max_length=160)),
                ("after", models.CharField(max_length=160)),
                ("sealed", models.BinaryField(db_default=b"")),
                ("hash", models.CharField(db_default="", max_length=64)),
                ("reason", models.CharField(max_length=200)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "correction",
                "indexes": [models.Index(fields=["hand", "seq", "id"], name="correction_line")],
            },
        ),
        migrations.CreateModel(
            name="LaterRuling",
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
                    "hand",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="later_rulings", to="hands.hand"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("tax_refunded", models.JSONField()),
                ("fee_refunded", models.JSONField(default=dict)),
                ("made_good", models.JSONField()),
                ("collected", models.JSONField()),
                ("readings", models.JSONField()),
                ("reason", models.CharField(max_length=200)),
                ("settlement", models.BigIntegerField(null=True)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "later ruling",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "hand", "number"), name="later_ruling_number"),
                    models.UniqueConstraint(fields=("house", "settlement"), name="later_ruling_settlement"),
                ],
            },
        ),
        migrations.CreateModel(
            name="CardException",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"),
                ),
                (
                    "table",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tables.table"),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "hand",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hands.hand"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("duplicate", "Duplicate"),
                            ("missing", "Missing"),
                            ("foreign", "Foreign"),
                            ("differs", "Differs"),
                            ("deck", "Deck"),
                        ],
                        max_length=9,
                    ),
                ),
                ("found", models.JSONField(null=True)),
                ("sealed", models.BinaryField(db_default=b"")),
                ("hash", models.CharField(db_default="", max_length=64)),
                ("found_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("cleared_at", models.DateTimeField(null=True)),
                ("cleared_by", models.CharField(blank=True, default="", max_length=64)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "verbose_name": "card exception",
                "indexes": [
                    models.Index(
                        condition=models.Q(("cleared_at", None)), fields=["table"], name="card_exception_open"
                    ),
                    models.Index(fields=["house", "id"], name="card_exception_house"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["duplicate", "missing", "foreign", "differs", "deck"])),
                        name="card_exception_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("cleared_at", None), ("cleared_by", ""), ("reason", "")),
                            models.Q(
                                ("cleared_at__isnull", False),
                                models.Q(("cleared_by", ""), _negated=True),
                                models.Q(("reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="card_exception_cleared_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("found__isnull", False), ("hand", None), ("hash", ""), ("sealed", b"")),
                            models.Q(
                                ("found__isnull", True),
                                ("hand__isnull", False),
                                models.Q(("sealed", b""), _negated=True),
                                models.Q(("hash", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="card_exception_sealed",
                    ),
                    models.UniqueConstraint(fields=("house", "table", "number"), name="card_exception_number"),
                ],
            },
        ),
        install("hands"),
        protect("hands"),
    ]
