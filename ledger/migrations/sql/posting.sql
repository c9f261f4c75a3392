-- The only writers of transactions and accounts. They run as their owner; the application may only EXECUTE them.
-- Inserting entries moves the balances: the trigger in guards.sql judges them and applies them to the accounts.

-- An account's id says in which order it is locked: 2^40 * lock_rank + a number, and from 2^51 on the accounts with
-- lanes, each followed by room for its lanes. So sorting by id is sorting by rank, without reading anything first.
CREATE FUNCTION @schema@.ledger_first_laned() RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN 2251799813685248;

-- Why a posting may not be made, as a typed error; called only when something is known to be wrong.
CREATE FUNCTION @schema@.ledger_explain_posting(
    p_book uuid, p_key text, p_posting integer, p_postings integer[], p_accounts bigint[], p_amounts bigint[]
) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
DECLARE
    r record;
    v_accounts bigint[];
    v_amounts bigint[];
BEGIN
    SELECT array_agg(l.account), array_agg(l.amount) INTO v_accounts, v_amounts
    FROM unnest(p_postings, p_accounts, p_amounts) l(posting, account, amount) WHERE l.posting = p_posting;
    IF (SELECT count(DISTINCT l.account) < 2 FROM unnest(v_accounts) l(account)) THEN
        RAISE EXCEPTION 'a transaction needs legs on at least two accounts'
            USING ERRCODE = 'LG002', DETAIL = jsonb_build_object('key', p_key)::text;
    END IF;

    SELECT l.account INTO r FROM unnest(v_accounts) l(account)
    LEFT JOIN ledger_account a ON a.id = l.account AND a.book = p_book
    WHERE a.id IS NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'account % is not in this book', r.account
            USING ERRCODE = 'LG006', DETAIL = jsonb_build_object('account', r.account, 'key', p_key)::text;
    END IF;

    SELECT a.commodity, sum(l.amount) AS total INTO r FROM unnest(v_accounts, v_amounts) l(account, amount)
    JOIN ledger_account a ON a.id = l.account
    GROUP BY a.commodity HAVING sum(l.amount) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'legs in % sum to %, not to zero', r.commodity, r.total
            USING ERRCODE = 'LG001',
                  DETAIL = jsonb_build_object('commodity', r.commodity, 'sum', r.total, 'key', p_key)::text;
    END IF;

    SELECT a.id, a.code INTO r FROM ledger_account a WHERE a.id = ANY (v_accounts) AND a.closed_at IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'account % is closed', r.code
            USING ERRCODE = 'LG005',
                  DETAIL = jsonb_build_object('account', r.id, 'account_code', r.code, 'key', p_key)::text;
    END IF;

    SELECT sum(a.weight * l.amount) AS total INTO r
    FROM unnest(v_accounts, v_amounts) l(account, amount) JOIN ledger_account a ON a.id = l.account;
    IF r.total <> 0 THEN
        RAISE EXCEPTION 'legs weigh %, not zero', r.total
            USING ERRCODE = 'LG019', DETAIL = jsonb_build_object('weight', r.total, 'key', p_key)::text;
    END IF;
END $$;

-- Refuses a posting that would leave an account below its floor.
CREATE FUNCTION @schema@.ledger_refuse_overdraft(p_key text, p_account bigint, p_balance bigint) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
DECLARE
    a ledger_account;
BEGIN
    SELECT * INTO STRICT a FROM ledger_account WHERE id = p_account;
    RAISE EXCEPTION 'account % holds %, needs %', a.code, a.balance - a.held, a.balance - p_balance + a.min_balance
        USING ERRCODE = 'LG004', DETAIL = jsonb_build_object(
            'account', a.id, 'account_code', a.code, 'balance', a.balance, 'held', a.held,
            'needed', a.balance - p_balance + a.min_balance, 'min_balance', a.min_balance, 'key', p_key)::text;
END $$;

