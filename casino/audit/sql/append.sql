-- Appends one event to a chain. The application's role may execute this and read; it can neither insert nor change.
-- The payload's keys stand in ASCII order and absent ones are left out, so that the text is canonical (RFC 8785 subset)
-- and can be made again by anybody who holds the values. The lock on the head is the last one a transaction takes.
-- The ledger transactions that the event records are kept in audit_posting, where each can be once. They must be of this
-- house's book and posted by this database transaction: a row is that, or younger, whose xmin is no older than our own
-- transaction id (savepoints have later ones), and what younger transactions have committed was recorded by them (KZ902).
-- Each is looked up by its key, whatever the planner thinks of the sizes.
CREATE OR REPLACE FUNCTION audit_append(
    p_house uuid, p_chain text, p_kind text, p_actor text, p_role text, p_terminal text, p_request text, p_data text,
    p_approver text, p_reason text, p_postings text,
    OUT seq bigint, OUT leaf_hash text
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    head audit_chainhead%ROWTYPE;
    body text;
    written bigint;
    recorded bigint;
BEGIN
    IF jsonb_typeof(p_data::jsonb) <> 'object' THEN
        RAISE EXCEPTION 'audit data must be one JSON object' USING ERRCODE = 'KZ901';
    ELSIF p_postings IS NOT NULL AND jsonb_typeof(p_postings::jsonb) <> 'array' THEN
        RAISE EXCEPTION 'the postings of an audit event must be one JSON array' USING ERRCODE = 'KZ901';
    END IF;
    SELECT * INTO head FROM audit_chainhead WHERE house_id = p_house AND name = p_chain FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO audit_chainhead (house_id, name, seq, hash)
            VALUES (p_house, p_chain, 0, repeat('0', 64)) ON CONFLICT (house_id, name) DO NOTHING;
        SELECT * INTO STRICT head FROM audit_chainhead WHERE house_id = p_house AND name = p_chain FOR UPDATE;
    END IF;
    seq := head.seq + 1;
    body := concat(
        '{"actor":', to_json(p_actor), ',"approver":' || to_json(p_approver)::text,
        ',"at":"', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        '","chain":', to_json(p_chain), ',"data":', p_data, ',"house":"', p_house, '","kind":', to_json(p_kind),
        ',"postings":' || p_postings, ',"prev":"', head.hash, '"', ',"reason":' || to_json(p_reason)::text,
        ',"request":', to_json(p_request), ',"role":', to_json(p_role), ',"seq":', seq,
        ',"terminal":', to_json(p_terminal), ',"v":2}');
    leaf_hash := encode(sha256('\x00'::bytea || convert_to(body, 'UTF8')), 'hex');
    INSERT INTO audit_event (house_id, chain_id, seq, xid, payload, leaf_hash)
        VALUES (p_house, head.id, seq, pg_current_xact_id()::text::bigint, body, leaf_hash) RETURNING id INTO written;
    UPDATE audit_chainhead SET seq = audit_append.seq, hash = audit_append.leaf_hash WHERE id = head.id;
    IF p_postings IS NOT NULL THEN
        INSERT INTO audit_posting (house_id, transaction_id, event_id)
            SELECT p_house, mine.id, written FROM jsonb_array_elements(p_postings::jsonb) posting CROSS JOIN LATERAL (
                SELECT id FROM ledger_transaction
                WHERE id = (posting ->> 'tx')::bigint AND book = p_house AND age(xmin) <= 0 LIMIT 1) mine;
        GET DIAGNOSTICS recorded = ROW_COUNT;
        IF recorded <> jsonb_array_length(p_postings::jsonb) THEN
            RAISE EXCEPTION 'an audit event records a ledger transaction of another book or another time'
                USING ERRCODE = 'KZ903';
        END IF;
    END IF;
END $$;
