-- What was written of work that several people do (a box, a count, a bag, a share of the tronc) never changes: what is empty is filled in,
-- and `state` and `differing_rounds` move on until it was received or has ended.
CREATE OR REPLACE FUNCTION houses_filled_in() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    name text;
    before jsonb := to_jsonb(OLD);
    after jsonb := to_jsonb(NEW);
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION '% keeps its rows', TG_TABLE_NAME USING ERRCODE = 'KZ900';
    END IF;
    FOR name IN SELECT jsonb_object_keys(before) LOOP
        IF before -> name IS DISTINCT FROM after -> name
           AND before -> name NOT IN ('null'::jsonb, '""'::jsonb)
           AND NOT (name IN ('state', 'differing_rounds') AND coalesce(before ->> 'received_at', before ->> 'ended_at') IS NULL) THEN
            RAISE EXCEPTION '% % keeps its %', TG_TABLE_NAME, OLD.id, name USING ERRCODE = 'KZ900';
        END IF;
    END LOOP;
    RETURN NEW;
END $$;
