-- A later ruling is one on a hand whose money has moved, and the next one of it.
CREATE OR REPLACE FUNCTION hands_rulings_in_order() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.number IS DISTINCT FROM (
        SELECT 1 + (hand.state = 'ruled')::int + (
            SELECT count(*) FROM hands_laterruling earlier
            WHERE (earlier.house_id, earlier.hand_id) = (hand.house_id, hand.id))
        FROM hands_hand hand
        WHERE (hand.house_id, hand.id) = (NEW.house_id, NEW.hand_id) AND hand.state IN ('settled', 'ruled')) THEN
        RAISE EXCEPTION 'ruling % of hand % is not its next one', NEW.number, NEW.hand_id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;

-- An exception is cleared once; its findings stay.
CREATE OR REPLACE FUNCTION hands_exception_stays() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.cleared_at IS NOT NULL
       OR (OLD.house_id, OLD.table_id, OLD.number, OLD.hand_id, OLD.kind, OLD.found, OLD.sealed, OLD.hash, OLD.found_at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.number, NEW.hand_id, NEW.kind, NEW.found, NEW.sealed, NEW.hash, NEW.found_at) THEN
        RAISE EXCEPTION 'exception % is cleared once and never changes', OLD.id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
