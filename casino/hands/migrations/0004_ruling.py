"""A disputed hand can be ruled on, once; what was settled or ruled on does not change."""

from django.db import migrations, models
from django.db.models import Q

STATES = ["playing", "ended", "settled", "disputed", "ruled", "voided"]

#: As before, but for the states that are final.
_INPUTS_STAY = """
CREATE OR REPLACE FUNCTION hands_inputs_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a hand is never deleted' USING ERRCODE = 'KZ900';
    END IF;
    IF (OLD.house_id, OLD.table_id, OLD.sitting_id, OLD.number, OLD.name, OLD.mode, OLD.game, OLD.options, OLD.seats,
        OLD.stacks, OLD.carry, OLD.series, OLD.commitment, OLD.sealed_seed, OLD.previous_hash, OLD.started_at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.sitting_id, NEW.number, NEW.name, NEW.mode, NEW.game, NEW.options, NEW.seats,
        NEW.stacks, NEW.carry, NEW.series, NEW.commitment, NEW.sealed_seed, NEW.previous_hash, NEW.started_at) THEN
        RAISE EXCEPTION 'the inputs of hand % do not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.digest <> '' AND (OLD.digest, OLD.result, OLD.handle) IS DISTINCT FROM (NEW.digest, NEW.result, NEW.handle)
    THEN
        RAISE EXCEPTION 'the result of hand % does not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.state IN ({final}) THEN
        RAISE EXCEPTION 'hand % is %', OLD.name, OLD.state USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    """The state, what was decided, and the guard."""

    dependencies = [("hands", "0003_series")]

    operations = [
        migrations.AddField(model_name="hand", name="ruling", field=models.JSONField(null=True)),
        migrations.AlterField(
            model_name="hand",
            name="state",
            field=models.CharField(
                max_length=8, choices=[(state, state.capitalize()) for state in STATES], default="playing"
            ),
        ),
        migrations.RemoveConstraint(model_name="hand", name="hand_state"),
        migrations.AddConstraint(
            model_name="hand", constraint=models.CheckConstraint(condition=Q(state__in=STATES), name="hand_state")
        ),
        migrations.AddConstraint(
            model_name="hand",
            constraint=models.CheckConstraint(
                condition=Q(state="ruled", ruling__isnull=False, settlement__isnull=False)
                | (~Q(state="ruled") & Q(ruling__isnull=True)),
                name="hand_ruled_has_ruling",
            ),
        ),
        migrations.RunSQL(
            _INPUTS_STAY.format(final="'settled', 'ruled', 'voided'"), _INPUTS_STAY.format(final="'settled'")
        ),
    ]
