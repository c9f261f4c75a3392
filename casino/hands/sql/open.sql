-- The beginning of a write to the hand at a table, in one call: locks the table, then looks for an answer given under
-- the request's key, then reads the hand that is not settled, its log as it is stored, and the cards entered for it
-- (seat, index, sealed card in hexadecimal, hash).
-- Each statement sees what was committed before it, so what is read after the lock is as new as the lock.
--   p_version: the version of the table up to which the caller knows the hand; where it still is that, nothing is read of
--   the hand (`known`). p_hand, p_lines, p_corrections: a hand of which the caller knows so many lines as they were after
--   so many corrections; of the same hand, corrected no further, only the lines after them are returned.
CREATE OR REPLACE FUNCTION hands_open(
    p_house uuid, p_code text, p_terminal bigint, p_key text, p_version bigint, p_hand bigint,
    p_lines integer, p_corrections integer,
    OUT seat_table tables_table, OUT known boolean, OUT hand hands_hand, OUT corrections integer,
    OUT first_line integer, OUT log text[], OUT entered text[],
    OUT request_hash text, OUT status smallint, OUT version bigint, OUT answer text
) LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    SELECT * INTO seat_table FROM tables_table WHERE house_id = p_house AND code = p_code FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT a.request_hash, a.status, a.version, a.answer INTO request_hash, status, version, answer
    FROM staff_answeredrequest a WHERE (a.house_id, a.terminal_id, a.key) = (p_house, p_terminal, p_key);
    IF FOUND THEN
        RETURN;
    END IF;
    known := seat_table.version = p_version;
    IF known THEN
        RETURN;
    END IF;
    SELECT * INTO hand FROM hands_hand
    WHERE house_id = p_house AND table_id = seat_table.id AND state = ANY (ARRAY['playing', 'ended', 'awaiting_approval', 'approved', 'disputed']);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    corrections := (SELECT count(*) FROM hands_correction WHERE house_id = p_house AND hand_id = hand.id);
    first_line := CASE WHEN hand.id = p_hand AND corrections = p_corrections THEN p_lines ELSE 0 END;
    log := (SELECT coalesce(array_agg(stored ORDER BY seq), '{}') FROM hands_log
            WHERE house_id = p_house AND hand_id = hand.id AND seq > first_line);
    entered := (SELECT coalesce(array_agg(concat_ws(' ', seat, index, encode(sealed, 'hex'), hash) ORDER BY id), '{}') FROM hands_cardentry
                WHERE house_id = p_house AND hand_id = hand.id);
END $$;

-- The beginning of a settlement, in one call: locks the table, then the hand that the outbox message names, and reads
-- its house and its log, corrected, as it is stored. Everything but the log, which is empty, is null where there is no such message, or
-- where its house has no such hand.
CREATE OR REPLACE FUNCTION hands_to_settle(
    p_message bigint,
    OUT house houses_house, OUT seat_table tables_table, OUT hand hands_hand, OUT log text[]
) LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    named houses_outboxmessage;
BEGIN
    SELECT * INTO named FROM houses_outboxmessage WHERE id = p_message;
    SELECT * INTO seat_table FROM tables_table
    WHERE house_id = named.house_id
        AND id = (SELECT table_id FROM hands_hand WHERE (house_id, id) = (named.house_id, named.subject::bigint))
    FOR NO KEY UPDATE;
    SELECT * INTO hand FROM hands_hand
    WHERE (house_id, id) = (named.house_id, named.subject::bigint) FOR NO KEY UPDATE;
    SELECT * INTO house FROM houses_house WHERE id = hand.house_id;
    log := (SELECT coalesce(array_agg(stored ORDER BY seq), '{}') FROM hands_log
            WHERE house_id = hand.house_id AND hand_id = hand.id);
END $$;

-- The beginning of a write that the caller has decided already, knowing the table and its hand at p_version: locks the
-- table and returns its house. Refuses (KZ905) where the table has another version now, or the request was answered
-- before: then it is decided again over what hands_open reads.
CREATE OR REPLACE FUNCTION hands_unmoved(
    p_house uuid, p_table bigint, p_version bigint, p_terminal bigint, p_key text
) RETURNS uuid LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    PERFORM FROM tables_table WHERE house_id = p_house AND id = p_table AND version = p_version FOR NO KEY UPDATE;
    IF NOT FOUND OR EXISTS (
        SELECT FROM staff_answeredrequest WHERE (house_id, terminal_id, key) = (p_house, p_terminal, p_key)) THEN
        RAISE EXCEPTION 'table % is not at version % any more, or the request was answered', p_table, p_version
            USING ERRCODE = 'KZ905';
    END IF;
    RETURN p_house;
END $$;
