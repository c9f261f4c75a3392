-- Holds: a chain of postings reserved now, and posted or voided as a whole later, within a time limit.
--
-- A hold keeps its postings as they were asked for; what they may take from each account is set aside: a row of
-- ledger_reserve, and the sum of them in ledger_account.held, which the floor counts as gone. The keys of its postings
-- are claimed until it ends (ledger_claim).
-- Locks: the hold, then accounts by id. The reserves of an account change only under its lock, so a posting that meets
-- the floor may release those that have run out without touching their holds.

-- Moves what an account holds back, by the reserve that is made or released. A reserve is released when its hold has
-- ended or is out of time.
CREATE FUNCTION @schema@.ledger_reserve_apply() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
BEGIN
    IF tg_op = 'INSERT' THEN
        PERFORM FROM ledger_hold h JOIN ledger_account a ON a.id = new.account_id AND a.book = h.book
        WHERE h.id = new.hold_id AND h.state = 'pending' AND h.expires_at = new.expires_at AND new.released_at IS NULL;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a reserve on account % of no pending hold of its book', new.account_id
                USING ERRCODE = 'LG015';
        END IF;
        UPDATE ledger_account SET held = held + new.amount WHERE id = new.account_id;
    ELSIF old.released_at IS NULL AND new.released_at IS NOT NULL THEN
        IF new.expires_at > clock_timestamp()
           AND EXISTS (SELECT FROM ledger_hold WHERE id = new.hold_id AND state = 'pending') THEN
            RAISE EXCEPTION 'hold % is pending: what it sets aside on account % stays', new.hold_id, new.account_id
                USING ERRCODE = 'LG014';
        END IF;
        UPDATE ledger_account SET held = held - new.amount WHERE id = new.account_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER ledger_account_held BEFORE UPDATE OF held ON @schema@.ledger_account
    FOR EACH ROW WHEN (pg_trigger_depth() = 0)
    EXECUTE FUNCTION @schema@.ledger_refuse('reserves move what an account holds back', 'LG015');
CREATE TRIGGER ledger_reserve_held AFTER INSERT OR UPDATE ON @schema@.ledger_reserve
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_reserve_apply();
CREATE TRIGGER ledger_reserve_fixed BEFORE UPDATE ON @schema@.ledger_reserve
    FOR EACH ROW
    WHEN (old.hold_id <> new.hold_id OR old.account_id <> new.account_id OR old.amount <> new.amount
          OR old.expires_at <> new.expires_at OR old.released_at IS NOT NULL)
    EXECUTE FUNCTION @schema@.ledger_refuse('a reserve is released once and changes no other way');
CREATE TRIGGER ledger_reserve_undeleted BEFORE DELETE ON @schema@.ledger_reserve
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_reserve_kept BEFORE TRUNCATE ON @schema@.ledger_reserve
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_hold_starts_pending BEFORE INSERT ON @schema@.ledger_hold
    FOR EACH ROW WHEN (new.state <> 'pending' OR new.ended_at IS NOT NULL)
    EXECUTE FUNCTION @schema@.ledger_refuse('a hold starts pending');
CREATE TRIGGER ledger_hold_fixed BEFORE UPDATE ON @schema@.ledger_hold
    FOR EACH ROW
    WHEN (old.id <> new.id OR old.book <> new.book OR old.key <> new.key OR old.postings <> new.postings
          OR old.created_at <> new.created_at OR old.expires_at <> new.expires_at OR old.state <> 'pending')
    EXECUTE FUNCTION @schema@.ledger_refuse('a hold is posted, voided or expires once and changes no other way');
CREATE TRIGGER ledger_hold_runs_out BEFORE UPDATE OF state ON @schema@.ledger_hold
    FOR EACH ROW WHEN (new.ended_at IS NULL OR (new.state = 'expired' AND new.expires_at > clock_timestamp()))
    EXECUTE FUNCTION @schema@.ledger_refuse('a hold expires when its time is over, and says when it ended');
CREATE TRIGGER ledger_hold_undeleted BEFORE DELETE ON @schema@.ledger_hold
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_hold_kept BEFORE TRUNCATE ON @schema@.ledger_hold
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();

