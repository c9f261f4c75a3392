"""Cards entered for unknown ones, corrections beside the log, exceptions; the log with its corrections as a view."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

import casino.houses.models
from casino.core.schema import append_only, grant

KINDS = [(kind, kind.capitalize()) for kind in ("duplicate", "missing", "foreign", "differs", "deck")]

# Of a line's corrections the last one counts.
LOG = """
CREATE VIEW hands_log AS
SELECT line.hand_id, line.seq, coalesce(corrected.after, line.text) AS text
FROM hands_handline line LEFT JOIN LATERAL (
    SELECT after FROM hands_correction WHERE hand_id = line.hand_id AND seq = line.seq ORDER BY id DESC LIMIT 1
) AS corrected ON true;
"""

# What is entered and corrected belongs to a hand in play; a correction to a line that is there. Tables are named in
# full: temporary ones of their names, which anybody may make, would be found first.
WHILE_PLAYED = """
CREATE FUNCTION hands_while_played() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.hands_hand WHERE id = NEW.hand_id AND state = 'playing') THEN
        RAISE EXCEPTION 'hand % is not being played', NEW.hand_id USING ERRCODE = 'KZ900';
    END IF;
    IF TG_TABLE_NAME = 'hands_correction' THEN
        IF NOT EXISTS (
            SELECT FROM public.hands_log WHERE hand_id = NEW.hand_id AND seq = NEW.seq AND text = NEW.before) THEN
            RAISE EXCEPTION 'line % of hand % is not %', NEW.seq, NEW.hand_id, NEW.before USING ERRCODE = 'KZ900';
        END IF;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER hands_cardentry_while_played BEFORE INSERT ON hands_cardentry
    FOR EACH ROW EXECUTE FUNCTION hands_while_played();
CREATE TRIGGER hands_correction_while_played BEFORE INSERT ON hands_correction
    FOR EACH ROW EXECUTE FUNCTION hands_while_played();
ALTER TABLE hands_cardentry ENABLE ALWAYS TRIGGER hands_cardentry_while_played;
ALTER TABLE hands_correction ENABLE ALWAYS TRIGGER hands_correction_while_played;
"""
NO_GUARDS = """
DROP TRIGGER hands_cardentry_while_played ON hands_cardentry;
DROP TRIGGER hands_correction_while_played ON hands_correction;
DROP FUNCTION hands_while_played();
"""

# An exception is cleared once; what was found stays.
CLEARED_ONCE = """
CREATE FUNCTION hands_exception_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.cleared_at IS NOT NULL
       OR (OLD.house_id, OLD.table_id, OLD.hand_id, OLD.kind, OLD.found, OLD.found_at)
       IS DISTINCT FROM (NEW.house_id, NEW.table_id, NEW.hand_id, NEW.kind, NEW.found, NEW.found_at) THEN
        RAISE EXCEPTION 'exception % is cleared once and never changes', OLD.id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER hands_cardexception_stays BEFORE UPDATE OR DELETE ON hands_cardexception
    FOR EACH ROW EXECUTE FUNCTION hands_exception_stays();
ALTER TABLE hands_cardexception ENABLE ALWAYS TRIGGER hands_cardexception_stays;
CREATE TRIGGER hands_cardexception_no_truncate BEFORE TRUNCATE ON hands_cardexception
    FOR EACH STATEMENT EXECUTE FUNCTION house_refuse_change();
ALTER TABLE hands_cardexception ENABLE ALWAYS TRIGGER hands_cardexception_no_truncate;
"""


class Migration(migrations.Migration):
    """Tables, view, guards and rights."""

    dependencies = [
        ("hands", "0006_deals"),
        ("house", "0002_rights"),
        ("tables", "0003_seat_keys"),
    ]

    operations = [
        migrations.CreateModel(
            name="CardEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seat", models.PositiveSmallIntegerField()),
                ("place", models.PositiveSmallIntegerField()),
                ("card", models.CharField(max_length=2)),
                ("salt", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "hand",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="hands.hand"
                    ),
                ),
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
                ("seq", models.PositiveIntegerField()),
                ("before", models.CharField(max_length=160)),
                ("after", models.CharField(max_length=160)),
                ("reason", models.CharField(max_length=200)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "hand",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="corrections", to="hands.hand"
                    ),
                ),
            ],
            options={
                "verbose_name": "correction",
                "indexes": [models.Index(fields=["hand", "seq", "id"], name="correction_line")],
            },
        ),
        migrations.CreateModel(
            name="CardException",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=KINDS, max_length=9)),
                ("found", models.JSONField()),
                ("found_at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                ("cleared_at", models.DateTimeField(null=True)),
                ("cleared_by", models.CharField(blank=True, default="", max_length=64)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                (
                    "house",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="house.house"),
                ),
                (
                    "table",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tables.table"),
                ),
                (
                    "hand",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hands.hand"
                    ),
                ),
            ],
            options={
                "verbose_name": "card exception",
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(kind__in=[kind for kind, _ in KINDS]), name="card_exception_kind"
                    ),
                    models.CheckConstraint(
                        condition=Q(cleared_at=None, cleared_by="", reason="")
                        | (Q(cleared_at__isnull=False) & ~Q(cleared_by="") & ~Q(reason="")),
                        name="card_exception_cleared_whole",
                    ),
                ],
                "indexes": [
                    models.Index(condition=Q(cleared_at=None), fields=["table"], name="card_exception_open"),
                    models.Index(fields=["house", "id"], name="card_exception_house"),
                ],
            },
        ),
        append_only(["hands_cardentry", "hands_correction"]),
        migrations.RunSQL(LOG, "DROP VIEW hands_log"),
        migrations.RunSQL(WHILE_PLAYED, NO_GUARDS),
        migrations.RunSQL(
            CLEARED_ONCE,
            "DROP TRIGGER hands_cardexception_no_truncate ON hands_cardexception; "
            "DROP TRIGGER hands_cardexception_stays ON hands_cardexception; DROP FUNCTION hands_exception_stays()",
        ),
        grant(
            ("hands_cardentry", "SELECT, INSERT"),
            ("hands_correction", "SELECT, INSERT"),
            ("hands_cardexception", "SELECT, INSERT, UPDATE"),
            ("hands_log", "SELECT"),
        ),
    ]
