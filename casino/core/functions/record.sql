-- The end of a write, in one call: posts the ledger transaction that waits, compares balances, appends the audit event
-- that records every posting, queues outbox messages and stores the answer under its key.
--   p_posted: postings made before in this transaction, as members of a JSON array; null for none.
--   p_post_*: one ledger transaction, null for none; p_post_metadata is canonical JSON, p_post_legs the legs as the event
--   has them, p_accounts and p_amounts the same legs by account id.
--   p_proved, p_balances: what these accounts must hold afterwards (KZ904).
--   p_tasks, p_subjects: outbox messages, whose ids are returned in their order.
--   p_by, p_key ...: the answer's row; its text, an object with members, gets the receipt as the last one.
-- It runs with the caller's rights: ledger and audit are written by their own functions.
CREATE OR REPLACE FUNCTION core_record(
    p_house uuid, p_chain text, p_kind text, p_actor text, p_role text, p_terminal text, p_request text, p_data text,
    p_approver text, p_reason text, p_posted text,
    p_post_key text, p_post_kind text, p_post_metadata text, p_post_occurred timestamptz, p_post_legs text,
    p_accounts bigint[], p_amounts bigint[],
    p_proved bigint[], p_balances bigint[],
    p_tasks text[], p_subjects text[],
    p_by bigint, p_key text, p_request_hash text, p_status smallint, p_version bigint, p_answer text,
    OUT seq bigint, OUT leaf_hash text, OUT messages bigint[]
) LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
-- Arrays of known length would otherwise be planned again each time, which costs more than running the plan.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    posted record;
    recorded text := p_posted;
    wrong text;
BEGIN
    IF p_post_key IS NOT NULL THEN
        SELECT l.transaction, l.posted_at, l.replayed INTO posted
        FROM ledger_post_one(p_house, NULL, p_post_key, p_post_kind, p_post_metadata::jsonb, p_post_occurred,
                             p_accounts, p_amounts) l;
        IF NOT posted.replayed THEN
            recorded := concat_ws(',', recorded, concat(
                '{"about":"', encode(sha256(convert_to(concat(
                    '[', to_json(p_post_key), ',', to_json(p_post_kind), ',', p_post_metadata, ',',
                    coalesce(core_utc(p_post_occurred), 'null'), ',', core_utc(posted.posted_at), ']'), 'UTF8')), 'hex'),
                '","legs":', p_post_legs, ',"tx":', posted.transaction, '}'));
        END IF;
    END IF;
    IF p_proved IS NOT NULL THEN
        SELECT string_agg(format('%s holds %s, not %s', a.code, a.balance, wanted.balance), '; ' ORDER BY a.code)
        INTO wrong
        FROM unnest(p_proved, p_balances) AS wanted (id, balance) JOIN ledger_account a ON a.id = wanted.id
        WHERE a.balance <> wanted.balance;
        IF wrong IS NOT NULL THEN
            RAISE EXCEPTION 'the ledger holds other balances' USING ERRCODE = 'KZ904', DETAIL = wrong;
        END IF;
    END IF;
    SELECT e.seq, e.leaf_hash INTO seq, leaf_hash
    FROM audit_append(p_house, p_chain, p_kind, p_actor, p_role, p_terminal, p_request, p_data, p_approver, p_reason,
                      '[' || recorded || ']') e;
    IF p_tasks IS NOT NULL THEN
        WITH queued AS (
            INSERT INTO houses_outboxmessage (house_id, task, subject, deliveries, last_error)
            SELECT p_house, q.task, q.subject, 0, ''
            FROM unnest(p_tasks, p_subjects) WITH ORDINALITY AS q (task, subject, nth) ORDER BY q.nth RETURNING id)
        SELECT array_agg(id ORDER BY id) INTO messages FROM queued;
    END IF;
    IF p_key IS NOT NULL THEN
        INSERT INTO staff_answeredrequest (house_id, terminal_id, key, request_hash, status, version, answer)
        VALUES (p_house, p_by, p_key, p_request_hash, p_status, p_version, concat(
            left(p_answer, -1), ',"audit":{"chain":', to_json(p_chain), ',"seq":', seq, ',"hash":"', leaf_hash, '"}}'));
    END IF;
END $$;

-- A moment as canonical JSON has it: UTC, always to the microsecond. A body that is read once, when it is made, needs no
-- search path of its own, so that the planner can put it in the place of a call.
CREATE OR REPLACE FUNCTION core_utc(p_at timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN '"' || to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"';