-- A hold that ends lets go of what it still sets aside.
CREATE FUNCTION @schema@.ledger_hold_lets_go() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
BEGIN
    UPDATE ledger_reserve SET released_at = new.ended_at WHERE hold_id = new.id AND released_at IS NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_hold_lets_go AFTER UPDATE OF state ON @schema@.ledger_hold
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_hold_lets_go();

-- At commit: a hold that is posted has all its postings.
CREATE FUNCTION @schema@.ledger_hold_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
BEGIN
    IF EXISTS (SELECT FROM jsonb_array_elements(new.postings) p WHERE NOT EXISTS (
        SELECT FROM ledger_transaction t
        WHERE md5(t.book::text || t.idempotency_key)::uuid = md5(new.book::text || (p ->> 'key'))::uuid)) THEN
        RAISE EXCEPTION 'hold % is posted, but not all of its postings are', new.key
            USING ERRCODE = 'LG015',
                  HINT = 'Postings are looked for at commit, or at once after SET CONSTRAINTS ... IMMEDIATE.';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER ledger_hold_posted AFTER UPDATE OF state ON @schema@.ledger_hold
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (new.state = 'posted') EXECUTE FUNCTION @schema@.ledger_hold_guard();

-- A claim passes on only from a hold that has ended or is out of time.
CREATE FUNCTION @schema@.ledger_claim_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
BEGIN
    IF old.digest <> new.digest OR EXISTS (
        SELECT FROM ledger_hold WHERE id = old.hold_id AND state = 'pending' AND expires_at > clock_timestamp()) THEN
        RAISE EXCEPTION 'a key that hold % claims stays with it until it ends', old.hold_id USING ERRCODE = 'LG014';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER ledger_claim_fixed BEFORE UPDATE ON @schema@.ledger_claim
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_claim_guard();
CREATE TRIGGER ledger_claim_undeleted BEFORE DELETE ON @schema@.ledger_claim
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_claim_kept BEFORE TRUNCATE ON @schema@.ledger_claim
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();

ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_held;
ALTER TABLE @schema@.ledger_reserve ENABLE ALWAYS TRIGGER ledger_reserve_held;
ALTER TABLE @schema@.ledger_reserve ENABLE ALWAYS TRIGGER ledger_reserve_fixed;
ALTER TABLE @schema@.ledger_reserve ENABLE ALWAYS TRIGGER ledger_reserve_undeleted;
ALTER TABLE @schema@.ledger_reserve ENABLE ALWAYS TRIGGER ledger_reserve_kept;
ALTER TABLE @schema@.ledger_hold ENABLE ALWAYS TRIGGER ledger_hold_starts_pending;
ALTER TABLE @schema@.ledger_hold ENABLE ALWAYS TRIGGER ledger_hold_fixed;
ALTER TABLE @schema@.ledger_hold ENABLE ALWAYS TRIGGER ledger_hold_runs_out;
ALTER TABLE @schema@.ledger_hold ENABLE ALWAYS TRIGGER ledger_hold_undeleted;
ALTER TABLE @schema@.ledger_hold ENABLE ALWAYS TRIGGER ledger_hold_kept;
ALTER TABLE @schema@.ledger_hold ENABLE ALWAYS TRIGGER ledger_hold_lets_go;
ALTER TABLE @schema@.ledger_hold ENABLE ALWAYS TRIGGER ledger_hold_posted;
ALTER TABLE @schema@.ledger_claim ENABLE ALWAYS TRIGGER ledger_claim_fixed;
ALTER TABLE @schema@.ledger_claim ENABLE ALWAYS TRIGGER ledger_claim_undeleted;
ALTER TABLE @schema@.ledger_claim ENABLE ALWAYS TRIGGER ledger_claim_kept;

-- Releases what holds past their time limit still set aside on accounts whose locks the caller has; returns how much.
-- Pending holds are not read: an index has the unreleased reserves of an account by the time at which they run out.
CREATE FUNCTION @schema@.ledger_release_expired(p_accounts bigint[]) RETURNS numeric
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_released numeric;
BEGIN
    WITH gone AS (
        UPDATE ledger_reserve SET released_at = v_now
        WHERE account_id = ANY (p_accounts) AND released_at IS NULL AND expires_at <= v_now
        RETURNING amount
    )
    SELECT coalesce(sum(amount), 0) INTO v_released FROM gone;
    RETURN v_released;
END $$;

