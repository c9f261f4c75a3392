"""The guard of a hand's lines names its tables in full: a temporary one of the same name, which anybody may make, would
be found first and let anything through."""

from django.db import migrations

LINES_IN_ORDER = """
CREATE OR REPLACE FUNCTION hands_line_in_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.hands_hand WHERE id = NEW.hand_id AND state = 'playing') THEN
        RAISE EXCEPTION 'hand % is not being played', NEW.hand_id USING ERRCODE = 'KZ900';
    END IF;
    IF NEW.seq <> 1
       AND NOT EXISTS (SELECT FROM public.hands_handline WHERE hand_id = NEW.hand_id AND seq = NEW.seq - 1) THEN
        RAISE EXCEPTION 'line % of hand % has no line before it', NEW.seq, NEW.hand_id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    """The function anew; going back leaves it as it is, which does no harm."""

    dependencies = [("hands", "0007_cards")]

    operations = [migrations.RunSQL(LINES_IN_ORDER, migrations.RunSQL.noop)]
