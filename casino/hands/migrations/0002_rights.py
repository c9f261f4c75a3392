"""The log is append-only for everybody; a hand's inputs never change; the role's rights in this room."""

from django.db import migrations

from casino.core.schema import append_only, grant

INPUTS_STAY = """
CREATE FUNCTION hands_inputs_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a hand is never deleted' USING ERRCODE = 'KZ900';
    END IF;
    IF (OLD.house_id, OLD.table_id, OLD.sitting_id, OLD.number, OLD.name, OLD.mode, OLD.game, OLD.options, OLD.seats,
        OLD.stacks, OLD.carry, OLD.commitment, OLD.sealed_seed, OLD.previous_hash, OLD.started_at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.sitting_id, NEW.number, NEW.name, NEW.mode, NEW.game, NEW.options, NEW.seats,
        NEW.stacks, NEW.carry, NEW.commitment, NEW.sealed_seed, NEW.previous_hash, NEW.started_at) THEN
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
CREATE TRIGGER hands_hand_inputs_stay BEFORE UPDATE OR DELETE ON hands_hand
    FOR EACH ROW EXECUTE FUNCTION hands_inputs_stay();
ALTER TABLE hands_hand ENABLE ALWAYS TRIGGER hands_hand_inputs_stay;
"""

# A line can only be added to a hand in play, and only as its next one.
LINES_IN_ORDER = """
CREATE FUNCTION hands_line_in_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM hands_hand WHERE id = NEW.hand_id AND state = 'playing') THEN
        RAISE EXCEPTION 'hand % is not being played', NEW.hand_id USING ERRCODE = 'KZ900';
    END IF;
    IF NEW.seq <> 1 AND NOT EXISTS (SELECT FROM hands_handline WHERE hand_id = NEW.hand_id AND seq = NEW.seq - 1) THEN
        RAISE EXCEPTION 'line % of hand % has no line before it', NEW.seq, NEW.hand_id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER hands_handline_in_order BEFORE INSERT ON hands_handline
    FOR EACH ROW EXECUTE FUNCTION hands_line_in_order();
ALTER TABLE hands_handline ENABLE ALWAYS TRIGGER hands_handline_in_order;
"""


class Migration(migrations.Migration):
    """Guards and rights."""

    dependencies = [("hands", "0001_initial"), ("house", "0002_rights")]

    operations = [
        append_only(["hands_handline"]),
        migrations.RunSQL(
            INPUTS_STAY, "DROP TRIGGER hands_hand_inputs_stay ON hands_hand; DROP FUNCTION hands_inputs_stay()"
        ),
        migrations.RunSQL(
            LINES_IN_ORDER,
            "DROP TRIGGER hands_handline_in_order ON hands_handline; DROP FUNCTION hands_line_in_order()",
        ),
        grant(("hands_hand", "SELECT, INSERT, UPDATE"), ("hands_handline", "SELECT, INSERT")),
    ]
