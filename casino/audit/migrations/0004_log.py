"""The Merkle log of each house: its tables, the functions that alone write them, and the sequencer's role."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

from casino.core.schema import append_only, create_sequencer_role, grant, grant_execute, never_deleted

LOG = (Path(__file__).resolve().parent.parent / "sql" / "0004" / "log.sql").read_text()
SEQUENCER = "CASINO_SEQUENCER_ROLE"
TABLES = ("audit_log", "audit_leaf", "audit_tile", "audit_checkpoint", "audit_mark", "audit_epoch")
OPEN_EPOCH = "audit_open_epoch(uuid, integer, text, bigint, text, bigint, integer, bigint, bytea)"
SEQUENCERS = (
    "audit_take_up_log(uuid, integer, text, text)",
    "audit_sequence(uuid, integer, bigint, bytea, bigint)",
    "audit_publish(uuid, integer, bigint, bytea, timestamptz, text, smallint[], bigint[], bytea[])",
)
FORGET = (
    "".join(f"DROP FUNCTION {function};" for function in (OPEN_EPOCH, *SEQUENCERS, "audit_lock_log(uuid)"))
    + "DROP FUNCTION audit_log_grows() CASCADE; DROP FUNCTION audit_mark_grows() CASCADE;"
)


class Migration(migrations.Migration):
    """Tables, functions, guards and rights."""

    dependencies = [
        ("audit", "0003_told"),
        ("house", "0002_rights"),
    ]

    operations = [
        # The sequencer follows the chains, not transaction ids.
        migrations.RemoveIndex(model_name="event", name="audit_event_xid"),
        migrations.CreateModel(
            name="Mark",
            fields=[
                (
                    "chain",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="mark",
                        serialize=False,
                        to="audit.chainhead",
                    ),
                ),
                ("seq", models.BigIntegerField()),
            ],
            options={
                "verbose_name": "mark of a chain",
            },
        ),
        migrations.CreateModel(
            name="Epoch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.IntegerField()),
                ("outside_epoch", models.IntegerField(null=True)),
                ("outside_size", models.BigIntegerField(null=True)),
                ("outside_root", models.BinaryField(null=True)),
                (
                    "event",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.event",
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="house.house"
                    ),
                ),
            ],
            options={
                "verbose_name": "epoch of an audit log",
                "constraints": [models.UniqueConstraint(fields=("house", "epoch"), name="audit_epoch_number")],
            },
        ),
        migrations.CreateModel(
            name="Leaf",
            fields=[
                (
                    "event",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="leaf",
                        serialize=False,
                        to="audit.event",
                    ),
                ),
                ("epoch", models.IntegerField()),
                ("leaf_index", models.BigIntegerField()),
                ("leaf_hash", models.BinaryField()),
                (
                    "house",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="house.house",
                    ),
                ),
            ],
            options={
                "verbose_name": "leaf of an audit log",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "epoch", "leaf_index"), name="audit_leaf_index")
                ],
            },
        ),
        migrations.CreateModel(
            name="Log",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.IntegerField()),
                ("origin", models.CharField(max_length=120)),
                ("vkey", models.CharField(max_length=240)),
                ("size", models.BigIntegerField(default=0)),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="house.house"
                    ),
                ),
            ],
            options={
                "verbose_name": "audit log",
                "constraints": [models.UniqueConstraint(fields=("house", "epoch"), name="audit_log_epoch")],
            },
        ),
        migrations.CreateModel(
            name="SignedCheckpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.IntegerField()),
                ("size", models.BigIntegerField()),
                ("root", models.BinaryField()),
                ("at", models.DateTimeField()),
                ("note", models.TextField()),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="house.house"
                    ),
                ),
            ],
            options={
                "verbose_name": "checkpoint",
                "db_table": "audit_checkpoint",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "epoch", "size"), name="audit_checkpoint_size")
                ],
            },
        ),
        migrations.CreateModel(
            name="Tile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.IntegerField()),
                ("level", models.SmallIntegerField()),
                ("tile_index", models.BigIntegerField()),
                ("hash", models.BinaryField()),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="house.house"
                    ),
                ),
            ],
            options={
                "verbose_name": "tile of an audit log",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "epoch", "level", "tile_index"), name="audit_tile_index")
                ],
            },
        ),
        append_only(["audit_leaf", "audit_tile", "audit_checkpoint", "audit_epoch"]),
        never_deleted(["audit_log", "audit_mark"]),
        migrations.RunSQL(LOG, FORGET),
        create_sequencer_role(),
        grant(*((table, "SELECT") for table in TABLES)),
        grant_execute(OPEN_EPOCH),
        grant(
            *((table, "SELECT") for table in (*TABLES, "audit_event", "audit_chainhead", "house_house")),
            ("django_migrations", "SELECT"),
            role=SEQUENCER,
        ),
        grant_execute(*SEQUENCERS, role=SEQUENCER),
    ]
