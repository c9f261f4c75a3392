"""Staff, terminals, sessions and answered requests; the tables of the sign-in lock (axes) belong to them."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import install, protect


class Migration(migrations.Migration):
    """Tables, functions, triggers and rights."""

    initial = True

    dependencies = [
        ("axes", "0010_accessattemptexpiration"),
        ("houses", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Staff",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="staff", to="houses.house"
                    ),
                ),
                ("login", models.CharField(max_length=64)),
                ("name", models.CharField(max_length=120)),
                (
                    "roles",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("dealer", "Dealer"),
                                ("floor", "Floor"),
                                ("cashier", "Cashier"),
                                ("cage_supervisor", "Cage Supervisor"),
                                ("count", "Count"),
                                ("surveillance", "Surveillance"),
                                ("delegate", "Delegate"),
                                ("compliance", "Compliance"),
                                ("manager", "Manager"),
                                ("auditor", "Auditor"),
                                ("admin", "Admin"),
                            ],
                            max_length=16,
                        ),
                        size=None,
                    ),
                ),
                ("is_active", models.BooleanField(default=True)),
                ("locked_by_password", models.BooleanField(db_default=False, default=False)),
                ("player_ref", models.CharField(blank=True, db_default="", default="", max_length=32)),
                (
                    "password_givers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64), db_default=[], default=list, size=None
                    ),
                ),
                ("hired_by", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("must_change_password", models.BooleanField(db_default=False, default=False)),
                ("pin", models.CharField(max_length=128, null=True)),
                ("totp_sealed", models.BinaryField(null=True)),
                ("totp_since", models.DateTimeField(null=True)),
                ("totp_step", models.BigIntegerField(db_default=0, default=0)),
                ("passkey_count", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("version", models.BigIntegerField(default=1)),
                ("hired_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "member of staff",
                "verbose_name_plural": "staff",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "roles__contained_by",
                                [
                                    "dealer",
                                    "floor",
                                    "cashier",
                                    "cage_supervisor",
                                    "count",
                                    "surveillance",
                                    "delegate",
                                    "compliance",
                                    "manager",
                                    "auditor",
                                    "admin",
                                ],
                            )
                        ),
                        name="staff_known_roles",
                    ),
                    models.UniqueConstraint(
                        models.F("house"), django.db.models.functions.text.Lower("login"), name="staff_login"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("player_ref", ""), _negated=True),
                        fields=("house", "player_ref"),
                        name="staff_one_player",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Terminal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="terminals", to="houses.house"
                    ),
                ),
                ("code", models.CharField(max_length=32)),
                (
                    "kind",
                    models.CharField(
                        choices=[("table", "Table"), ("cage", "Cage"), ("office", "Office")], max_length=8
                    ),
                ),
                ("location", models.CharField(blank=True, default="", max_length=32)),
                ("key_digest", models.CharField(max_length=64)),
                ("enrolled_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("revoked_at", models.DateTimeField(null=True)),
                ("version", models.BigIntegerField(default=1)),
            ],
            options={
                "verbose_name": "terminal",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "code"), name="terminal_code"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "office"), ("location", "")),
                            models.Q(
                                models.Q(("kind", "office"), _negated=True), models.Q(("location", ""), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="terminal_location",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TerminalToken",
            fields=[
                ("digest", models.CharField(max_length=128, primary_key=True, serialize=False)),
                ("token_key", models.CharField(db_index=True, max_length=25)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="auth_token_set",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expiry", models.DateTimeField(blank=True, null=True)),
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
                    "terminal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="tokens", to="staff.terminal"
                    ),
                ),
                ("last_seen_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("pin_failures", models.PositiveSmallIntegerField(db_default=0, default=0)),
            ],
            options={
                "verbose_name": "terminal token",
            },
        ),
        migrations.CreateModel(
            name="AnsweredRequest",
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
                    "terminal",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="staff.terminal",
                    ),
                ),
                ("key", models.CharField(max_length=128)),
                ("request_hash", models.CharField(max_length=64)),
                ("answer", models.TextField()),
                ("status", models.PositiveSmallIntegerField()),
                ("version", models.BigIntegerField()),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
            ],
            options={
                "verbose_name": "answered request",
                "indexes": [
                    django.contrib.postgres.indexes.BrinIndex(
                        autosummarize=True, fields=["at"], name="answered_request_at"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("house", "terminal", "key"), name="answered_request_key")
                ],
            },
        ),
        migrations.CreateModel(
            name="Passkey",
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
                    "staff",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="passkeys",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("credential_id", models.CharField(max_length=1364)),
                ("name", models.CharField(max_length=60)),
                ("public_key", models.BinaryField()),
                ("sign_count", models.BigIntegerField(db_default=0, default=0)),
                ("registered_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("last_used_at", models.DateTimeField(null=True)),
                ("clone_seen_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "passkey",
                "constraints": [models.UniqueConstraint(fields=("house", "credential_id"), name="passkey_credential")],
            },
        ),
        migrations.CreateModel(
            name="PasskeyChallenge",
            fields=[
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
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                (
                    "terminal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="staff.terminal"
                    ),
                ),
                ("bound_to", models.CharField(max_length=300)),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "challenge of a passkey",
            },
        ),
        migrations.CreateModel(
            name="RotaEntry",
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
                (
                    "staff",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="rota", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("table", "Table"), ("cage", "Cage"), ("office", "Office")], max_length=8
                    ),
                ),
                ("location", models.CharField(blank=True, default="", max_length=32)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("dealer", "Dealer"),
                            ("floor", "Floor"),
                            ("cashier", "Cashier"),
                            ("cage_supervisor", "Cage Supervisor"),
                            ("count", "Count"),
                            ("surveillance", "Surveillance"),
                            ("delegate", "Delegate"),
                            ("compliance", "Compliance"),
                            ("manager", "Manager"),
                            ("auditor", "Auditor"),
                            ("admin", "Admin"),
                        ],
                        max_length=16,
                    ),
                ),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                (
                    "entered_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("entered_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "withdrawn_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("withdrawn_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "verbose_name": "entry of the rota",
                "indexes": [models.Index(fields=["house", "staff", "ends_at"], name="rota_of_a_person")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gt", models.F("starts_at"))), name="rota_ends_after_it_starts"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("withdrawn_at__isnull", True), ("withdrawn_by__isnull", True)),
                            models.Q(("withdrawn_at__isnull", False), ("withdrawn_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="rota_withdrawn_by_somebody",
                    ),
                    models.UniqueConstraint(fields=("house", "number"), name="rota_number"),
                ],
            },
        ),
        install("staff"),
        protect("staff"),
    ]
