-- A key belongs to one seating for good; the only change is that a new one replaces it.
CREATE OR REPLACE FUNCTION tables_seat_key_stays() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.replaced_at IS NOT NULL
       OR (OLD.house_id, OLD.seating_id, OLD.digest, OLD.issued_at)
       IS DISTINCT FROM (NEW.house_id, NEW.seating_id, NEW.digest, NEW.issued_at) THEN
        RAISE EXCEPTION 'the key of a seat does not change' USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
