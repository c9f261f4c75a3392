"""Complaints, legal holds, retention, the sealed register, and what PostgreSQL keeps of them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import protect


class Migration(migrations.Migration):
    """Tables, triggers and rights."""

    initial = True

    dependencies = [
        ("hands", "0001_initial"),
        ("houses", "0001_initial"),
        ("players", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Complaint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("hand", "how a hand was played, ruled on or paid"),
                            ("cards", "cards, shuffling and dealing"),
                            ("cage", "buy-ins, cash-outs, deposits and payouts"),
                            ("staff", "the conduct of a member of staff"),
                            ("player", "the conduct of another player"),
                            ("protection", "exclusion, limits and the protection of players"),
                            ("data", "personal data"),
                            ("other", "anything else"),
                        ],
                        max_length=12,
                    ),
                ),
                ("arrived_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("evidence", models.JSONField()),
                ("opened_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("answered", "Answered"),
                            ("escalated", "Escalated"),
                            ("closed", "Closed"),
                        ],
                        default="open",
                        max_length=9,
                    ),
                ),
                ("answered_at", models.DateTimeField(null=True)),
                ("adr", models.CharField(blank=True, default="", max_length=120)),
                ("escalated_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("upheld", "Upheld"),
                            ("partly_upheld", "Partly"),
                            ("rejected", "Rejected"),
                            ("settled", "Settled"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="",
                        max_length=13,
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "answered_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                    "escalated_by",
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
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                (
                    "opened_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player"
                    ),
                ),
            ],
            options={
                "verbose_name": "complaint",
            },
        ),
        migrations.CreateModel(
            name="ComplaintText",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "step",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("answered", "Answered"),
                            ("escalated", "Escalated"),
                            ("closed", "Closed"),
                        ],
                        max_length=9,
                    ),
                ),
                ("sealed", models.BinaryField()),
                ("sealed_sha256", models.CharField(max_length=64)),
                (
                    "complaint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="texts", to="evidence.complaint"
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
                "verbose_name": "text of a complaint",
            },
        ),
        migrations.CreateModel(
            name="LegalHold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("player", "everything about one player"),
                            ("hand", "a hand, and the players who sat in it"),
                            ("days", "gaming days from one to another, and the players who were there"),
                            ("house", "everything"),
                            ("complaint", "the evidence of a complaint, as long as it is open"),
                        ],
                        max_length=9,
                    ),
                ),
                ("first_day", models.CharField(blank=True, default="", max_length=10)),
                ("last_day", models.CharField(blank=True, default="", max_length=10)),
                ("reason", models.CharField(max_length=200)),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("lifted_at", models.DateTimeField(null=True)),
                ("lifted_reason", models.CharField(blank=True, default="", max_length=200)),
                (
                    "complaint",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evidence.complaint",
                    ),
                ),
                (
                    "hand",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hands.hand"
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                (
                    "lifted_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player"
                    ),
                ),
                (
                    "set_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "legal hold",
            },
        ),
        migrations.CreateModel(
            name="RetentionRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("deleted", models.JSONField()),
                ("held_count", models.PositiveIntegerField()),
                ("by", models.CharField(max_length=64)),
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
                "verbose_name": "run of retention",
            },
        ),
        migrations.CreateModel(
            name="SealedEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("wrapped", models.BinaryField()),
                ("sealed", models.BinaryField()),
                ("sealed_sha256", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
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
                "verbose_name": "entry of the sealed register",
            },
        ),
        migrations.AddConstraint(
            model_name="complaint",
            constraint=models.UniqueConstraint(fields=("house", "number"), name="complaint_number"),
        ),
        migrations.AddConstraint(
            model_name="complaint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind__in", ["hand", "cards", "cage", "staff", "player", "protection", "data", "other"])
                ),
                name="complaint_kind",
            ),
        ),
        migrations.AddConstraint(
            model_name="complaint",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "answered", "escalated", "closed"])), name="complaint_state"
            ),
        ),
        migrations.AddConstraint(
            model_name="complaint",
            constraint=models.CheckConstraint(
                condition=models.Q(("arrived_at__lte", models.F("due_at"))), name="complaint_due_after"
            ),
        ),
        migrations.AddConstraint(
            model_name="complaint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("ended_at__isnull", False),
                        ("ended_by__isnull", False),
                        ("state", "closed"),
                        ("outcome__in", ["upheld", "partly_upheld", "rejected", "settled", "withdrawn"]),
                    ),
                    models.Q(
                        models.Q(("state", "closed"), _negated=True),
                        ("ended_at", None),
                        ("ended_by", None),
                        ("outcome", ""),
                    ),
                    _connector="OR",
                ),
                name="complaint_end_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="complaint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answered_at", None), ("answered_by", None)),
                    models.Q(("answered_at__isnull", False), ("answered_by__isnull", False)),
                    _connector="OR",
                ),
                name="complaint_answer_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="complaint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("adr", ""), ("escalated_at", None), ("escalated_by", None)),
                    models.Q(
                        ("escalated_at__isnull", False),
                        ("escalated_by__isnull", False),
                        models.Q(("adr", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="complaint_escalation_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="complainttext",
            constraint=models.UniqueConstraint(fields=("house", "complaint", "step"), name="complaint_text_step"),
        ),
        migrations.AddIndex(
            model_name="legalhold",
            index=models.Index(condition=models.Q(("lifted_at", None)), fields=["house"], name="legal_hold_in_force"),
        ),
        migrations.AddConstraint(
            model_name="legalhold",
            constraint=models.UniqueConstraint(fields=("house", "number"), name="legal_hold_number"),
        ),
        migrations.AddConstraint(
            model_name="legalhold",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("complaint", None),
                        ("first_day", ""),
                        ("hand", None),
                        ("last_day", ""),
                        ("player__isnull", False),
                        ("scope", "player"),
                    ),
                    models.Q(
                        ("complaint", None),
                        ("first_day", ""),
                        ("hand__isnull", False),
                        ("last_day", ""),
                        ("player", None),
                        ("scope", "hand"),
                    ),
                    models.Q(
                        ("complaint", None),
                        ("first_day__lte", models.F("last_day")),
                        ("hand", None),
                        ("player", None),
                        ("scope", "days"),
                        models.Q(("first_day", ""), _negated=True),
                    ),
                    models.Q(
                        ("complaint", None),
                        ("first_day", ""),
                        ("hand", None),
                        ("last_day", ""),
                        ("player", None),
                        ("scope", "house"),
                    ),
                    models.Q(
                        ("complaint__isnull", False),
                        ("first_day", ""),
                        ("hand", None),
                        ("last_day", ""),
                        ("player", None),
                        ("scope", "complaint"),
                    ),
                    _connector="OR",
                ),
                name="legal_hold_scope",
            ),
        ),
        migrations.AddConstraint(
            model_name="legalhold",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lifted_at", None), ("lifted_by", None), ("lifted_reason", "")),
                    models.Q(
                        ("lifted_at__isnull", False),
                        ("lifted_by__isnull", False),
                        models.Q(("lifted_reason", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="legal_hold_lifted_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrun",
            constraint=models.UniqueConstraint(fields=("house", "number"), name="retention_run_number"),
        ),
        migrations.AddConstraint(
            model_name="sealedentry",
            constraint=models.UniqueConstraint(fields=("house", "number"), name="sealed_entry_number"),
        ),
        protect("evidence"),
    ]
