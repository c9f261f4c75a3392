"""The whole ledger: its tables, then what PostgreSQL alone can say, from the SQL files of `sql/` in the order of FILES.

There is no way back: undoing it would leave a ledger that anybody may edit.
"""

from pathlib import Path

import django.db.models.deletion
import django.db.models.expressions
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from ledger.roles import install_sql

SQL = Path(__file__).parent / "sql"
FILES = ("tables", "guards", "seals", "posting", "periods", "holds", "accounts", "grants")


def install(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Install indexes, guards, functions and grants; each function stands in one file, once."""
    install_sql(editor, [SQL / f"{name}.sql" for name in FILES])


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Account",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("book", models.UUIDField()),
                ("code", models.TextField()),
                ("kind", models.TextField()),
                ("commodity", models.TextField()),
                ("normal_side", models.SmallIntegerField()),
                ("min_balance", models.BigIntegerField(null=True)),
                ("balance", models.BigIntegerField()),
                ("version", models.BigIntegerField()),
                ("posted_at", models.DateTimeField(null=True)),
                ("held", models.BigIntegerField(default=0)),
                ("lock_rank", models.IntegerField()),
                ("weight", models.BigIntegerField(default=0)),
                ("lanes", models.SmallIntegerField(default=0)),
                ("opened_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "parent",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="lane_set",
                        to="ledger.account",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("book", "code", "commodity"), name="ledger_account_code_key"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("min_balance__isnull", True),
                            (
                                "balance__gte",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("min_balance"), "+", models.F("held")
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="ledger_account_floor",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Assertion",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("book", models.UUIDField()),
                ("version", models.BigIntegerField()),
                ("balance", models.BigIntegerField()),
                ("asserted_at", models.DateTimeField()),
                ("metadata", models.JSONField()),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="assertions",
                        to="ledger.account",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["account", "version"], name="ledger_assertion_of"),
                ]
            },
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("book", models.UUIDField()),
                ("key", models.TextField()),
                ("postings", models.JSONField()),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                (
                    "state",
                    models.TextField(
                        choices=[
                            ("pending", "Pending"),
                            ("posted", "Posted"),
                            ("voided", "Voided"),
                            ("expired", "Expired"),
                        ]
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["book", "expires_at"],
                        name="ledger_hold_pending",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("book", "key"), name="ledger_hold_key_key"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["pending", "posted", "voided", "expired"])),
                        name="ledger_hold_state",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Claim",
            fields=[
                ("digest", models.UUIDField(primary_key=True, serialize=False)),
                (
                    "hold",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="claims",
                        to="ledger.hold",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Period",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("book", models.UUIDField()),
                ("name", models.TextField()),
                ("opened_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("closed_at", None)), fields=["book", "id"], name="ledger_period_open"
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("book", "name"), name="ledger_period_name_key")],
            },
        ),
        migrations.CreateModel(
            name="Reserve",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "hold_id", "account_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("amount", models.BigIntegerField()),
                ("expires_at", models.DateTimeField()),
                ("released_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="reserves",
                        to="ledger.account",
                    ),
                ),
                (
                    "hold",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="reserves",
                        to="ledger.hold",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("released_at", None)),
                        fields=["account", "expires_at"],
                        name="ledger_reserve_unreleased",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("book", models.UUIDField()),
                ("name", models.TextField()),
                ("taken_at", models.DateTimeField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("book", "name"), name="ledger_snapshot_name_key")],
            },
        ),
        migrations.CreateModel(
            name="SnapshotLine",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "snapshot_id", "account_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.BigIntegerField()),
                ("balance", models.BigIntegerField()),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.account",
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="lines",
                        to="ledger.snapshot",
                    ),
                ),
            ],
            options={
                "db_table": "ledger_snapshot_line",
            },
        ),
        migrations.CreateModel(
            name="Transaction",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("book", models.UUIDField()),
                ("idempotency_key", models.TextField()),
                ("kind", models.TextField()),
                ("posted_at", models.DateTimeField()),
                ("occurred_at", models.DateTimeField(null=True)),
                ("metadata", models.JSONField()),
                (
                    "period",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ledger.period",
                    ),
                ),
                (
                    "reverses",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="reversals",
                        to="ledger.transaction",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("reverses__isnull", False)),
                        fields=("reverses",),
                        name="ledger_transaction_reverses_key",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id", "version", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.BigIntegerField()),
                ("amount", models.BigIntegerField()),
                ("balance_after", models.BigIntegerField()),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="entries",
                        to="ledger.account",
                    ),
                ),
                (
                    "transaction",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="entries",
                        to="ledger.transaction",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount", 0), _negated=True), name="ledger_entry_moves"),
                ]
            },
        ),
        migrations.RunPython(install),
    ]
