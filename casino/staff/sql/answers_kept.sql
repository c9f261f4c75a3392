-- An answer goes when it is as old as any house keeps answers at least (`retain_answers_days`), for every role: until then
-- its sender may send the request again, and must get this answer. Younger ones go with a player who is forgotten
-- (`players_destroy_key`), whose event the same transaction has written.
CREATE OR REPLACE FUNCTION staff_answers_kept() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.at > clock_timestamp() - interval '7 days' AND NOT EXISTS (
        SELECT FROM audit_chainhead head
        JOIN audit_event event ON event.house_id = head.house_id AND event.chain_id = head.id AND event.seq = head.seq
        WHERE head.house_id = OLD.house_id AND event.xid = pg_current_xact_id()::text::bigint
            AND event.doc ->> 'kind' = 'player.forgotten'
    ) THEN
        RAISE EXCEPTION 'answer % is kept', OLD.id
            USING ERRCODE = 'KZ900', HINT = 'It was given in the last seven days.';
    END IF;
    RETURN OLD;
END $$;
