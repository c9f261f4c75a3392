-- A commitment is final, and so is what became of the deal.
CREATE OR REPLACE FUNCTION hands_deal_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a deal is never deleted' USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.state <> 'prepared'
       OR (OLD.house_id, OLD.table_id, OLD.number, OLD.name, OLD.commitment, OLD.sealed_seed, OLD.at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.number, NEW.name, NEW.commitment, NEW.sealed_seed, NEW.at) THEN
        RAISE EXCEPTION 'the deal of hand % does not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;

-- A deal takes client seeds until it is dealt or abandoned. The table is named in full: a temporary one of its name,
-- which any role may make, comes first on the search path.
CREATE OR REPLACE FUNCTION hands_seed_before_deal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM public.hands_deal WHERE (house_id, id, state) = (NEW.house_id, NEW.deal_id, 'prepared')) THEN
        RAISE EXCEPTION 'deal % takes no seeds any more', NEW.deal_id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
