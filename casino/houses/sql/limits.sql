-- Control points never begin in the past, and their numbers in a house have no gaps.
CREATE OR REPLACE FUNCTION houses_limits_from_now_on() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.valid_from < now() THEN
        RAISE EXCEPTION 'limits % would begin in the past', NEW.number USING ERRCODE = 'KZ900';
    END IF;
    IF NEW.number <> 1 + (SELECT coalesce(max(number), 0) FROM houses_limits WHERE house_id = NEW.house_id) THEN
        RAISE EXCEPTION 'limits % are not the next ones', NEW.number USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
