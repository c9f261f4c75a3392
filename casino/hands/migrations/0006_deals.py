"""Prepared deals with their client seeds; a hand's client seeds, one more input, and the roots over its cards."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

import casino.houses.models
from casino.core.schema import append_only, grant

STATES = [("prepared", "Prepared"), ("dealt", "Dealt"), ("abandoned", "Abandoned")]
GIVEN_BY = [("console", "Console"), ("player", "Player")]

# A commitment is for ever, and what has become of a deal too.
DEALS_STAY = """
CREATE FUNCTION hands_deal_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a deal is never deleted' USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.state <> 'prepared'
       OR (OLD.house_id, OLD.table_id, OLD.number, OLD.name, OLD.commitment, OLD.sealed_seed, OLD.at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.number, NEW.name, NEW.commitment, NEW.sealed_seed, NEW.at) THEN
        RAISE EXCEPTION 'the deal of hand % does not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER hands_deal_stays BEFORE UPDATE OR DELETE ON hands_deal
    FOR EACH ROW EXECUTE FUNCTION hands_deal_stays();
ALTER TABLE hands_deal ENABLE ALWAYS TRIGGER hands_deal_stays;
"""

# Nobody adds to a deal that was dealt or abandoned. The table is named in full: a temporary one of its name, which
# anybody may make, would be found first.
SEEDS_BEFORE = """
CREATE FUNCTION hands_seed_before_deal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.hands_deal WHERE id = NEW.deal_id AND state = 'prepared') THEN
        RAISE EXCEPTION 'deal % takes no seeds any more', NEW.deal_id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER hands_clientseed_before BEFORE INSERT ON hands_clientseed
    FOR EACH ROW EXECUTE FUNCTION hands_seed_before_deal();
ALTER TABLE hands_clientseed ENABLE ALWAYS TRIGGER hands_clientseed_before;
"""

# A hand's client seeds never change; roots are added as packs are shuffled, and stay as they were told.
CARDS_STAY = """
CREATE FUNCTION hands_cards_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.client_seeds IS DISTINCT FROM NEW.client_seeds THEN
        RAISE EXCEPTION 'the client seeds of hand % do not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.cards_roots IS DISTINCT FROM NEW.cards_roots AND EXISTS (
        SELECT FROM jsonb_array_elements(OLD.cards_roots) WITH ORDINALITY AS told (root, place)
        WHERE told.root IS DISTINCT FROM NEW.cards_roots -> (told.place::int - 1)) THEN
        RAISE EXCEPTION 'the roots over the cards of hand % do not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER hands_hand_cards_stay BEFORE UPDATE ON hands_hand
    FOR EACH ROW EXECUTE FUNCTION hands_cards_stay();
ALTER TABLE hands_hand ENABLE ALWAYS TRIGGER hands_hand_cards_stay;
"""


class Migration(migrations.Migration):
    """Columns, tables, guards and rights. Hands dealt before had no client seeds and told no roots."""

    dependencies = [("hands", "0005_rules"), ("house", "0002_rights"), ("tables", "0003_seat_keys")]

    operations = [
        migrations.AddField(model_name="hand", name="cards_roots", field=models.JSONField(default=list)),
        migrations.AddField(model_name="hand", name="client_seeds", field=models.JSONField(default=dict)),
        migrations.CreateModel(
            name="Deal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=48)),
                ("commitment", models.CharField(max_length=64)),
                ("sealed_seed", models.BinaryField()),
                ("state", models.CharField(choices=STATES, default="prepared", max_length=9)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "house",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="house.house"),
                ),
                (
                    "table",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tables.table"),
                ),
            ],
            options={
                "verbose_name": "deal",
                "constraints": [
                    models.UniqueConstraint(fields=["house", "name"], name="deal_name"),
                    models.UniqueConstraint(condition=Q(state="prepared"), fields=["table"], name="deal_one_prepared"),
                    models.CheckConstraint(
                        condition=Q(state__in=["prepared", "dealt", "abandoned"]), name="deal_state"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ClientSeed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seat", models.PositiveSmallIntegerField()),
                ("player", models.CharField(max_length=32)),
                ("seed", models.CharField(max_length=64)),
                ("given_by", models.CharField(choices=GIVEN_BY, max_length=7)),
                ("at", models.DateTimeField(db_default=casino.houses.models.ClockTimestamp())),
                (
                    "deal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="client_seeds", to="hands.deal"
                    ),
                ),
            ],
            options={
                "verbose_name": "client seed",
                "constraints": [
                    models.UniqueConstraint(fields=["deal", "seat"], name="client_seed_once"),
                    models.CheckConstraint(
                        condition=Q(given_by__in=["console", "player"]), name="client_seed_given_by"
                    ),
                ],
            },
        ),
        append_only(["hands_clientseed"]),
        migrations.RunSQL(DEALS_STAY, "DROP TRIGGER hands_deal_stays ON hands_deal; DROP FUNCTION hands_deal_stays()"),
        migrations.RunSQL(
            SEEDS_BEFORE,
            "DROP TRIGGER hands_clientseed_before ON hands_clientseed; DROP FUNCTION hands_seed_before_deal()",
        ),
        migrations.RunSQL(
            CARDS_STAY, "DROP TRIGGER hands_hand_cards_stay ON hands_hand; DROP FUNCTION hands_cards_stay()"
        ),
        grant(("hands_deal", "SELECT, INSERT, UPDATE"), ("hands_clientseed", "SELECT, INSERT")),
    ]
