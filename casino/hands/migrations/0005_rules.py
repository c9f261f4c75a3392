"""The version of the rules that a hand was dealt by: one more input. So far each game has had one version."""

from django.db import migrations, models
from django.db.models import Q

_INPUTS_STAY = """
CREATE OR REPLACE FUNCTION hands_inputs_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a hand is never deleted' USING ERRCODE = 'KZ900';
    END IF;
    IF (OLD.house_id, OLD.table_id, OLD.sitting_id, OLD.number, OLD.name, OLD.mode, OLD.game, {old} OLD.options,
        OLD.seats, OLD.stacks, OLD.carry, OLD.series, OLD.commitment, OLD.sealed_seed, OLD.previous_hash,
        OLD.started_at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.sitting_id, NEW.number, NEW.name, NEW.mode, NEW.game, {new} NEW.options,
        NEW.seats, NEW.stacks, NEW.carry, NEW.series, NEW.commitment, NEW.sealed_seed, NEW.previous_hash,
        NEW.started_at) THEN
        RAISE EXCEPTION 'the inputs of hand % do not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.digest <> '' AND (OLD.digest, OLD.result, OLD.handle) IS DISTINCT FROM (NEW.digest, NEW.result, NEW.handle)
    THEN
        RAISE EXCEPTION 'the result of hand % does not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.state IN ('settled', 'ruled', 'voided') THEN
        RAISE EXCEPTION 'hand % is %', OLD.name, OLD.state USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
"""

#: Rewriting the column is no UPDATE, so the guard, which lets nobody change a settled hand, stays on.
_FIRST_VERSIONS = "ALTER TABLE hands_hand ALTER COLUMN rules TYPE varchar(32) USING game || '/1'"


class Migration(migrations.Migration):
    """The column, what it is in hands dealt before, and the guard that covers it."""

    dependencies = [("hands", "0004_ruling")]

    operations = [
        migrations.AddField(
            model_name="hand", name="rules", field=models.CharField(max_length=32, default=""), preserve_default=False
        ),
        migrations.RunSQL(_FIRST_VERSIONS, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="hand", constraint=models.CheckConstraint(condition=~Q(rules=""), name="hand_has_rules")
        ),
        migrations.RunSQL(_INPUTS_STAY.format(old="OLD.rules,", new="NEW.rules,"), _INPUTS_STAY.format(old="", new="")),
    ]
