-- An exception is cleared once; its findings stay.
CREATE OR REPLACE FUNCTION hands_exception_stays() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.cleared_at IS NOT NULL
       OR (OLD.house_id, OLD.table_id, OLD.hand_id, OLD.kind, OLD.found, OLD.sealed, OLD.hash, OLD.found_at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.hand_id, NEW.kind, NEW.found, NEW.sealed, NEW.hash, NEW.found_at) THEN
        RAISE EXCEPTION 'exception % is cleared once and never changes', OLD.id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
