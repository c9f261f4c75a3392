-- The guard of rows that may not change, be deleted or be truncated: `casino/core/protection.py` says which.
CREATE OR REPLACE FUNCTION houses_refuse_change() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'KZ900', HINT = 'Corrections are new rows.';
END $$;
