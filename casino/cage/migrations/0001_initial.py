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
        ("players", "0001_initial"),
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
                ("x_readings", models.PositiveIntegerField(default=0)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "drawer",
                "constraints": [models.UniqueConstraint(fields=("house", "code"), name="drawer_code")],
            },
        ),
        migrations.CreateModel(
            name="Handover",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="handovers", to="houses.house"
                    ),
                ),
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="handovers", to="cage.drawer"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("float", "from the vault to a closed drawer, which opens with it"),
                            ("replenishment", "from the vault to an open drawer"),
                            ("skim", "from an open drawer to the vault"),
                            (
                                "hand_over",
                                "all of a drawer that closes, to a closed one of another cashier, which opens with it",
                            ),
                        ],
                        max_length=13,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("offered", "Offered"), ("taken", "Taken"), ("withdrawn", "Withdrawn")],
                        default="offered",
                        max_length=9,
                    ),
                ),
                ("cash", models.BigIntegerField()),
                ("pieces", models.JSONField()),
                ("foreign", models.BigIntegerField(default=0)),
                ("withdrawn", models.JSONField(default=dict)),
                (
                    "to_drawer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="coming",
                        to="cage.drawer",
                    ),
                ),
                (
                    "offered_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "offered_as",
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
                ("offered_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "signed_by",
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
                ("ended_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "verbose_name": "handover",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "drawer", "number"), name="handover_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "offered")),
                        fields=("house", "drawer"),
                        name="handover_one_offered",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["float", "replenishment", "skim", "hand_over"])),
                        name="handover_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["offered", "taken", "withdrawn"])), name="handover_state"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("cash__gte", 0), ("foreign__gte", 0)), name="handover_cash"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("kind", "hand_over"),
                                ("to_drawer__isnull", False),
                                models.Q(("to_drawer", models.F("drawer")), _negated=True),
                                models.Q(("reason", ""), _negated=True),
                            ),
                            models.Q(
                                models.Q(("kind", "hand_over"), _negated=True),
                                ("foreign", 0),
                                ("to_drawer", None),
                                ("withdrawn", {}),
                            ),
                            _connector="OR",
                        ),
                        name="handover_to_another_drawer",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_by", None), ("state", "offered")),
                            models.Q(
                                models.Q(("state", "offered"), _negated=True),
                                ("ended_at__isnull", False),
                                ("ended_by__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="handover_ended_is_signed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "taken"), _negated=True),
                            models.Q(("ended_by", models.F("offered_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="handover_two_persons",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("signed_by", None),
                            models.Q(("signed_by", models.F("offered_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="handover_signed_by_another",
                    ),
                ],
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
                ("reopens", models.PositiveIntegerField(null=True)),
                ("first_count", models.JSONField(null=True)),
                (
                    "counted_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("counted_at", models.DateTimeField(null=True)),
                ("recount", models.JSONField(null=True)),
                (
                    "recounted_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("recounted_at", models.DateTimeField(null=True)),
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
                (
                    "handed_to",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="cage.drawer"
                    ),
                ),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("expected_cash", models.BigIntegerField(null=True)),
                ("counted_cash", models.BigIntegerField(null=True)),
                ("expected_chips", models.BigIntegerField(null=True)),
                ("counted_chips", models.BigIntegerField(null=True)),
                ("expected_pieces", models.JSONField(null=True)),
                ("counted_pieces", models.JSONField(null=True)),
                ("expected_foreign", models.BigIntegerField(null=True)),
                ("counted_foreign", models.BigIntegerField(null=True)),
                ("expected_withdrawn", models.JSONField(null=True)),
                ("counted_withdrawn", models.JSONField(null=True)),
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
                            models.Q(
                                ("closed_at", None),
                                ("counted_cash", None),
                                ("counted_chips", None),
                                ("counted_foreign", None),
                            ),
                            models.Q(
                                ("closed_at__isnull", False),
                                ("closed_by__isnull", False),
                                ("counted_cash__isnull", False),
                                ("counted_chips__isnull", False),
                                ("counted_foreign__isnull", False),
                                ("counted_withdrawn__isnull", False),
                                ("expected_cash__isnull", False),
                                ("expected_chips__isnull", False),
                                ("expected_foreign__isnull", False),
                                ("expected_withdrawn__isnull", False),
                                ("first_count__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="shift_closed_is_counted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("counted_by", None), ("first_count", None), ("recount", None)),
                            models.Q(("counted_by__isnull", False), ("first_count__isnull", False)),
                            _connector="OR",
                        ),
                        name="shift_count_is_signed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("recount", None), ("recounted_by", None)),
                            models.Q(
                                ("recount__isnull", False),
                                ("recounted_by__isnull", False),
                                models.Q(("recounted_by", models.F("counted_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="shift_recount_by_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("recount", None),
                            ("closed_at", None),
                            models.Q(
                                models.Q(("closed_by", models.F("counted_by")), _negated=True),
                                models.Q(("closed_by", models.F("recounted_by")), _negated=True),
                                models.Q(("reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="shift_signed_off_by_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("float_cash__gte", 0), ("float_chips__gte", 0)), name="shift_float"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("reopens", None),
                            (
                                "number",
                                models.expressions.CombinedExpression(models.F("reopens"), "+", models.Value(1)),
                            ),
                            _connector="OR",
                        ),
                        name="shift_reopens_the_one_before",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("handed_to", None),
                            models.Q(
                                ("closed_at__isnull", False),
                                models.Q(("handed_to", models.F("drawer")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="shift_handed_to_another",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VaultCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("counting", "Counting"), ("counted", "Counted"), ("accepted", "Accepted")],
                        default="counting",
                        max_length=8,
                    ),
                ),
                ("begun_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("differing_rounds", models.PositiveSmallIntegerField(default=0)),
                ("count", models.JSONField(null=True)),
                ("over", models.JSONField(null=True)),
                ("decision", models.CharField(blank=True, default="", max_length=200)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("corrects", models.JSONField(null=True)),
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
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="vault_counts", to="houses.house"
                    ),
                ),
                (
                    "signed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "count of the vault",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="vault_count_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "accepted"), _negated=True),
                        fields=("house",),
                        name="vault_count_one_open",
                    ),
                    models.UniqueConstraint(fields=("house", "corrects"), name="vault_count_corrects_once"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["counting", "counted", "accepted"])), name="vault_count_state"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("count", None), ("over", None), ("state", "counting")),
                            models.Q(
                                models.Q(("state", "counting"), _negated=True),
                                ("count__isnull", False),
                                ("over__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="vault_count_is_counted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("signed_by", None),
                            models.Q(
                                ("ended_at__isnull", False),
                                models.Q(("reason", ""), _negated=True),
                                models.Q(
                                    ("decided_by", None),
                                    models.Q(("signed_by", models.F("decided_by")), _negated=True),
                                    _connector="OR",
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="vault_count_signed_by_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", False), ("state", "accepted")),
                            models.Q(models.Q(("state", "accepted"), _negated=True), ("ended_at", None)),
                            _connector="OR",
                        ),
                        name="vault_count_ended",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VaultCountEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("round", models.PositiveSmallIntegerField()),
                ("count", models.JSONField()),
                ("over", models.JSONField()),
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
                    "vault_count",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="cage.vaultcount"
                    ),
                ),
            ],
            options={
                "verbose_name": "one person's count of the vault",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("house", "vault_count", "round", "counted_by"), name="vault_count_by_two"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BankBag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "way",
                    models.CharField(
                        choices=[
                            ("to_bank", "from the vault to the bank"),
                            ("from_bank", "from the bank to the vault"),
                        ],
                        max_length=9,
                    ),
                ),
                ("bag", models.CharField(max_length=32)),
                ("amount", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("in_transit", "In Transit"), ("arrived", "Arrived")],
                        default="in_transit",
                        max_length=10,
                    ),
                ),
                ("sent_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("counted", models.BigIntegerField(null=True)),
                ("note", models.CharField(blank=True, default="", max_length=32)),
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
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="bank_bags", to="houses.house"
                    ),
                ),
                (
                    "sent_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "bag of cash",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="bank_bag_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "in_transit")), fields=("house", "bag"), name="bank_bag_in_use"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("way__in", ["to_bank", "from_bank"])), name="bank_bag_way"
                    ),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="bank_bag_amount"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("counted", None),
                                ("ended_at", None),
                                ("ended_by", None),
                                ("note", ""),
                                ("state", "in_transit"),
                            ),
                            models.Q(
                                ("counted__gte", 0),
                                ("ended_at__isnull", False),
                                ("ended_by__isnull", False),
                                ("state", "arrived"),
                                models.Q(("note", ""), _negated=True),
                                models.Q(("ended_by", models.F("sent_by")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="bank_bag_arrived_by_another",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AnnouncedCashOut",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("amount", models.BigIntegerField()),
                ("minutes", models.PositiveSmallIntegerField()),
                ("until", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("announced", "Announced"),
                            ("paid", "Paid"),
                            ("withdrawn", "Withdrawn"),
                            ("expired", "Expired"),
                        ],
                        default="announced",
                        max_length=9,
                    ),
                ),
                ("announced_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("paid", models.BigIntegerField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                (
                    "announced_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="announced_cash_outs",
                        to="cage.drawer",
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
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="announced_cash_outs",
                        to="houses.house",
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
                "verbose_name": "announced cash-out",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="announced_number"),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="announced_amount"),
                    models.CheckConstraint(
                        condition=models.Q(("minutes__gte", 1), ("minutes__lte", 720)), name="announced_minutes"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ended_at", None),
                                ("ended_by", None),
                                ("paid", None),
                                ("reason", ""),
                                ("state", "announced"),
                            ),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("ended_by__isnull", False),
                                ("paid__gt", 0),
                                ("paid__lte", models.F("amount")),
                                ("reason", ""),
                                ("state", "paid"),
                            ),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("ended_by__isnull", False),
                                ("paid", None),
                                ("state", "withdrawn"),
                                models.Q(("reason", ""), _negated=True),
                            ),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("ended_by", None),
                                ("paid", None),
                                ("reason", ""),
                                ("state", "expired"),
                            ),
                            _connector="OR",
                        ),
                        name="announced_ends_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HeldPayout",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("amount", models.BigIntegerField()),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("identity_pending", "who the player is must be found out first"),
                            ("suspension", "payments are suspended"),
                            ("minor", "stakes of a minor, which are given back"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("held", "Held"), ("released", "Released"), ("settled", "Settled")],
                        default="held",
                        max_length=8,
                    ),
                ),
                ("held_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("note", models.CharField(blank=True, default="", max_length=32)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "drawer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="held_payouts",
                        to="cage.drawer",
                    ),
                ),
                (
                    "held_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="held_payouts", to="houses.house"
                    ),
                ),
                (
                    "paid_at_drawer",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="cage.drawer"
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
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="held_rows", to="players.player"
                    ),
                ),
            ],
            options={
                "verbose_name": "held payout",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="held_payout_number"),
                    models.CheckConstraint(
                        condition=models.Q(("cause__in", ["identity_pending", "suspension", "minor"])),
                        name="held_payout_cause",
                    ),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="held_payout_amount"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ended_at", None),
                                ("note", ""),
                                ("paid_at_drawer", None),
                                ("paid_by", None),
                                ("state", "held"),
                            ),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("paid_by__isnull", False),
                                ("state", "released"),
                                models.Q(
                                    models.Q(("note", ""), ("paid_at_drawer__isnull", False)),
                                    models.Q(("paid_at_drawer", None), models.Q(("note", ""), _negated=True)),
                                    _connector="OR",
                                ),
                            ),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("note", ""),
                                ("paid_at_drawer", None),
                                ("paid_by__isnull", False),
                                ("state", "settled"),
                            ),
                            _connector="OR",
                        ),
                        name="held_payout_is_paid_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("cause", "minor"), ("drawer", None)),
                            models.Q(models.Q(("cause", "minor"), _negated=True), ("drawer__isnull", False)),
                            _connector="OR",
                        ),
                        name="held_payout_was_brought",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FoundChips",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("found_where", models.CharField(max_length=64)),
                ("amount", models.BigIntegerField()),
                ("pieces", models.JSONField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("registered", "Registered"),
                            ("claimed", "Claimed"),
                            ("remitted", "Remitted"),
                            ("kept", "Kept"),
                        ],
                        default="registered",
                        max_length=10,
                    ),
                ),
                ("noted_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("note", models.CharField(blank=True, default="", max_length=32)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="found_chips", to="cage.drawer"
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
                    "finder",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="found_chips", to="houses.house"
                    ),
                ),
                (
                    "noted_by",
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
                "verbose_name": "found chips",
                "verbose_name_plural": "found chips",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="found_chips_number"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["registered", "claimed", "remitted", "kept"])),
                        name="found_chips_state",
                    ),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="found_chips_amount"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ended_at", None),
                                ("ended_by", None),
                                ("note", ""),
                                ("player", None),
                                ("state", "registered"),
                            ),
                            models.Q(
                                models.Q(("state", "registered"), _negated=True),
                                ("ended_at__isnull", False),
                                ("ended_by__isnull", False),
                                models.Q(
                                    models.Q(("note", ""), ("player__isnull", False), ("state", "claimed")),
                                    models.Q(
                                        ("player", None), ("state", "remitted"), models.Q(("note", ""), _negated=True)
                                    ),
                                    models.Q(("note", ""), ("player", None), ("state", "kept")),
                                    _connector="OR",
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="found_chips_end_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NonCashBuyIn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("means", models.CharField(choices=[("card", "Card"), ("transfer", "Transfer")], max_length=8)),
                ("reference", models.CharField(max_length=32)),
                ("amount", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(choices=[("open", "Open"), ("settled", "Settled")], default="open", max_length=7),
                ),
                ("sold_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("statement", models.CharField(blank=True, default="", max_length=32)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="noncash_buy_ins", to="cage.drawer"
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="noncash_buy_ins", to="houses.house"
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player"
                    ),
                ),
                (
                    "settled_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "sold_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "buy-in by card or transfer",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="noncash_number"),
                    models.UniqueConstraint(fields=("house", "reference"), name="noncash_reference"),
                    models.CheckConstraint(
                        condition=models.Q(("means__in", ["card", "transfer"])), name="noncash_means"
                    ),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="noncash_amount"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("settled_by", None), ("state", "open"), ("statement", "")),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("settled_by__isnull", False),
                                ("state", "settled"),
                                models.Q(("statement", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="noncash_settled_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VarianceOffset",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("count", models.PositiveIntegerField()),
                ("amount", models.BigIntegerField()),
                ("cash_over", models.BooleanField()),
                ("reason", models.CharField(max_length=200)),
                ("offset_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "drawer",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="cage.drawer"
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="variance_offsets", to="houses.house"
                    ),
                ),
                (
                    "offset_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "offset of variances",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="variance_offset_number"),
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="variance_offset_amount"),
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True), name="variance_offset_reason"
                    ),
                ],
            },
        ),
        protect("cage"),
    ]
