-- A series counts one by one, and never back.
CREATE OR REPLACE FUNCTION transfers_count_on() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.house_id, NEW.series, NEW.last) IS DISTINCT FROM (OLD.house_id, OLD.series, OLD.last + 1) THEN
        RAISE EXCEPTION 'series % goes from % to %', OLD.series, OLD.last, OLD.last + 1 USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;

-- An ended transfer stays as it ended; signatures, and the chips signed for, never change.
CREATE OR REPLACE FUNCTION transfers_stay() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION '% keeps its rows', TG_TABLE_NAME USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.ended_at IS NOT NULL THEN
        RAISE EXCEPTION '% % has ended as %', TG_TABLE_NAME, OLD.id, OLD.state USING ERRCODE = 'KZ900';
    END IF;
    IF (OLD.house_id, OLD.table_id, OLD.drawer_id) IS DISTINCT FROM (NEW.house_id, NEW.table_id, NEW.drawer_id) THEN
        RAISE EXCEPTION '% % keeps its places', TG_TABLE_NAME, OLD.id USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.sent IS NOT NULL
       AND (OLD.sent, OLD.sent_by_id, OLD.sent_at) IS DISTINCT FROM (NEW.sent, NEW.sent_by_id, NEW.sent_at) THEN
        RAISE EXCEPTION 'transfer % was sent as it was sent', OLD.id USING ERRCODE = 'KZ900';
    END IF;
    IF (OLD.kind, OLD.serial) IS DISTINCT FROM (NEW.kind, NEW.serial)
       OR (OLD.carried_by_id IS NOT NULL AND OLD.carried_by_id IS DISTINCT FROM NEW.carried_by_id)
       OR (OLD.declined_by_id IS NOT NULL
           AND (OLD.declined_by_id, OLD.declined_at) IS DISTINCT FROM (NEW.declined_by_id, NEW.declined_at)) THEN
        RAISE EXCEPTION 'transfer % keeps its number and its signatures', OLD.id USING ERRCODE = 'KZ900';
    END IF;
    IF EXISTS (SELECT FROM generate_series(0, jsonb_array_length(OLD.miscounts) - 1) AS number
               WHERE OLD.miscounts -> number IS DISTINCT FROM NEW.miscounts -> number) THEN
        RAISE EXCEPTION 'transfer % keeps its counts', OLD.id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