-- The lane of an account that this posting shall use: the first that nobody holds, starting at one's own place.
CREATE FUNCTION @schema@.ledger_lane(p_account bigint, p_accounts bigint[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_lanes smallint;
    v_first bigint;
    v_lane bigint;
BEGIN
    SELECT lanes INTO v_lanes FROM ledger_account WHERE id = p_account;
    IF NOT FOUND OR v_lanes = 0 THEN
        RETURN p_account;
    ELSIF EXISTS (SELECT FROM unnest(p_accounts) l(account)
                  WHERE l.account BETWEEN p_account + 1 AND p_account + v_lanes) THEN
        RAISE EXCEPTION 'a posting names account % and a lane of it', p_account
            USING ERRCODE = 'LG018', DETAIL = jsonb_build_object('account', p_account)::text;
    END IF;
    v_first := pg_backend_pid() % v_lanes;
    FOR i IN 0 .. v_lanes - 1 LOOP
        SELECT id INTO v_lane FROM ledger_account WHERE id = p_account + 1 + (v_first + i) % v_lanes
        FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            RETURN v_lane;
        END IF;
    END LOOP;
    RETURN p_account + 1 + v_first;
END $$;

-- Every posting of a batch has legs and a key of its own.
CREATE FUNCTION @schema@.ledger_check_batch(p_keys text[], p_postings integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
DECLARE
    v_key text;
BEGIN
    SELECT q.key INTO v_key FROM unnest(p_keys) q(key) GROUP BY q.key HAVING count(*) > 1 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'key % stands at two postings', v_key
            USING ERRCODE = 'LG007', DETAIL = jsonb_build_object('key', v_key)::text;
    END IF;
    SELECT q.key INTO v_key FROM unnest(p_keys) WITH ORDINALITY q(key, nth)
    WHERE q.nth NOT IN (SELECT l.posting FROM unnest(p_postings) l(posting)) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'a transaction needs legs on at least two accounts'
            USING ERRCODE = 'LG002', DETAIL = jsonb_build_object('key', v_key)::text;
    END IF;
END $$;

-- The period that a posting belongs to: the one named, else the newest open one; null in a book without periods, 0
-- where it is not open. Whoever opens or closes a period waits for the postings that hold this lock, and they for him.
CREATE FUNCTION @schema@.ledger_period_for(p_book uuid, p_name text) RETURNS integer
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_period integer;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(ledger_period_lock(p_book));
    SELECT max(id) INTO v_period FROM ledger_period
    WHERE book = p_book AND closed_at IS NULL AND (p_name IS NULL OR name = p_name);
    IF v_period IS NULL AND (p_name IS NOT NULL OR EXISTS (SELECT FROM ledger_period WHERE book = p_book)) THEN
        RETURN 0;
    END IF;
    RETURN v_period;
END $$;

-- Posts transactions, all or none; a key that was used for the same posting before returns what it did then.
--   Arrays of one length, an element a posting: p_keys, p_kinds, p_metadata, p_occurred_at, p_reverses.
--   Arrays of one length, an element a leg: p_postings (which posting, from 1), p_accounts, p_amounts (debit positive).
--   An account may appear more than once in a posting: each leg becomes an entry of its own, and the floor is judged
--   after the last of them. Answers legs by account and posting; postings in the order given.
--   Locks: the book's periods (shared), accounts in the order of their ids, then the keys.
CREATE FUNCTION @schema@.ledger_post(
    p_book uuid, p_period text, p_keys text[], p_kinds text[], p_metadata jsonb[], p_occurred_at timestamptz[],
    p_reverses bigint[], p_postings integer[], p_accounts bigint[], p_amounts bigint[],
    OUT transactions bigint[], OUT posted_at timestamptz[], OUT replayed boolean[],
    OUT postings integer[], OUT accounts bigint[], OUT balances bigint[], OUT versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off
-- With array parameters the planner always thinks a plan of this call's own cheaper, and would plan at every call.
SET plan_cache_mode = force_generic_plan SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
    a record;
    v_legs integer := cardinality(p_accounts);
    v_asked bigint;
    v_account bigint;
    v_place integer[] := p_postings; -- by leg: the place of its account in the arrays below
    v_ids bigint[] := '{}';          -- the account, or the lane, that is posted to
    v_at bigint[] := '{}';           -- its balance and version, as they grow
    v_version bigint[] := '{}';
    v_side smallint[] := '{}';
    v_floor bigint[] := '{}';        -- null for none
    v_usable boolean[] := '{}';
    v_last timestamptz;
    v_now timestamptz;
    v_period integer;
    v_fresh integer := 0;
    v_accounts bigint[] := p_accounts;  -- by leg: where it lands, and what it leaves there
    v_balances bigint[] := p_amounts;
    v_versions bigint[] := p_amounts;
    v_transactions bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(p_accounts)]);
    k integer := 0;
BEGIN
    IF p_book IS NULL OR v_legs IS NULL OR v_legs <> cardinality(p_amounts) OR v_legs <> cardinality(p_postings)
       OR array_position(p_keys, NULL) IS NOT NULL OR array_position(p_kinds, NULL) IS NOT NULL
       OR array_position(p_metadata, NULL) IS NOT NULL OR array_position(p_accounts, NULL) IS NOT NULL
       OR array_position(p_amounts, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'a posting needs a book, a key, a kind, metadata and an amount for each account'
            USING ERRCODE = 'LG018';
    ELSIF array_position(p_amounts, 0) IS NOT NULL THEN
        RAISE EXCEPTION 'a leg moves nothing' USING ERRCODE = 'LG003', DETAIL = jsonb_build_object(
            'key', p_keys[p_postings[array_position(p_amounts, 0)]])::text;
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a posting needs READ COMMITTED: other levels read keys and periods as they were'
            USING ERRCODE = 'LG018';
    END IF;
    IF cardinality(p_keys) <> 1 OR v_legs = 0 THEN
        PERFORM ledger_check_batch(p_keys, p_postings);
    END IF;
    FOR i IN 2 .. v_legs LOOP
        IF p_accounts[i] < p_accounts[i - 1]
           OR (p_accounts[i] = p_accounts[i - 1] AND p_postings[i] < p_postings[i - 1]) THEN
            SELECT array_agg(l.posting ORDER BY l.account, l.posting, l.ord),
                   array_agg(l.account ORDER BY l.account, l.posting, l.ord),
                   array_agg(l.amount ORDER BY l.account, l.posting, l.ord)
            INTO p_postings, p_accounts, p_amounts
            FROM unnest(p_postings, p_accounts, p_amounts) WITH ORDINALITY l(posting, account, amount, ord);
            EXIT;
        END IF;
    END LOOP;

    v_period := ledger_period_for(p_book, p_period);
    FOR i IN 1 .. v_legs LOOP
        IF p_accounts[i] IS DISTINCT FROM v_asked THEN
            v_asked := p_accounts[i];
            v_account := v_asked;
            IF v_asked >= ledger_first_laned() THEN
                v_account := ledger_lane(v_asked, p_accounts);
            END IF;
            SELECT t.balance, t.version, t.normal_side, t.min_balance + t.held AS floor, t.posted_at, t.held,
                   t.book = p_book AND t.closed_at IS NULL AS usable
            INTO a FROM ledger_account t WHERE t.id = v_account FOR NO KEY UPDATE;
            k := k + 1;
            v_ids[k] := v_account;
            v_at[k] := a.balance;
            v_version[k] := a.version;
            v_side[k] := a.normal_side;
            v_floor[k] := a.floor;
            v_usable[k] := a.usable;
            v_last := greatest(v_last, a.posted_at);
            IF a.held > 0 THEN
                v_floor[k] := a.floor - ledger_release_expired(v_account);
            END IF;
        END IF;
        v_place[i] := k;
    END LOOP;

    v_now := greatest(clock_timestamp(), v_last);
    IF cardinality(p_keys) = 1 THEN
        INSERT INTO ledger_transaction AS t
            (book, period_id, idempotency_key, kind, reverses_id, posted_at, occurred_at, metadata)
        VALUES (p_book, v_period, p_keys[1], p_kinds[1], p_reverses[1], v_now, p_occurred_at[1], p_metadata[1])
        ON CONFLICT ((md5(book::text || idempotency_key)::uuid)) DO NOTHING
        RETURNING array[t.id] INTO transactions;
        v_fresh := CASE WHEN FOUND THEN 1 ELSE 0 END;
    ELSE
        SELECT array_agg(nextval(pg_get_serial_sequence('ledger_transaction', 'id'))) INTO transactions
        FROM generate_series(1, cardinality(p_keys));
        WITH made AS (
            INSERT INTO ledger_transaction AS t
                (id, book, period_id, idempotency_key, kind, reverses_id, posted_at, occurred_at, metadata)
            SELECT q.id, p_book, v_period, q.key, q.kind, q.reverses, v_now, q.occurred_at, q.metadata
            FROM unnest(transactions, p_keys, p_kinds, p_reverses, p_occurred_at, p_metadata)
                 q(id, key, kind, reverses, occurred_at, metadata)
            ON CONFLICT ((md5(book::text || idempotency_key)::uuid)) DO NOTHING
            RETURNING t.id
        )
        SELECT array_agg(CASE WHEN q.id IN (SELECT m.id FROM made m) THEN q.id END ORDER BY q.ord),
               (SELECT count(*) FROM made)
        INTO transactions, v_fresh FROM unnest(transactions) WITH ORDINALITY q(id, ord);
    END IF;
    IF v_fresh > 0 AND v_period = 0 THEN
        RAISE EXCEPTION 'period % is not open', coalesce(p_period, '(any)')
            USING ERRCODE = 'LG020', DETAIL = jsonb_build_object('period', p_period)::text;
    END IF;

    posted_at := array_fill(v_now, ARRAY[cardinality(p_keys)]);
    replayed := array_fill(false, ARRAY[cardinality(p_keys)]);
    IF v_fresh < cardinality(p_keys) THEN
        FOR i IN 1 .. cardinality(p_keys) LOOP
            CONTINUE WHEN transactions[i] IS NOT NULL;
            SELECT s.id, s.posted_at, s.balances, s.versions INTO a
            FROM ledger_stored(p_book, p_keys[i], p_kinds[i], p_metadata[i], p_occurred_at[i], p_reverses[i],
                               i, p_postings, p_accounts, p_amounts) s;
            transactions[i] := a.id;
            posted_at[i] := a.posted_at;
            replayed[i] := true;
            k := 0;
            FOR j IN 1 .. v_legs LOOP
                IF p_postings[j] = i THEN
                    k := k + 1;
                    v_balances[j] := a.balances[k];
                    v_versions[j] := a.versions[k];
                END IF;
            END LOOP;
        END LOOP;
    END IF;

    FOR i IN 1 .. v_legs LOOP
        CONTINUE WHEN replayed[p_postings[i]];
        k := v_place[i];
        IF transactions[p_postings[i]] IS NULL THEN
            RAISE EXCEPTION 'a leg belongs to posting %, which is not there', p_postings[i] USING ERRCODE = 'LG018';
        END IF;
        IF v_usable[k] IS NOT TRUE OR cardinality(v_ids) < 2 THEN
            PERFORM ledger_explain_posting(
                p_book, p_keys[p_postings[i]], p_postings[i], p_postings, p_accounts, p_amounts);
        END IF;
        v_at[k] := v_at[k] + v_side[k] * p_amounts[i];
        v_version[k] := v_version[k] + 1;
        v_balances[i] := v_at[k];
        v_versions[i] := v_version[k];
        v_transactions[i] := transactions[p_postings[i]];
        v_accounts[i] := v_ids[k];
        IF v_at[k] < v_floor[k] AND (p_accounts[i + 1], p_postings[i + 1])
                                    IS DISTINCT FROM (p_accounts[i], p_postings[i]) THEN
            PERFORM ledger_explain_posting(
                p_book, p_keys[p_postings[i]], p_postings[i], p_postings, p_accounts, p_amounts);
            PERFORM ledger_refuse_overdraft(p_keys[p_postings[i]], v_ids[k], v_at[k]);
        END IF;
    END LOOP;

    INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after)
    SELECT l.account, l.version, l.transaction, l.amount, l.balance
    FROM unnest(v_accounts, v_versions, v_transactions, p_amounts, v_balances)
         l(account, version, transaction, amount, balance)
    WHERE l.transaction IS NOT NULL;

    postings := p_postings;
    accounts := p_accounts;
    balances := v_balances;
    versions := v_versions;
END $$;

-- Posts one transaction, like ledger_post, in a third of its statements: legs on accounts in ascending order, each once,
-- with funds, under a new key. Whatever is out of the ordinary, a replay or a refusal, is ledger_post's to answer; until
-- then nothing has been written. Answers for each leg what it left and at which version.
CREATE FUNCTION @schema@.ledger_post_one(
    p_book uuid, p_period text, p_key text, p_kind text, p_metadata jsonb, p_occurred_at timestamptz,
    p_accounts bigint[], p_amounts bigint[],
    OUT transaction bigint, OUT posted_at timestamptz, OUT replayed boolean,
    OUT balances bigint[], OUT versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    a record;
    v_legs integer := cardinality(p_accounts);
    v_plain boolean;
    v_accounts bigint[] := p_accounts;  -- with lanes in the place of accounts that have them
    v_period integer;
BEGIN
    v_plain := p_book IS NOT NULL AND p_key IS NOT NULL AND p_kind IS NOT NULL AND p_metadata IS NOT NULL
               AND v_legs >= 2 AND v_legs = cardinality(p_amounts)
               AND current_setting('transaction_isolation') = 'read committed';
    FOR i IN 2 .. coalesce(v_legs, 0) LOOP
        v_plain := v_plain AND p_accounts[i] > p_accounts[i - 1];
    END LOOP;
    IF v_plain THEN
        PERFORM pg_advisory_xact_lock_shared(ledger_period_lock(p_book));
        SELECT max(id) INTO v_period FROM ledger_period
        WHERE book = p_book AND closed_at IS NULL AND (p_period IS NULL OR name = p_period);
        IF v_period IS NULL THEN
            v_plain := p_period IS NULL AND NOT EXISTS (SELECT FROM ledger_period WHERE book = p_book);
        END IF;
        balances := p_amounts;  -- the right length; every element is overwritten
        versions := p_amounts;
    END IF;
    FOR i IN 1 .. coalesce(v_legs, 0) LOOP
        EXIT WHEN v_plain IS NOT TRUE;
        IF p_accounts[i] >= 2251799813685248 THEN  -- ledger_first_laned()
            v_accounts[i] := ledger_lane(p_accounts[i], p_accounts);
        END IF;
        SELECT t.balance, t.version, t.normal_side, t.min_balance, t.posted_at,
               t.book = p_book AND t.closed_at IS NULL AND t.held = 0 AND p_amounts[i] <> 0
               -- Far enough from the end of the numbers for a sum.
               AND t.balance BETWEEN -4611686018427387904 AND 4611686018427387903
               AND p_amounts[i] BETWEEN -4611686018427387904 AND 4611686018427387903 AS plain
        INTO a FROM ledger_account t WHERE t.id = v_accounts[i] FOR NO KEY UPDATE;
        v_plain := a.plain;
        EXIT WHEN v_plain IS NOT TRUE;
        balances[i] := a.balance + a.normal_side * p_amounts[i];
        versions[i] := a.version + 1;
        posted_at := greatest(posted_at, a.posted_at);
        v_plain := a.min_balance IS NULL OR balances[i] >= a.min_balance;
    END LOOP;
    IF v_plain THEN
        INSERT INTO ledger_transaction AS t
            (book, period_id, idempotency_key, kind, posted_at, occurred_at, metadata)
        VALUES (p_book, v_period, p_key, p_kind, greatest(clock_timestamp(), ledger_post_one.posted_at), p_occurred_at,
                p_metadata)
        ON CONFLICT ((md5(book::text || idempotency_key)::uuid)) DO NOTHING
        RETURNING t.id, t.posted_at INTO transaction, posted_at;
    END IF;
    IF transaction IS NULL THEN
        SELECT s.transactions[1], s.posted_at[1], s.replayed[1], s.balances, s.versions
        INTO transaction, posted_at, replayed, balances, versions
        FROM ledger_post(p_book, p_period, ARRAY[p_key], ARRAY[p_kind], ARRAY[p_metadata], ARRAY[p_occurred_at],
                         ARRAY[NULL::bigint], array_fill(1, ARRAY[coalesce(v_legs, 0)]), p_accounts, p_amounts) s;
        RETURN;
    END IF;
    INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after)
    SELECT l.account, l.version, ledger_post_one.transaction, l.amount, l.balance
    FROM unnest(v_accounts, versions, p_amounts, balances) l(account, version, amount, balance);
    replayed := false;
END $$;

-- What a key posted, if the posting is the same one: kind, legs, metadata, time of occurrence, what it reverses.
CREATE FUNCTION @schema@.ledger_stored(
    p_book uuid, p_key text, p_kind text, p_metadata jsonb, p_occurred_at timestamptz, p_reverses bigint,
    p_posting integer, p_postings integer[], p_accounts bigint[], p_amounts bigint[]
) RETURNS TABLE (id bigint, posted_at timestamptz, balances bigint[], versions bigint[])
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    t ledger_transaction;
    v_same boolean;
BEGIN
    SELECT * INTO STRICT t FROM ledger_transaction
    WHERE md5(book::text || idempotency_key)::uuid = md5(p_book::text || p_key)::uuid;
    SELECT s.legs IS NOT DISTINCT FROM q.legs, s.balances, s.versions INTO v_same, balances, versions
    FROM (SELECT array_agg(ROW (l.account, l.amount)::text ORDER BY l.account, l.ord) AS legs
          FROM unnest(p_postings, p_accounts, p_amounts) WITH ORDINALITY l(posting, account, amount, ord)
          WHERE l.posting = p_posting) q,
         (SELECT array_agg(ROW (e.account, e.amount)::text ORDER BY e.account, e.version) AS legs,
                 array_agg(e.balance_after ORDER BY e.account, e.version) AS balances,
                 array_agg(e.version ORDER BY e.account, e.version) AS versions
          -- A posting to an account with lanes landed on one of them, unless it named the lane itself.
          FROM (SELECT CASE WHEN e.account_id = ANY (p_accounts) THEN e.account_id ELSE coalesce(a.parent_id, a.id) END
                           AS account, e.amount, e.version, e.balance_after
                FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
                WHERE e.transaction_id = t.id) e) s;
    IF v_same IS NOT TRUE OR t.book <> p_book OR t.idempotency_key <> p_key OR t.kind <> p_kind OR t.metadata <> p_metadata
       OR t.occurred_at IS DISTINCT FROM p_occurred_at OR t.reverses_id IS DISTINCT FROM p_reverses THEN
        RAISE EXCEPTION 'key % was used for another posting', p_key
            USING ERRCODE = 'LG007', DETAIL = jsonb_build_object('key', p_key, 'transaction', t.id)::text;
    END IF;
    id := t.id;
    posted_at := t.posted_at;
    RETURN NEXT;
END $$;

-- Posts the exact mirror of a transaction, once in its life.
CREATE FUNCTION @schema@.ledger_reverse(
    p_book uuid, p_period text, p_key text, p_kind text, p_transaction bigint, p_metadata jsonb,
    p_occurred_at timestamptz
) RETURNS TABLE (
    transactions bigint[], posted_at timestamptz[], replayed boolean[],
    postings integer[], accounts bigint[], balances bigint[], versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    t ledger_transaction;
    v_by bigint;
    v_accounts bigint[];
    v_amounts bigint[];
BEGIN
    PERFORM pg_advisory_xact_lock_shared(ledger_period_lock(p_book));  -- first, as in every posting
    -- Two reversals of one transaction queue up here, so that the second can be told apart from a replay of the first.
    SELECT * INTO t FROM ledger_transaction WHERE id = p_transaction AND book = p_book FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'transaction % to reverse is unknown', p_transaction
            USING ERRCODE = 'LG010', DETAIL = jsonb_build_object('transaction', p_transaction)::text;
    ELSIF t.reverses_id IS NOT NULL THEN
        RAISE EXCEPTION 'transaction % is itself a reversal', p_transaction
            USING ERRCODE = 'LG009', DETAIL = jsonb_build_object('transaction', p_transaction)::text;
    END IF;
    SELECT r.id INTO v_by FROM ledger_transaction r
    WHERE r.reverses_id = p_transaction AND r.idempotency_key <> p_key;
    IF FOUND THEN
        RAISE EXCEPTION 'transaction % was reversed by %', p_transaction, v_by
            USING ERRCODE = 'LG008', DETAIL = jsonb_build_object('transaction', p_transaction, 'by', v_by)::text;
    END IF;
    SELECT array_agg(account_id ORDER BY account_id, version), array_agg(-amount ORDER BY account_id, version)
    INTO v_accounts, v_amounts FROM ledger_entry WHERE transaction_id = p_transaction;
    RETURN QUERY SELECT * FROM ledger_post(
        p_book, p_period, ARRAY[p_key], ARRAY[p_kind], ARRAY[p_metadata], ARRAY[p_occurred_at], ARRAY[p_transaction],
        array_fill(1, ARRAY[cardinality(v_accounts)]), v_accounts, v_amounts);
END $$;

-- Opens accounts, or finds them as they are; one that is there with other attributes, or closed, is an error.
CREATE FUNCTION @schema@.ledger_open_accounts(
    p_book uuid, p_codes text[], p_kinds text[], p_commodities text[],
    p_sides smallint[], p_floors bigint[], p_ranks integer[], p_weights bigint[], p_lanes smallint[]
) RETURNS TABLE (id bigint, code text, commodity text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    r record;
BEGIN
    -- Sorted, so that two sessions opening the same accounts wait for each other in one order.
    WITH spec AS (
        SELECT * FROM unnest(p_codes, p_kinds, p_commodities, p_sides, p_floors, p_ranks, p_weights, p_lanes)
                      s(code, kind, commodity, side, floor, rank, weight, lanes)
    ), opened AS (
        INSERT INTO ledger_account AS a (id, book, code, kind, commodity, normal_side, min_balance, balance, version,
                                         held, lock_rank, weight, lanes, opened_at)
        SELECT CASE WHEN s.lanes > 0
                    THEN ledger_first_laned() + 1024 * nextval(pg_get_serial_sequence('ledger_account', 'id'))
                    ELSE s.rank * 1099511627776 + nextval(pg_get_serial_sequence('ledger_account', 'id')) END,
               p_book, s.code, s.kind, s.commodity, s.side, s.floor, 0, 0, 0, s.rank, s.weight, s.lanes,
               clock_timestamp()
        FROM spec s
        WHERE NOT EXISTS (SELECT FROM ledger_account o
                          WHERE o.book = p_book AND o.code = s.code AND o.commodity = s.commodity)
        ORDER BY s.code, s.commodity
        ON CONFLICT (book, code, commodity) DO NOTHING
        RETURNING a.*
    )
    INSERT INTO ledger_account (id, book, code, kind, commodity, normal_side, min_balance, balance, version, held,
                                lock_rank, weight, lanes, parent_id, opened_at)
    SELECT o.id + n, p_book, o.code || '#' || n, o.kind, o.commodity, o.normal_side, NULL, 0, 0, 0, o.lock_rank,
           o.weight, 0, o.id, o.opened_at
    FROM opened o, generate_series(1, o.lanes) n;

    SELECT a.id, a.code, a.closed_at INTO r
    FROM unnest(p_codes, p_kinds, p_commodities, p_sides, p_floors, p_ranks, p_weights, p_lanes)
         s(code, kind, commodity, side, floor, rank, weight, lanes)
    JOIN ledger_account a ON a.book = p_book AND a.code = s.code AND a.commodity = s.commodity
    WHERE a.closed_at IS NOT NULL
       OR (a.kind, a.normal_side, a.min_balance, a.lock_rank, a.weight, a.lanes)
          IS DISTINCT FROM (s.kind, s.side, s.floor, s.rank, s.weight, s.lanes)
    ORDER BY a.code LIMIT 1;
    IF FOUND AND r.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'account % is closed', r.code
            USING ERRCODE = 'LG005', DETAIL = jsonb_build_object('account', r.id, 'account_code', r.code)::text;
    ELSIF FOUND THEN
        RAISE EXCEPTION 'account % is open with other attributes', r.code
            USING ERRCODE = 'LG012', DETAIL = jsonb_build_object('account', r.id, 'account_code', r.code)::text;
    END IF;
    RETURN QUERY
        SELECT a.id, a.code, a.commodity FROM unnest(p_codes, p_commodities) WITH ORDINALITY s(code, commodity, nth)
        JOIN ledger_account a ON a.book = p_book AND a.code = s.code AND a.commodity = s.commodity ORDER BY s.nth;
END $$;

-- Closes an empty account, with its lanes, for good; closing it again returns the first time.
CREATE FUNCTION @schema@.ledger_close_account(p_book uuid, p_account bigint) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    a ledger_account;
    r record;
BEGIN
    SELECT * INTO a FROM ledger_account WHERE id = p_account AND book = p_book FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'account % is not in this book', p_account
            USING ERRCODE = 'LG006', DETAIL = jsonb_build_object('account', p_account)::text;
    ELSIF a.parent_id IS NOT NULL THEN
        RAISE EXCEPTION 'account % is a lane, and closes with its account', a.code
            USING ERRCODE = 'LG018', DETAIL = jsonb_build_object('account', p_account)::text;
    ELSIF a.held > 0 THEN
        PERFORM ledger_release_expired(p_account);
    END IF;
    FOR r IN SELECT id, code, balance, held FROM ledger_account
             WHERE id BETWEEN p_account AND p_account + a.lanes ORDER BY id FOR NO KEY UPDATE LOOP
        IF r.balance <> 0 OR r.held <> 0 THEN
            RAISE EXCEPTION 'account % still holds %', r.code, r.balance
                USING ERRCODE = 'LG013', DETAIL = jsonb_build_object(
                    'account', r.id, 'account_code', r.code, 'balance', r.balance, 'held', r.held)::text;
        END IF;
    END LOOP;
    IF a.closed_at IS NULL THEN
        a.closed_at := clock_timestamp();
        UPDATE ledger_account SET closed_at = a.closed_at
        WHERE id BETWEEN p_account AND p_account + a.lanes AND closed_at IS NULL;
    END IF;
    RETURN a.closed_at;
END $$;

-- The newest version of an account posted at or before a moment, 0 if none. Times never fall along an account's
-- versions, so halving finds it in about log2(entries) look-ups without an index on time.
CREATE FUNCTION @schema@.ledger_version_at(p_account bigint, p_at timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_low bigint := 0;
    v_high bigint;
    v_middle bigint;
    v_posted timestamptz;
BEGIN
    SELECT version INTO v_high FROM ledger_account WHERE id = p_account;
    WHILE v_low < v_high LOOP
        v_middle := (v_low + v_high + 1) / 2;
        SELECT t.posted_at INTO STRICT v_posted FROM ledger_entry e JOIN ledger_transaction t ON t.id = e.transaction_id
        WHERE e.account_id = p_account AND e.version = v_middle;
        IF v_posted <= p_at THEN
            v_low := v_middle;
        ELSE
            v_high := v_middle - 1;
        END IF;
    END LOOP;
    RETURN v_low;
END $$;
