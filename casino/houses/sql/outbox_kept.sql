-- A message of the outbox goes when it has been done for as long as any house keeps answers at least
-- (`retain_answers_days`), for every role: an open one is work that is still to be done.
CREATE OR REPLACE FUNCTION houses_outbox_kept() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.done_at IS NULL OR OLD.done_at > clock_timestamp() - interval '7 days' THEN
        RAISE EXCEPTION 'message % of the outbox is kept', OLD.id
            USING ERRCODE = 'KZ900', HINT = 'It is open, or was done in the last seven days.';
    END IF;
    RETURN OLD;
END $$;
