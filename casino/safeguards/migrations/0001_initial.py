"""Exclusions, admissions, limits, interactions and minors."""

import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import protect


class Migration(migrations.Migration):
    """Tables, triggers and rights."""

    initial = True

    dependencies = [
        ("houses", "0001_initial"),
        ("players", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Admission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.CharField(max_length=32)),
                (
                    "document",
                    models.CharField(
                        choices=[
                            ("identity_card", "Identity Card"),
                            ("passport", "Passport"),
                            ("driving_licence", "Driving Licence"),
                            ("residence_permit", "Residence Permit"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "age_band",
                    models.CharField(
                        choices=[
                            ("18-24", "From 18"),
                            ("25-34", "From 25"),
                            ("35-49", "From 35"),
                            ("50-64", "From 50"),
                            ("65+", "From 65"),
                        ],
                        max_length=8,
                    ),
                ),
                ("seen_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
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
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="admissions", to="players.player"
                    ),
                ),
                (
                    "seen_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "admission",
                "constraints": [models.UniqueConstraint(fields=("house", "player", "day"), name="admitted_once_a_day")],
            },
        ),
        migrations.CreateModel(
            name="Exclusion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("self", "the player"),
                            ("house", "the house"),
                            ("register", "a court, an authority or a public register"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "scope",
                    models.CharField(choices=[("house", "the whole house"), ("play", "play only")], max_length=8),
                ),
                (
                    "asked_by",
                    models.CharField(
                        choices=[
                            ("player", "Player"),
                            ("relative", "Relative"),
                            ("house", "House"),
                            ("court", "Court"),
                            ("authority", "Authority"),
                        ],
                        max_length=16,
                    ),
                ),
                ("in_person", models.BooleanField()),
                ("until", models.DateTimeField(null=True)),
                ("note", models.BinaryField(default=b"")),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("lift_asked_at", models.DateTimeField(null=True)),
                ("lifted_at", models.DateTimeField(null=True)),
                (
                    "lift_cause",
                    models.CharField(
                        blank=True,
                        choices=[("revoked", "asked for, after its term"), ("wrong_entry", "it was entered wrongly")],
                        default="",
                        max_length=16,
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
                    "lift_asked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exclusions",
                        to="players.player",
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
                "verbose_name": "exclusion",
                "indexes": [
                    models.Index(
                        condition=models.Q(("lifted_at", None)), fields=["house", "player"], name="exclusion_not_lifted"
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="exclusion_number")],
            },
        ),
        migrations.CreateModel(
            name="Interaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("reality_check", "informed how long, and what it came to"),
                            ("talk", "spoken to"),
                            ("limit_offered", "a limit was offered"),
                            ("exclusion_offered", "an exclusion was offered"),
                            ("referred", "help was named"),
                        ],
                        max_length=24,
                    ),
                ),
                ("note", models.BinaryField(default=b"")),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "by",
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
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="interactions", to="players.player"
                    ),
                ),
            ],
            options={
                "verbose_name": "interaction",
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="interaction_number")],
                "indexes": [models.Index(fields=["house", "player", "kind", "-at"], name="interaction_newest")],
            },
        ),
        migrations.CreateModel(
            name="RealityCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("table", models.CharField(max_length=32)),
                ("seat", models.PositiveSmallIntegerField()),
                ("minutes", models.PositiveIntegerField()),
                ("raised_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
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
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="reality_checks", to="players.player"
                    ),
                ),
            ],
            options={
                "verbose_name": "reality check",
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="reality_check_number")],
                "indexes": [models.Index(fields=["house", "player", "-number"], name="reality_check_newest")],
            },
        ),
        migrations.CreateModel(
            name="PlayerLimit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("loss", "what is paid in less what is paid out, minor units"),
                            ("buy_in", "what is paid in, minor units"),
                            ("time", "minutes on a seat"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "span",
                    models.CharField(
                        choices=[("day", "the gaming day"), ("week", "7 days"), ("month", "30 days")], max_length=8
                    ),
                ),
                ("most", models.BigIntegerField(null=True)),
                ("starts_at", models.DateTimeField()),
                ("set_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
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
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="limits", to="players.player"
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
                "verbose_name": "player's limit",
                "indexes": [
                    models.Index(fields=["house", "player", "kind", "span", "-number"], name="player_limit_newest")
                ],
                "constraints": [models.UniqueConstraint(fields=("house", "number"), name="player_limit_number")],
            },
        ),
        migrations.CreateModel(
            name="ExclusionMark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mark", models.CharField(max_length=64)),
                ("salted", models.BinaryField()),
                (
                    "exclusion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="marks", to="safeguards.exclusion"
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
                "verbose_name": "mark of an exclusion",
                "indexes": [models.Index(fields=["house", "mark"], name="exclusion_mark_found")],
                "constraints": [
                    models.UniqueConstraint(fields=("house", "exclusion", "mark"), name="exclusion_mark_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "mark",
                                models.Func(
                                    models.Func(models.F("salted"), models.Value(17), function="substr"),
                                    models.Value("hex"),
                                    function="encode",
                                    output_field=models.CharField(),
                                ),
                            )
                        ),
                        name="exclusion_mark_is_salted",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExclusionMatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("found_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("cleared_at", models.DateTimeField(null=True)),
                (
                    "cleared_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "exclusion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="matches", to="safeguards.exclusion"
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
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exclusion_matches",
                        to="players.player",
                    ),
                ),
            ],
            options={
                "verbose_name": "match of an exclusion",
                "indexes": [
                    models.Index(
                        condition=models.Q(("cleared_at", None)),
                        fields=["house", "player"],
                        name="exclusion_match_counts",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("house", "exclusion", "player"), name="exclusion_match_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("cleared_at", None), ("cleared_by", None)),
                            models.Q(("cleared_at__isnull", False), ("cleared_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="exclusion_match_cleared_by_somebody",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Remittance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("amount", models.PositiveBigIntegerField()),
                (
                    "beneficiary",
                    models.CharField(choices=[("state", "the state"), ("charity", "a charity")], max_length=8),
                ),
                ("payee", models.CharField(max_length=120)),
                ("note", models.CharField(max_length=32)),
                ("remitted_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
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
                    "remitted_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "remittance of winnings",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="remittance_number"),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="remittance_of_something"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Minor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("least_age", models.PositiveSmallIntegerField()),
                ("note", models.BinaryField()),
                ("recorded_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "state",
                    models.CharField(
                        choices=[("recorded", "Recorded"), ("settled", "Settled"), ("cleared", "Cleared")],
                        default="recorded",
                        max_length=8,
                    ),
                ),
                ("stakes", models.BigIntegerField(null=True)),
                ("deposit", models.BigIntegerField(null=True)),
                ("held", models.BigIntegerField(null=True)),
                ("refund", models.BigIntegerField(null=True)),
                ("kept", models.BigIntegerField(null=True)),
                ("borne", models.BigIntegerField(null=True)),
                ("payout", models.PositiveIntegerField(null=True)),
                ("remit_by", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
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
                    "exclusion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="safeguards.exclusion"
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
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="minor_rows", to="players.player"
                    ),
                ),
                (
                    "remittance",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="minors",
                        to="safeguards.remittance",
                    ),
                ),
                (
                    "recorded_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "minor",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "cleared"), _negated=True),
                        fields=["house", "player"],
                        name="minor_not_cleared",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="minor_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "recorded")), fields=("house", "player"), name="minor_settled_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("ended_by", None), ("state", "recorded")),
                            models.Q(
                                models.Q(("state", "recorded"), _negated=True),
                                ("ended_at__isnull", False),
                                ("ended_by__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="minor_ended_by_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                models.Q(("state", "settled"), _negated=True),
                                ("borne", None),
                                ("deposit", None),
                                ("held", None),
                                ("kept", None),
                                ("payout", None),
                                ("refund", None),
                                ("stakes", None),
                            ),
                            models.Q(
                                ("borne__gte", 0),
                                ("borne__isnull", False),
                                ("deposit__gte", 0),
                                ("deposit__isnull", False),
                                ("held__gte", 0),
                                ("held__isnull", False),
                                ("kept__gte", 0),
                                ("kept__isnull", False),
                                (
                                    "refund",
                                    django.db.models.expressions.CombinedExpression(
                                        django.db.models.expressions.CombinedExpression(
                                            django.db.models.expressions.CombinedExpression(
                                                models.F("deposit"), "+", models.F("held")
                                            ),
                                            "+",
                                            models.F("borne"),
                                        ),
                                        "-",
                                        models.F("kept"),
                                    ),
                                ),
                                ("refund__gte", 0),
                                ("refund__isnull", False),
                                ("stakes__isnull", False),
                                ("state", "settled"),
                            ),
                            _connector="OR",
                        ),
                        name="minor_sums",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("remittance", None), models.Q(("kept__gt", 0), ("state", "settled")), _connector="OR"
                        ),
                        name="minor_remitted_what_was_kept",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kept", None), ("remit_by", None)),
                            models.Q(("kept", 0), ("remit_by", None)),
                            models.Q(("kept__gt", 0), ("remit_by__gt", models.F("ended_at"))),
                            _connector="OR",
                        ),
                        name="minor_remitted_by_then",
                    ),
                ],
            },
        ),
        protect("safeguards"),
    ]
