"""A hand's `series`: one more input, which never changes either."""

from django.db import migrations, models

_INPUTS_STAY = """
CREATE OR REPLACE FUNCTION hands_inputs_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a hand is never deleted' USING ERRCODE = 'KZ900';
    END IF;
    IF (OLD.house_id, OLD.table_id, OLD.sitting_id, OLD.number, OLD.name, OLD.mode, OLD.game, OLD.options, OLD.seats,
        OLD.stacks, OLD.carry, {old} OLD.commitment, OLD.sealed_seed, OLD.previous_hash, OLD.started_at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.sitting_id, NEW.number, NEW.name, NEW.mode, NEW.game, NEW.options, NEW.seats,
        NEW.stacks, NEW.carry, {new} NEW.commitment, NEW.sealed_seed, NEW.previous_hash, NEW.started_at) THEN
        RAISE EXCEPTION 'the inputs of hand % do not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.digest <> '' AND (OLD.digest, OLD.result, OLD.handle) IS DISTINCT FROM (NEW.digest, NEW.result, NEW.handle)
    THEN
        RAISE EXCEPTION 'the result of hand % does not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.state = 'settled' THEN
        RAISE EXCEPTION 'hand % is settled', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    """The column, and the guard that covers it. Hands dealt before had no series, which is what the default says."""

    dependencies = [("hands", "0002_rights")]

    operations = [
        migrations.AddField(model_name="hand", name="series", field=models.JSONField(default=dict)),
        migrations.RunSQL(
            _INPUTS_STAY.format(old="OLD.series,", new="NEW.series,"), _INPUTS_STAY.format(old="", new="")
        ),
    ]
