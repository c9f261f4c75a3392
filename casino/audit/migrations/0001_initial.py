"""Chains of events and the Merkle log of each house, with the functions that alone write them."""

import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
from django.db import migrations, models
from django.db.models.fields.json import KeyTextTransform

from casino.core.schema import install, protect


class Migration(migrations.Migration):
    """Tables, functions, triggers and rights."""

    initial = True

    dependencies = [
        ("houses", "0001_initial"),
        ("ledger", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChainHead",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("seq", models.BigIntegerField(default=0)),
                (
                    "hash",
                    models.CharField(
                        default="0000000000000000000000000000000000000000000000000000000000000000", max_length=64
                    ),
                ),
            ],
            options={
                "verbose_name": "audit chain",
                "constraints": [models.UniqueConstraint(fields=("house", "name"), name="audit_chain_name")],
            },
        ),
        migrations.CreateModel(
            name="Event",
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
                    "chain",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="events",
                        to="audit.chainhead",
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("xid", models.BigIntegerField()),
                ("payload", models.TextField()),
                (
                    "doc",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.db.models.functions.comparison.Cast(models.F("payload"), models.JSONField()),
                        output_field=models.JSONField(),
                    ),
                ),
                ("leaf_hash", models.CharField(max_length=64)),
                ("archive", models.IntegerField(null=True)),
            ],
            options={
                "verbose_name": "audit event",
                "constraints": [models.UniqueConstraint(fields=("house", "chain", "seq"), name="audit_event_seq")],
            },
        ),
        migrations.CreateModel(
            name="Log",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                ("epoch", models.IntegerField()),
                ("origin", models.CharField(max_length=120)),
                ("vkey", models.CharField(max_length=240)),
                ("size", models.BigIntegerField(default=0)),
                ("refusal", models.TextField(default="")),
            ],
            options={
                "verbose_name": "audit log",
                "constraints": [models.UniqueConstraint(fields=("house", "epoch"), name="audit_log_epoch")],
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
                ("epoch", models.IntegerField()),
                ("leaf_index", models.BigIntegerField()),
                ("leaf_hash", models.BinaryField()),
            ],
            options={
                "verbose_name": "leaf of an audit log",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "epoch", "leaf_index"), name="audit_leaf_index")
                ],
                "indexes": [models.Index(fields=["leaf_hash"], name="audit_leaf_hash")],
            },
        ),
        migrations.CreateModel(
            name="Tile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                ("epoch", models.IntegerField()),
                ("level", models.SmallIntegerField()),
                ("tile_index", models.BigIntegerField()),
                ("hash", models.BinaryField()),
            ],
            options={
                "verbose_name": "tile of an audit log",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "epoch", "level", "tile_index"), name="audit_tile_index")
                ],
            },
        ),
        migrations.CreateModel(
            name="SignedCheckpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                ("epoch", models.IntegerField()),
                ("size", models.BigIntegerField()),
                ("root", models.BinaryField()),
                ("at", models.DateTimeField()),
                ("note", models.TextField()),
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
            name="Mark",
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
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
                ("epoch", models.IntegerField()),
                (
                    "event",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.event",
                    ),
                ),
                ("outside_epoch", models.IntegerField(null=True)),
                ("outside_size", models.BigIntegerField(null=True)),
                ("outside_root", models.BinaryField(null=True)),
            ],
            options={
                "verbose_name": "epoch of an audit log",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "epoch"), name="audit_epoch_number"),
                    models.UniqueConstraint(fields=("house", "event"), name="audit_epoch_event"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Cosignature",
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
                ("epoch", models.IntegerField()),
                ("size", models.BigIntegerField()),
                ("witness", models.CharField(max_length=200)),
                ("line", models.CharField(max_length=400)),
                ("at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "cosignature",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "epoch", "witness", "size"), name="audit_cosignature_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="TimeStamp",
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
                ("epoch", models.IntegerField()),
                ("size", models.BigIntegerField()),
                ("response", models.BinaryField()),
                ("at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "time stamp",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "epoch", "size"), name="audit_timestamp_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="KeyRotation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.IntegerField()),
                ("size", models.BigIntegerField()),
                ("vkey", models.CharField(max_length=240)),
                (
                    "event",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.event",
                    ),
                ),
                (
                    "house",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="houses.house"
                    ),
                ),
            ],
            options={
                "verbose_name": "rotation of a log's key",
                "constraints": [models.UniqueConstraint(fields=("house", "epoch", "size"), name="audit_rotation_size")],
            },
        ),
        migrations.CreateModel(
            name="Archive",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                ("epoch", models.IntegerField()),
                ("first", models.BigIntegerField()),
                ("size", models.BigIntegerField()),
                ("first_day", models.CharField(max_length=10)),
                ("last_day", models.CharField(max_length=10)),
                ("sha256", models.CharField(max_length=64)),
                ("is_put_away", models.BooleanField(default=False)),
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
                "verbose_name": "archive of a closed period",
                "constraints": [
                    models.UniqueConstraint(fields=("house", "number"), name="audit_archive_number"),
                    models.UniqueConstraint(fields=("house", "epoch", "first"), name="audit_archive_section"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Posting",
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
                ("transaction_id", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "event",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="postings",
                        to="audit.event",
                    ),
                ),
            ],
            options={
                "verbose_name": "recorded posting",
                "indexes": [
                    django.contrib.postgres.indexes.BrinIndex(
                        autosummarize=True, fields=["event"], name="audit_posting_event"
                    ),
                ],
            },
        ),
        *(
            migrations.AddIndex(
                model_name="event",
                index=models.Index("house", KeyTextTransform(name, "doc"), "id", name=f"audit_event_{name}"),
            )
            for name in ("kind", "actor", "at")
        ),
        install("audit"),
        protect("audit"),
    ]
