"""Webhooks and how far they have come, and what PostgreSQL keeps of them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import casino.houses.models
from casino.core.schema import protect


class Migration(migrations.Migration):
    """Tables, triggers and rights."""

    initial = True

    dependencies = [
        ("houses", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("destination", models.CharField(max_length=40)),
                ("chains", models.JSONField()),
                ("subscribed_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("approval", models.PositiveIntegerField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("problem", models.CharField(default="", max_length=40)),
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
                    "subscribed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook",
            },
        ),
        migrations.CreateModel(
            name="WebhookPosition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain", models.CharField(max_length=64)),
                ("position", models.BigIntegerField()),
                ("until", models.BigIntegerField(null=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("problem", models.CharField(default="", max_length=40)),
                ("failing_since", models.DateTimeField(null=True)),
                ("sent_at", models.DateTimeField(null=True)),
                ("next_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("worked_until", models.DateTimeField(null=True)),
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
                    "webhook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="positions", to="live.webhook"
                    ),
                ),
            ],
            options={
                "verbose_name": "position of a webhook",
            },
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.UniqueConstraint(fields=("house", "number"), name="live_webhook_number"),
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.CheckConstraint(
                condition=models.Q(("problem", ""), ("ended_at__isnull", False), _connector="OR"),
                name="live_webhook_ended",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookposition",
            constraint=models.UniqueConstraint(fields=("house", "webhook", "chain"), name="live_webhook_chain"),
        ),
        migrations.AddConstraint(
            model_name="webhookposition",
            constraint=models.CheckConstraint(
                condition=models.Q(("until", None), ("until__gt", models.F("position")), _connector="OR"),
                name="live_webhook_until",
            ),
        ),
        protect("live"),
    ]
