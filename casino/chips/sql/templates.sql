-- Templates of floats and trays never begin in the past, and their numbers at a place have no gaps.
CREATE OR REPLACE FUNCTION chips_template_from_now_on() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.valid_from < now() THEN
        RAISE EXCEPTION 'template % of % % would begin in the past', NEW.number, NEW.kind, NEW.place
            USING ERRCODE = 'KZ900';
    END IF;
    IF NEW.number <> 1 + (
        SELECT coalesce(max(number), 0) FROM chips_template
        WHERE house_id = NEW.house_id AND kind = NEW.kind AND place = NEW.place
    ) THEN
        RAISE EXCEPTION 'template % of % % is not the next one', NEW.number, NEW.kind, NEW.place
            USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
