-- Appends one event to a chain. The application's role may execute this and read; it can neither insert nor change.
-- The payload's keys stand in ASCII order, so that the text is canonical (RFC 8785 subset) and can be made again by
-- anybody who holds the values. The lock on the head is the last one a transaction takes.
CREATE FUNCTION audit_append(
    p_house uuid, p_chain text, p_kind text, p_actor text, p_role text, p_terminal text, p_request text, p_data text,
    OUT seq bigint, OUT leaf_hash text
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    head audit_chainhead%ROWTYPE;
    body text;
BEGIN
    IF jsonb_typeof(p_data::jsonb) <> 'object' THEN
        RAISE EXCEPTION 'audit data must be one JSON object' USING ERRCODE = 'KZ901';
    END IF;
    INSERT INTO audit_chainhead (house_id, name, seq, hash)
        VALUES (p_house, p_chain, 0, repeat('0', 64)) ON CONFLICT (house_id, name) DO NOTHING;
    SELECT * INTO STRICT head FROM audit_chainhead WHERE house_id = p_house AND name = p_chain FOR UPDATE;
    seq := head.seq + 1;
    body := format(
        '{"actor":%s,"at":"%s","chain":%s,"data":%s,"house":%s,"kind":%s,"prev":"%s","request":%s,"role":%s,"seq":%s,"terminal":%s,"v":1}',
        to_json(p_actor), to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        to_json(p_chain), p_data, to_json(p_house::text), to_json(p_kind), head.hash, to_json(p_request),
        to_json(p_role), seq, to_json(p_terminal));
    leaf_hash := encode(sha256('\x00'::bytea || convert_to(body, 'UTF8')), 'hex');
    INSERT INTO audit_event (chain_id, seq, xid, payload, leaf_hash)
        VALUES (head.id, seq, pg_current_xact_id()::text::bigint, body, leaf_hash);
    UPDATE audit_chainhead SET seq = audit_append.seq, hash = audit_append.leaf_hash WHERE id = head.id;
END $$;
REVOKE ALL ON FUNCTION audit_append(uuid, text, text, text, text, text, text, text) FROM PUBLIC;
