"""Approvals, and what PostgreSQL keeps of them."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import install, protect


class Migration(migrations.Migration):
    """Table, function, triggers and rights."""

    initial = True

    dependencies = [
        ("houses", "0001_initial"),
        ("staff", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("exchange", "chips for cash, or cash for chips, at the cage"),
                            ("transfer", "a fill or a credit"),
                            ("void", "a void of a played hand"),
                            ("bonus", "a bonus of the house"),
                            ("ruling", "a ruling on a hand"),
                            ("duty", "duty that is booked"),
                            ("chip_set", "another chip set in use, or the end of one"),
                            ("counterfeit", "counterfeit notes or chips that are taken out"),
                            ("bank", "cash to or from the bank, and what another house pays for its chips"),
                            ("capital", "capital that the owners pay in or take out"),
                            ("stage", "a house that is suspended, resumed or closed"),
                            ("settings", "another table, drawer or tray, other terms or fees, once the house is live"),
                            ("staff", "people, roles and terminals, once the house is live"),
                            ("payout", "a payout that is held, or released"),
                            ("unclaimed", "found chips that are given to their owner, remitted or kept"),
                            ("drawer", "a drawer that is opened again"),
                            ("variance", "variances of a count that are offset"),
                            ("carry", "a cukassza or bank that is held for the next session"),
                            ("day", "the close of a gaming day"),
                            ("legal_hold", "a legal hold that is set or lifted"),
                            ("control_points", "other control points"),
                            ("exclusion", "an exclusion of a player that is lifted, or counts for a player no more"),
                            ("erasure", "a player who is forgotten"),
                            (
                                "minor",
                                "stakes of a minor given back, winnings remitted, or a player who is no minor",
                            ),
                            ("filing", "a return about a transaction that was filed"),
                        ],
                        max_length=16,
                    ),
                ),
                ("operation", models.CharField(max_length=64)),
                ("path", models.CharField(max_length=300)),
                ("body", models.JSONField()),
                ("request_hash", models.CharField(max_length=64)),
                ("amount", models.BigIntegerField(null=True)),
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
                ("every_role", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "Requested"),
                            ("approved", "Approved"),
                            ("refused", "Refused"),
                            ("used", "Used"),
                            ("expired", "Expired"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="requested",
                        max_length=9,
                    ),
                ),
                ("requested_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("expires_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("ended_at", models.DateTimeField(null=True)),
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
                    "decided_terminal",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="staff.terminal"
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="approvals", to="houses.house"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "terminal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="staff.terminal"
                    ),
                ),
            ],
            options={
                "verbose_name": "approval",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["requested", "approved"])),
                        fields=["house", "requested_by"],
                        name="approval_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="approval_number"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "exchange",
                                    "transfer",
                                    "void",
                                    "bonus",
                                    "ruling",
                                    "duty",
                                    "chip_set",
                                    "counterfeit",
                                    "bank",
                                    "capital",
                                    "stage",
                                    "settings",
                                    "staff",
                                    "payout",
                                    "unclaimed",
                                    "drawer",
                                    "variance",
                                    "carry",
                                    "day",
                                    "legal_hold",
                                    "control_points",
                                    "exclusion",
                                    "erasure",
                                    "minor",
                                    "filing",
                                ],
                            )
                        ),
                        name="approval_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["requested", "approved", "refused", "used", "expired", "withdrawn"])
                        ),
                        name="approval_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("decided_by__isnull", True),
                            models.Q(("decided_by", models.F("requested_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="approval_two_persons",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at", None), ("decided_by", None), ("decided_terminal", None)),
                            models.Q(
                                ("decided_at__isnull", False),
                                ("decided_by__isnull", False),
                                ("decided_terminal__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="approval_decision_is_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["approved", "used", "refused"]), _negated=True),
                            ("decided_by__isnull", False),
                            _connector="OR",
                        ),
                        name="approval_decided_by_somebody",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Assent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                ("given_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="assents", to="approvals.approval"
                    ),
                ),
                (
                    "given_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"),
                ),
                (
                    "terminal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="staff.terminal"
                    ),
                ),
            ],
            options={
                "verbose_name": "assent",
                "ordering": ("id",),
                "constraints": [
                    models.UniqueConstraint(fields=("house", "approval", "role"), name="assent_once_for_a_role"),
                    models.UniqueConstraint(fields=("house", "approval", "given_by"), name="assent_once_by_a_person"),
                ],
            },
        ),
        install("approvals"),
        protect("approvals"),
    ]