-- Gives a hold its last state; a trigger lets go of what it sets aside. The caller has locked hold and accounts.
CREATE FUNCTION @schema@.ledger_end_hold(p_hold bigint, p_state text) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
BEGIN
    UPDATE ledger_hold SET state = p_state, ended_at = clock_timestamp() WHERE id = p_hold;
END $$;

-- Claims the keys of a hold's postings. A key that was posted, or that another hold still claims, is refused.
CREATE FUNCTION @schema@.ledger_claim_keys(p_book uuid, p_hold bigint, p_keys text[]) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_key text;
    v_claimed integer;
BEGIN
    SELECT q.key INTO v_key FROM unnest(p_keys) q(key)
    JOIN ledger_transaction t ON md5(t.book::text || t.idempotency_key)::uuid = md5(p_book::text || q.key)::uuid LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'key % was used for another posting', v_key
            USING ERRCODE = 'LG007', DETAIL = jsonb_build_object('key', v_key)::text;
    END IF;
    PERFORM ledger_refuse_claimed(p_book, p_keys);
    INSERT INTO ledger_claim AS c (digest, hold_id)
    SELECT md5(p_book::text || q.key)::uuid, p_hold FROM unnest(p_keys) q(key) ORDER BY 1
    ON CONFLICT (digest) DO UPDATE SET hold_id = p_hold
    WHERE NOT EXISTS (SELECT FROM ledger_hold h
                      WHERE h.id = c.hold_id AND h.state = 'pending' AND h.expires_at > clock_timestamp());
    GET DIAGNOSTICS v_claimed = ROW_COUNT;
    IF v_claimed <> cardinality(p_keys) THEN
        -- Another hold claimed one in the same moment; now it can be seen.
        PERFORM ledger_refuse_claimed(p_book, p_keys);
        RAISE EXCEPTION 'a key of the chain is kept for another hold' USING ERRCODE = 'LG007';
    END IF;
END $$;

