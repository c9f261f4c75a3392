-- A commitment is final, and so are the seats that are dealt in and what became of the deal. Its commitments close once.
CREATE OR REPLACE FUNCTION hands_deal_stays() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a deal is never deleted' USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.state <> 'prepared'
       OR (OLD.house_id, OLD.table_id, OLD.number, OLD.name, OLD.commitment, OLD.sealed_seed, OLD.seats, OLD.announced,
           OLD.at, coalesce(OLD.closed_at, NEW.closed_at))
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.number, NEW.name, NEW.commitment, NEW.sealed_seed, NEW.seats, NEW.announced,
        NEW.at, NEW.closed_at) THEN
        RAISE EXCEPTION 'the deal of hand % does not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;

-- A prepared deal takes commitments and seeds that are said at the table; once its commitments are closed, it takes
-- only seeds that were committed to. Tables are named in full: temporary ones of their names, which any role may make,
-- come first on the search path.
CREATE OR REPLACE FUNCTION hands_seed_before_deal() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    revealed boolean := TG_TABLE_NAME = 'hands_clientseed' AND to_jsonb(NEW) ->> 'given_by' = 'player';
BEGIN
    IF NOT EXISTS (
        SELECT FROM public.hands_deal WHERE (house_id, id, state) = (NEW.house_id, NEW.deal_id, 'prepared')
            AND (closed_at IS NOT NULL) = revealed) THEN
        RAISE EXCEPTION 'deal % takes no such seeds now', NEW.deal_id USING ERRCODE = 'KZ900';
    END IF;
    IF revealed AND NOT EXISTS (
        SELECT FROM public.hands_seedcommitment
        WHERE (house_id, deal_id, seat, player) = (NEW.house_id, NEW.deal_id, NEW.seat, NEW.player)) THEN
        RAISE EXCEPTION 'seat % has not committed to a seed of deal %', NEW.seat, NEW.deal_id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
