-- A house keeps its currency once it has chips, or accounts in it.
-- A house's stage follows the one before it: nothing leaves `closed`, and nothing goes back to `founding` or past `live`.
CREATE OR REPLACE FUNCTION houses_stage_follows() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.is_sandbox IS DISTINCT FROM OLD.is_sandbox THEN
        RAISE EXCEPTION 'house % keeps its is_sandbox', OLD.code USING ERRCODE = 'KZ900';
    END IF;
    IF NEW.stage IS DISTINCT FROM OLD.stage AND (OLD.stage || ' ' || NEW.stage) NOT IN (
        'founding live', 'live suspended', 'suspended live', 'live closed', 'suspended closed',
        'sandbox suspended', 'suspended sandbox', 'sandbox closed'
    ) THEN
        RAISE EXCEPTION 'house % does not go from % to %', OLD.code, OLD.stage, NEW.stage USING ERRCODE = 'KZ900';
    END IF;
    IF (NEW.currency, NEW.currency_exponent) IS DISTINCT FROM (OLD.currency, OLD.currency_exponent)
       AND (EXISTS (SELECT FROM ledger_account WHERE book = OLD.id AND commodity = OLD.currency)
            OR EXISTS (SELECT FROM chips_chipset WHERE house_id = OLD.id)) THEN
        RAISE EXCEPTION 'house % keeps its currency', OLD.code USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