-- Reserves a chain of postings for so many seconds; the same key with the same postings returns the first hold.
--   p_postings: [{"key", "kind", "metadata", "occurred_at", "legs": [[account, amount], ...]}, ...] in the order in
--   which they shall be posted. Of each account with a floor is set aside the most that the chain takes from it.
CREATE FUNCTION @schema@.ledger_hold_chain(p_book uuid, p_key text, p_postings jsonb, p_seconds integer)
RETURNS TABLE (hold_id bigint, created_at timestamptz, expires_at timestamptz, state text, replayed boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    h ledger_hold;
    q record;
    r record;
    v_accounts bigint[];
BEGIN
    IF p_book IS NULL OR p_key IS NULL OR p_seconds IS NULL OR p_seconds < 1 OR jsonb_array_length(p_postings) < 1 THEN
        RAISE EXCEPTION 'a hold needs a book, a key, a posting and a second or more' USING ERRCODE = 'LG018';
    END IF;
    PERFORM ledger_check_batch(
        (SELECT array_agg(c.p ->> 'key') FROM jsonb_array_elements(p_postings) c(p)),
        (SELECT array_agg(c.nth::integer) FROM jsonb_array_elements(p_postings) WITH ORDINALITY c(p, nth),
                jsonb_array_elements(c.p -> 'legs')));
    SELECT array_agg(DISTINCT (l ->> 0)::bigint ORDER BY (l ->> 0)::bigint) INTO v_accounts
    FROM jsonb_array_elements(p_postings) p, jsonb_array_elements(p -> 'legs') l;
    PERFORM FROM ledger_account WHERE id = ANY (v_accounts) ORDER BY id FOR NO KEY UPDATE;

    INSERT INTO ledger_hold AS n (book, key, postings, created_at, expires_at, state)
    SELECT p_book, p_key, p_postings, now.at, now.at + make_interval(secs => p_seconds), 'pending'
    FROM (SELECT clock_timestamp() AS at) now
    ON CONFLICT (book, key) DO NOTHING RETURNING n.* INTO h;
    IF NOT FOUND THEN
        SELECT * INTO STRICT h FROM ledger_hold WHERE book = p_book AND key = p_key;
        IF h.postings <> p_postings OR h.expires_at - h.created_at <> make_interval(secs => p_seconds) THEN
            RAISE EXCEPTION 'key % was used for another hold', p_key
                USING ERRCODE = 'LG007', DETAIL = jsonb_build_object('key', p_key, 'hold', h.id)::text;
        END IF;
        RETURN QUERY SELECT h.id, h.created_at, h.expires_at, CASE
            WHEN h.state = 'pending' AND h.expires_at <= clock_timestamp() THEN 'expired' ELSE h.state END, true;
        RETURN;
    END IF;

    PERFORM ledger_claim_keys(p_book, h.id, (SELECT array_agg(p ->> 'key') FROM jsonb_array_elements(p_postings) p));
    FOR q IN SELECT p ->> 'key' AS key, array_agg((l ->> 0)::bigint) AS accounts,
                    array_agg((l ->> 1)::bigint) AS amounts
             FROM jsonb_array_elements(p_postings) WITH ORDINALITY c(p, nth), jsonb_array_elements(p -> 'legs') l
             GROUP BY c.nth, p ->> 'key' ORDER BY c.nth LOOP
        IF array_position(q.amounts, 0) IS NOT NULL THEN
            RAISE EXCEPTION 'a leg moves nothing'
                USING ERRCODE = 'LG003', DETAIL = jsonb_build_object('key', q.key)::text;
        END IF;
        PERFORM ledger_explain_posting(
            p_book, q.key, 1, array_fill(1, ARRAY[cardinality(q.accounts)]), q.accounts, q.amounts);
    END LOOP;

    FOR r IN
        -- After each posting of the chain, how much less than now; the worst of these is set aside.
        SELECT f.account, max(-f.after)::bigint AS needed
        FROM (SELECT m.account, sum(m.moved) OVER (PARTITION BY m.account ORDER BY m.nth) AS after
              FROM (SELECT c.nth, (l ->> 0)::bigint AS account, sum(a.normal_side * (l ->> 1)::bigint) AS moved
                    FROM jsonb_array_elements(p_postings) WITH ORDINALITY c(p, nth), jsonb_array_elements(p -> 'legs') l
                    JOIN ledger_account a ON a.id = (l ->> 0)::bigint
                    WHERE a.min_balance IS NOT NULL GROUP BY c.nth, account) m) f
        GROUP BY f.account HAVING max(-f.after) > 0 ORDER BY f.account
    LOOP
        IF (SELECT balance - held - r.needed < min_balance FROM ledger_account WHERE id = r.account) THEN
            PERFORM ledger_release_expired(ARRAY[r.account]);
        END IF;
        IF (SELECT balance - held - r.needed < min_balance FROM ledger_account WHERE id = r.account) THEN
            PERFORM ledger_refuse_overdraft(
                NULL, r.account, (SELECT balance - r.needed FROM ledger_account WHERE id = r.account));
        END IF;
        INSERT INTO ledger_reserve (hold_id, account_id, amount, expires_at)
        VALUES (h.id, r.account, r.needed, h.expires_at);
    END LOOP;
    RETURN QUERY SELECT h.id, h.created_at, h.expires_at, h.state, false;
END $$;

-- Posts all of a hold's chain; again, it returns what was posted. A hold that has ended otherwise is refused.
CREATE FUNCTION @schema@.ledger_post_hold(p_book uuid, p_key text, p_period text) RETURNS TABLE (
    transactions bigint[], posted_at timestamptz[], replayed boolean[],
    postings integer[], accounts bigint[], balances bigint[], versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    h ledger_hold;
    v_legs record;
    v_heads record;
    v_posted record;
    v_pending boolean;
BEGIN
    PERFORM ledger_period_for(p_book, p_period);  -- its lock first, as in every posting
    h := ledger_lock_hold(p_book, p_key);
    SELECT array_agg(c.nth::integer ORDER BY c.nth, l.ord) AS postings,
           array_agg((l.leg ->> 0)::bigint ORDER BY c.nth, l.ord) AS accounts,
           array_agg((l.leg ->> 1)::bigint ORDER BY c.nth, l.ord) AS amounts
    INTO v_legs
    FROM jsonb_array_elements(h.postings) WITH ORDINALITY c(p, nth),
         jsonb_array_elements(c.p -> 'legs') WITH ORDINALITY l(leg, ord);
    SELECT array_agg(c.p ->> 'key' ORDER BY c.nth) AS keys, array_agg(c.p ->> 'kind' ORDER BY c.nth) AS kinds,
           array_agg(c.p -> 'metadata' ORDER BY c.nth) AS metadata,
           array_agg((c.p ->> 'occurred_at')::timestamptz ORDER BY c.nth) AS occurred_at
    INTO v_heads
    FROM jsonb_array_elements(h.postings) WITH ORDINALITY c(p, nth);
    PERFORM FROM ledger_account WHERE id = ANY (v_legs.accounts) AND lanes = 0 ORDER BY id FOR NO KEY UPDATE;
    v_pending := h.state = 'pending' AND h.expires_at > clock_timestamp();
    IF v_pending THEN
        PERFORM ledger_end_hold(h.id, 'posted');
    ELSIF h.state <> 'posted' THEN
        PERFORM ledger_refuse_hold(h);
    END IF;
    SELECT * INTO v_posted FROM ledger_post(
        p_book, p_period, v_heads.keys, v_heads.kinds, v_heads.metadata, v_heads.occurred_at,
        array_fill(NULL::bigint, ARRAY[cardinality(v_heads.keys)]),
        v_legs.postings, v_legs.accounts, v_legs.amounts);
    IF v_pending AND true = ANY (v_posted.replayed) THEN
        RAISE EXCEPTION 'a key of hold % was used for another posting', p_key
            USING ERRCODE = 'LG007', DETAIL = jsonb_build_object('key', p_key, 'hold', h.id)::text;
    END IF;
    RETURN QUERY SELECT v_posted.transactions, v_posted.posted_at, v_posted.replayed, v_posted.postings,
                        v_posted.accounts, v_posted.balances, v_posted.versions;
END $$;

CREATE FUNCTION @schema@.ledger_lock_hold(p_book uuid, p_key text) RETURNS @schema@.ledger_hold
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    h ledger_hold;
BEGIN
    SELECT * INTO h FROM ledger_hold WHERE book = p_book AND key = p_key FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'hold % is unknown', p_key
            USING ERRCODE = 'LG023', DETAIL = jsonb_build_object('key', p_key)::text;
    END IF;
    RETURN h;
END $$;

CREATE FUNCTION @schema@.ledger_refuse_hold(h @schema@.ledger_hold) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'hold % is %', h.key, CASE h.state WHEN 'pending' THEN 'expired' ELSE h.state END
        USING ERRCODE = 'LG021', DETAIL = jsonb_build_object(
            'key', h.key, 'state', CASE h.state WHEN 'pending' THEN 'expired' ELSE h.state END,
            'expires_at', h.expires_at)::text;
END $$;

-- Lets go of all of a hold; again, nothing happens. A hold that was posted is refused; one that expired may be voided.
CREATE FUNCTION @schema@.ledger_void_hold(p_book uuid, p_key text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    h ledger_hold;
BEGIN
    h := ledger_lock_hold(p_book, p_key);
    IF h.state = 'posted' THEN
        PERFORM ledger_refuse_hold(h);
    ELSIF h.state = 'pending' THEN
        PERFORM FROM ledger_account a WHERE a.id IN (SELECT account_id FROM ledger_reserve WHERE hold_id = h.id)
        ORDER BY a.id FOR NO KEY UPDATE;
        h.state := CASE WHEN h.expires_at > clock_timestamp() THEN 'voided' ELSE 'expired' END;
        PERFORM ledger_end_hold(h.id, h.state);
    END IF;
    RETURN h.state;
END $$;

-- Ends the holds of a book whose time has run out, those apart that somebody is at work on; returns their keys, the
-- oldest first.
CREATE FUNCTION @schema@.ledger_expire_holds(p_book uuid) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_holds bigint[];
    v_hold bigint;
BEGIN
    SELECT array_agg(id) INTO v_holds FROM (
        SELECT id FROM ledger_hold WHERE book = p_book AND state = 'pending' AND expires_at <= clock_timestamp()
        ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) h;
    PERFORM FROM ledger_account a WHERE a.id IN (SELECT account_id FROM ledger_reserve WHERE hold_id = ANY (v_holds))
    ORDER BY a.id FOR NO KEY UPDATE;
    FOREACH v_hold IN ARRAY coalesce(v_holds, '{}') LOOP
        PERFORM ledger_end_hold(v_hold, 'expired');
    END LOOP;
    RETURN coalesce((SELECT array_agg(key ORDER BY id) FROM ledger_hold WHERE id = ANY (v_holds)), '{}');
END $$;
