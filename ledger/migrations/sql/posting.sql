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

    SELECT sum(a.weight::numeric * l.amount) AS total INTO r
    FROM unnest(v_accounts, v_amounts) l(account, amount) JOIN ledger_account a ON a.id = l.account;
    IF r.total <> 0 THEN
        RAISE EXCEPTION 'legs weigh %, not zero', r.total
            USING ERRCODE = 'LG019', DETAIL = jsonb_build_object('weight', r.total, 'key', p_key)::text;
    END IF;
END $$;

-- Refuses a posting that would leave an account below its floor.
CREATE FUNCTION @schema@.ledger_refuse_overdraft(p_key text, p_account bigint, p_balance numeric) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
DECLARE
    a ledger_account;
BEGIN
    SELECT * INTO STRICT a FROM ledger_account WHERE id = p_account;
    RAISE EXCEPTION 'account % holds %, needs %', a.code,
        (a.balance - a.held) || CASE a.held WHEN 0 THEN '' ELSE ' besides ' || a.held || ' on hold' END,
        a.balance - p_balance + a.min_balance
        USING ERRCODE = 'LG004', DETAIL = jsonb_build_object(
            'account', a.id, 'account_code', a.code, 'commodity', a.commodity, 'balance', a.balance, 'held', a.held,
            'needed', a.balance - p_balance + a.min_balance, 'min_balance', a.min_balance, 'key', p_key)::text;
END $$;

-- The lane of an account that this posting shall use, and holds from now on: the first that nobody holds, starting at
-- one's own place; where all are held, one's own place, waited for here: who went on to the lanes of the next account
-- would hold one of them while waiting for one of this.
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
    SELECT id INTO v_lane FROM ledger_account WHERE id = p_account + 1 + v_first FOR NO KEY UPDATE;
    RETURN v_lane;
END $$;

-- Every posting of a batch has legs and a key of its own.
CREATE FUNCTION @schema@.ledger_check_batch(p_keys text[], p_postings integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
DECLARE
    v_key text;
BEGIN
    SELECT q.key INTO v_key FROM unnest(p_keys) q(key) GROUP BY q.key HAVING count(*) > 1 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'key % is used by two postings', v_key
            USING ERRCODE = 'LG007', DETAIL = jsonb_build_object('key', v_key)::text;
    END IF;
    SELECT q.key INTO v_key FROM unnest(p_keys) WITH ORDINALITY q(key, nth)
    WHERE q.nth NOT IN (SELECT l.posting FROM unnest(p_postings) l(posting)) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'a transaction needs legs on at least two accounts'
            USING ERRCODE = 'LG002', DETAIL = jsonb_build_object('key', v_key)::text;
    END IF;
END $$;

-- A posting is acknowledged when it is on disk. Other settings than "off" all wait for that.
CREATE FUNCTION @schema@.ledger_make_durable() RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
END $$;

-- The period that a posting belongs to: the one named, else the newest open one; null in a book without periods, 0
-- where it is not open. The row stays locked against closing until the posting's transaction ends. A role needs the
-- right to UPDATE for such a lock, and for the one on the whole table that opening a book's first period takes.
CREATE FUNCTION @schema@.ledger_period_for(p_book uuid, p_name text) RETURNS integer
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_period integer;
BEGIN
    -- Twice: while the first query waited for a period to close, another one may have been opened.
    FOR i IN 1 .. 2 LOOP
        SELECT id INTO v_period FROM ledger_period
        WHERE book = p_book AND closed_at IS NULL AND (p_name IS NULL OR name = p_name)
        ORDER BY id DESC LIMIT 1 FOR SHARE;
        IF FOUND THEN
            RETURN v_period;
        ELSIF p_name IS NULL AND NOT EXISTS (SELECT FROM ledger_period WHERE book = p_book) THEN
            RETURN NULL;
        END IF;
    END LOOP;
    RETURN 0;
END $$;

-- Posts transactions, all or none; a key that was used for the same posting before returns what it did then.
--   Arrays of one length, an element a posting: p_keys, p_kinds, p_metadata, p_occurred_at, p_reverses.
--   Arrays of one length, an element a leg: p_postings (which posting, from 1), p_accounts, p_amounts (debit positive).
--   An account may appear more than once in a posting: each leg becomes an entry of its own, and the floor is judged
--   after the last of them. Answers legs by account and posting; postings in the order given.
--   Locks: the period (shared), accounts in the order of their ids, then the keys.
CREATE FUNCTION @schema@.ledger_post(
    p_book uuid, p_period text, p_keys text[], p_kinds text[], p_metadata jsonb[], p_occurred_at timestamptz[],
    p_reverses bigint[], p_postings integer[], p_accounts bigint[], p_amounts bigint[],
    OUT transactions bigint[], OUT posted_at timestamptz[], OUT replayed boolean[],
    OUT postings integer[], OUT accounts bigint[], OUT balances bigint[], OUT versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off
-- With array parameters the planner always thinks a plan of this call's own cheaper, and would plan at every call. Legs
-- find their rows by id: another join would read whole tables, now or when they have grown (in the triggers too).
SET plan_cache_mode = force_generic_plan SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
    r record;
    v_size integer := cardinality(p_keys);
    v_accounts bigint[] := p_accounts;  -- by leg: where it lands, lanes in the place of accounts that have them
    v_posted_at timestamptz;
    v_last timestamptz;
    v_now timestamptz;
    v_period integer;
    v_fresh integer;
    v_released boolean := false;
    v_stored record;
BEGIN
    PERFORM ledger_check_postings(p_book, p_keys, p_kinds, p_metadata, p_postings, p_accounts, p_amounts);
    PERFORM ledger_make_durable();
    v_period := ledger_period_for(p_book, p_period);

    SELECT max(l.posted_at) INTO v_last
    FROM (SELECT a.posted_at FROM ledger_account a
          WHERE a.id = ANY (p_accounts) AND a.id < ledger_first_laned() ORDER BY a.id FOR NO KEY UPDATE) l;
    IF (SELECT max(l.account) FROM unnest(p_accounts) l(account)) >= ledger_first_laned() THEN
        FOR r IN SELECT DISTINCT l.account FROM unnest(p_accounts) l(account)
                 WHERE l.account >= ledger_first_laned() ORDER BY 1 LOOP
            v_accounts := array_replace(v_accounts, r.account, ledger_lane(r.account, p_accounts));
        END LOOP;
        SELECT max(l.posted_at) INTO v_posted_at
        FROM (SELECT a.posted_at FROM ledger_account a
              WHERE a.id = ANY (v_accounts) AND a.id >= ledger_first_laned() ORDER BY a.id FOR NO KEY UPDATE) l;
        v_last := greatest(v_last, v_posted_at);
    END IF;
    v_now := greatest(clock_timestamp(), transaction_timestamp(), v_last);

    PERFORM ledger_refuse_claimed(p_book, p_keys);
    SELECT array_agg(nextval('ledger_transaction_id_seq')) INTO transactions FROM generate_series(1, v_size);
    WITH made AS (
        INSERT INTO ledger_transaction AS t
            (id, book, period_id, idempotency_key, kind, reverses_id, posted_at, occurred_at, metadata)
        SELECT q.id, p_book, v_period, q.key, q.kind, q.reverses, v_now, q.occurred_at, q.metadata
        FROM unnest(transactions, p_keys, p_kinds, p_reverses, p_occurred_at, p_metadata)
             q(id, key, kind, reverses, occurred_at, metadata)
        ON CONFLICT ((md5(book::text || idempotency_key)::uuid)) DO NOTHING
        RETURNING t.id
    )
    -- 0, not null, for a key that was used: an array without nulls is read at any place in the same time.
    SELECT array_agg(CASE WHEN q.id IN (SELECT m.id FROM made m) THEN q.id ELSE 0 END ORDER BY q.ord),
           (SELECT count(*) FROM made)
    INTO transactions, v_fresh FROM unnest(transactions) WITH ORDINALITY q(id, ord);
    IF v_fresh > 0 AND v_period = 0 THEN
        RAISE EXCEPTION 'period % is not open', coalesce(p_period, '(any)')
            USING ERRCODE = 'LG020', DETAIL = jsonb_build_object('period', p_period)::text;
    END IF;

    IF v_fresh = 1 AND v_size = 1 AND p_accounts[1] = ALL (p_accounts) THEN
        PERFORM ledger_explain_posting(p_book, p_keys[1], 1, p_postings, p_accounts, p_amounts);
    END IF;
    LOOP
        EXIT WHEN v_fresh = 0;
        WITH leg AS MATERIALIZED (
            SELECT l.*, transactions[l.posting] AS transaction, a.balance, a.version, a.normal_side, a.held,
                   a.min_balance + a.held AS floor, a.book = p_book AND a.closed_at IS NULL AS usable
            FROM unnest(p_postings, p_accounts, v_accounts, p_amounts) WITH ORDINALITY
                 l(posting, asked, account, amount, ord)
            LEFT JOIN ledger_account a ON a.id = l.account
            WHERE transactions[l.posting] <> 0
        ), run AS MATERIALIZED (
            SELECT l.posting, l.asked, l.account, l.amount, l.ord, l.transaction, l.floor, l.usable, l.held,
                   l.balance + l.normal_side * sum(l.amount) OVER w AS after, l.version + row_number() OVER w AS nth,
                   lead(l.posting) OVER w AS next_posting
            FROM leg l WINDOW w AS (PARTITION BY l.account ORDER BY l.posting, l.ord)
        ), wrong AS MATERIALIZED (
            SELECT n.posting, n.account, n.after, n.usable, n.held FROM run n
            WHERE n.usable IS NOT TRUE OR (n.after < n.floor AND n.next_posting IS DISTINCT FROM n.posting)
            ORDER BY n.posting, n.account LIMIT 1
        ), made AS (
            INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after)
            SELECT n.account, n.nth, n.transaction, n.amount, n.after::bigint FROM run n
            WHERE NOT EXISTS (SELECT FROM wrong)
        )
        SELECT f.postings, f.accounts, f.balances, f.versions, w.posting, w.account, w.after, w.usable, w.held
        INTO r
        FROM (SELECT array_agg(n.posting ORDER BY n.asked, n.posting, n.ord) AS postings,
                     array_agg(n.asked ORDER BY n.asked, n.posting, n.ord) AS accounts,
                     array_agg(n.after::bigint ORDER BY n.asked, n.posting, n.ord) AS balances,
                     array_agg(n.nth ORDER BY n.asked, n.posting, n.ord) AS versions FROM run n) f
        LEFT JOIN wrong w ON true;
        EXIT WHEN r.posting IS NULL;
        -- Holds that ran out let go only where their money is needed.
        IF NOT v_released AND r.usable AND r.held > 0 THEN
            v_released := true;
            CONTINUE WHEN ledger_release_expired(v_accounts) > 0;
        END IF;
        PERFORM ledger_explain_posting(p_book, p_keys[r.posting], r.posting, p_postings, p_accounts, p_amounts);
        PERFORM ledger_refuse_overdraft(p_keys[r.posting], r.account, r.after);
    END LOOP;
    posted_at := array_fill(v_now, ARRAY[v_size]);
    replayed := array_fill(false, ARRAY[v_size]);
    IF v_fresh = v_size THEN
        postings := r.postings;
        accounts := r.accounts;
        balances := r.balances;
        versions := r.versions;
        RETURN;
    END IF;

    SELECT * INTO v_stored FROM ledger_stored(
        p_book, transactions, v_now, p_keys, p_kinds, p_metadata, p_occurred_at, p_reverses, p_postings, p_accounts,
        p_amounts);
    transactions := v_stored.transactions;
    posted_at := v_stored.posted_at;
    replayed := v_stored.replayed;
    IF v_fresh = 0 THEN
        postings := v_stored.postings;
        accounts := v_stored.accounts;
        balances := v_stored.balances;
        versions := v_stored.versions;
        RETURN;
    END IF;
    -- Of one account and posting all legs are new or none is: versions keep their order.
    SELECT array_agg(l.posting ORDER BY l.account, l.posting, l.version),
           array_agg(l.account ORDER BY l.account, l.posting, l.version),
           array_agg(l.balance ORDER BY l.account, l.posting, l.version),
           array_agg(l.version ORDER BY l.account, l.posting, l.version)
    INTO postings, accounts, balances, versions
    FROM (SELECT * FROM unnest(r.postings, r.accounts, r.balances, r.versions)
          UNION ALL SELECT * FROM unnest(v_stored.postings, v_stored.accounts, v_stored.balances, v_stored.versions)
         ) l(posting, account, balance, version);
END $$;

-- What can be refused before anything is read: missing values, arrays of different lengths, empty legs.
CREATE FUNCTION @schema@.ledger_check_postings(
    p_book uuid, p_keys text[], p_kinds text[], p_metadata jsonb[], p_postings integer[], p_accounts bigint[],
    p_amounts bigint[]
) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
DECLARE
    v_legs integer := cardinality(p_accounts);
BEGIN
    IF p_book IS NULL OR v_legs IS NULL OR v_legs <> cardinality(p_amounts) OR v_legs <> cardinality(p_postings)
       OR cardinality(p_keys) IS DISTINCT FROM cardinality(p_kinds)
       OR cardinality(p_keys) IS DISTINCT FROM cardinality(p_metadata)
       OR array_position(p_keys, NULL) IS NOT NULL OR array_position(p_kinds, NULL) IS NOT NULL
       OR array_position(p_metadata, NULL) IS NOT NULL OR array_position(p_accounts, NULL) IS NOT NULL
       OR array_position(p_amounts, NULL) IS NOT NULL OR array_position(p_postings, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'a posting needs a book, a key, a kind, metadata and an amount for each account'
            USING ERRCODE = 'LG018';
    ELSIF array_position(p_amounts, 0) IS NOT NULL THEN
        RAISE EXCEPTION 'a leg moves nothing' USING ERRCODE = 'LG003', DETAIL = jsonb_build_object(
            'key', p_keys[p_postings[array_position(p_amounts, 0)]])::text;
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a posting needs READ COMMITTED: other levels read keys and periods as they were'
            USING ERRCODE = 'LG018';
    ELSIF EXISTS (SELECT FROM unnest(p_postings) l(posting) WHERE l.posting NOT BETWEEN 1 AND cardinality(p_keys)) THEN
        RAISE EXCEPTION 'a leg belongs to a posting that is not there' USING ERRCODE = 'LG018';
    END IF;
    IF cardinality(p_keys) <> 1 OR v_legs = 0 THEN
        PERFORM ledger_check_batch(p_keys, p_postings);
    END IF;
END $$;

-- A key that a pending hold will post is not free for others.
CREATE FUNCTION @schema@.ledger_refuse_claimed(p_book uuid, p_keys text[]) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    r record;
BEGIN
    SELECT q.key, h.key AS hold, h.id INTO r
    FROM unnest(p_keys) q(key)
    JOIN ledger_claim c ON c.digest = md5(p_book::text || q.key)::uuid
    JOIN ledger_hold h ON h.id = c.hold_id
    WHERE h.state = 'pending' AND h.expires_at > clock_timestamp() LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'key % is kept for hold %', r.key, r.hold
            USING ERRCODE = 'LG007', DETAIL = jsonb_build_object('key', r.key, 'hold', r.id)::text;
    END IF;
END $$;

-- Posts one transaction, like ledger_post, in one statement: legs on accounts in ascending order, each once, with funds,
-- under a new key. What is out of the ordinary, a replay or a refusal, is ledger_post's to answer; until then nothing has
-- been written. Answers for each leg what it left and at which version.
CREATE FUNCTION @schema@.ledger_post_one(
    p_book uuid, p_period text, p_key text, p_kind text, p_metadata jsonb, p_occurred_at timestamptz,
    p_accounts bigint[], p_amounts bigint[],
    OUT transaction bigint, OUT posted_at timestamptz, OUT replayed boolean,
    OUT balances bigint[], OUT versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
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
        PERFORM ledger_make_durable();
        v_period := ledger_period_for(p_book, p_period);
        v_plain := v_period IS DISTINCT FROM 0;
    END IF;
    IF v_plain AND p_accounts[v_legs] >= ledger_first_laned() THEN
        -- Lanes are taken last, by a transaction that has all the other accounts.
        PERFORM FROM ledger_account WHERE id = ANY (p_accounts) AND id < ledger_first_laned()
        ORDER BY id FOR NO KEY UPDATE;
        FOR i IN 1 .. v_legs LOOP
            IF p_accounts[i] >= ledger_first_laned() THEN
                v_accounts[i] := ledger_lane(p_accounts[i], p_accounts);
            END IF;
        END LOOP;
    END IF;
    IF v_plain THEN
        WITH held AS MATERIALIZED (
            SELECT a.id, a.balance, a.version, a.normal_side, a.min_balance + a.held AS floor, a.posted_at,
                   a.book = p_book AND a.closed_at IS NULL AS usable
            FROM ledger_account a WHERE a.id = ANY (v_accounts) ORDER BY a.id FOR NO KEY UPDATE
        ), leg AS MATERIALIZED (
            SELECT h.id, l.amount, h.balance + h.normal_side * l.amount AS after, h.version + 1 AS version, h.posted_at,
                   h.usable AND l.amount BETWEEN -4611686018427387903 AND 4611686018427387903 AND l.amount <> 0
                   AND (h.floor IS NULL OR h.balance + h.normal_side * l.amount >= h.floor) AS fits
            FROM unnest(v_accounts, CASE WHEN (SELECT count(*) FROM held) = v_legs THEN p_amounts END) l(account, amount)
            JOIN held h ON h.id = l.account
        ), head AS (
            INSERT INTO ledger_transaction AS t
                (book, period_id, idempotency_key, kind, posted_at, occurred_at, metadata)
            SELECT p_book, v_period, p_key, p_kind, greatest(clock_timestamp(), transaction_timestamp(), s.posted_at),
                   p_occurred_at, p_metadata
            FROM (SELECT max(l.posted_at) AS posted_at, bool_and(l.fits) AS fits FROM leg l) s
            WHERE s.fits
            ON CONFLICT ((md5(book::text || idempotency_key)::uuid)) DO NOTHING
            RETURNING t.id, t.posted_at
        ), made AS (
            INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after)
            SELECT l.id, l.version, h.id, l.amount, l.after FROM leg l, head h
        )
        SELECT h.id, h.posted_at, false, f.balances, f.versions
        INTO transaction, posted_at, replayed, balances, versions
        FROM head h, (SELECT array_agg(l.after ORDER BY l.id) AS balances, array_agg(l.version ORDER BY l.id) AS versions
                      FROM leg l) f;
    END IF;
    IF transaction IS NOT NULL THEN
        -- A statement of its own, which sees what a hold wrote while this posting waited for its accounts.
        PERFORM FROM ledger_claim WHERE digest = md5(p_book::text || p_key)::uuid;
        IF FOUND THEN
            PERFORM ledger_refuse_claimed(p_book, ARRAY[p_key]);
        END IF;
    ELSE
        SELECT s.transactions[1], s.posted_at[1], s.replayed[1], s.balances, s.versions
        INTO transaction, posted_at, replayed, balances, versions
        FROM ledger_post(p_book, p_period, ARRAY[p_key], ARRAY[p_kind], ARRAY[p_metadata], ARRAY[p_occurred_at],
                         ARRAY[NULL::bigint], array_fill(1, ARRAY[coalesce(v_legs, 0)]), p_accounts, p_amounts) s;
    END IF;
END $$;

-- What keys posted, if the postings are the same: kind, legs, metadata, time of occurrence, what they reverse. Those
-- whose element of p_transactions is 0 are looked up, the others are new and posted at p_now. Answers all postings, and
-- the legs of those that were looked up, as ledger_post does.
CREATE FUNCTION @schema@.ledger_stored(
    p_book uuid, p_transactions bigint[], p_now timestamptz, p_keys text[], p_kinds text[], p_metadata jsonb[],
    p_occurred_at timestamptz[], p_reverses bigint[], p_postings integer[], p_accounts bigint[], p_amounts bigint[],
    OUT transactions bigint[], OUT posted_at timestamptz[], OUT replayed boolean[],
    OUT postings integer[], OUT accounts bigint[], OUT balances bigint[], OUT versions bigint[])
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off
-- What was asked and what is stored are compared in time that grows with their number, not with its square. Their sizes
-- are known at the call only.
SET enable_hashjoin = on SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
    v_key text;
    v_transaction bigint;
BEGIN
    WITH asked AS MATERIALIZED (
        SELECT q.*, t.id AS stored, t.posted_at,
               t.book = p_book AND t.idempotency_key = q.key AND t.kind = q.kind AND t.metadata = q.metadata
               AND t.occurred_at IS NOT DISTINCT FROM q.occurred_at AND t.reverses_id IS NOT DISTINCT FROM q.reverses
               AS same
        FROM unnest(p_transactions, p_keys, p_kinds, p_metadata, p_occurred_at, p_reverses) WITH ORDINALITY
             q(transaction, key, kind, metadata, occurred_at, reverses, ord)
        JOIN ledger_transaction t
             ON md5(t.book::text || t.idempotency_key)::uuid = md5(p_book::text || q.key)::uuid
        WHERE q.transaction = 0
    ), leg AS MATERIALIZED (
        SELECT l.posting, l.account, l.amount, row_number() OVER (PARTITION BY l.posting ORDER BY l.account, l.ord) AS nth
        FROM unnest(p_postings, p_accounts, p_amounts) WITH ORDINALITY l(posting, account, amount, ord)
        WHERE p_transactions[l.posting] = 0
    ), entry AS MATERIALIZED (
        -- A posting to an account with lanes landed on one of them, unless it named the lane itself.
        SELECT s.*, row_number() OVER (PARTITION BY s.posting ORDER BY s.account, s.version) AS nth
        FROM (SELECT k.ord AS posting, e.amount, e.version, e.balance_after,
                     CASE WHEN (k.ord, e.account_id) IN (SELECT l.posting, l.account FROM leg l) THEN e.account_id
                          ELSE coalesce(a.parent_id, a.id) END AS account
              FROM asked k
              JOIN ledger_entry e ON e.transaction_id = k.stored
              JOIN ledger_account a ON a.id = e.account_id) s
    ), compared AS MATERIALIZED (
        SELECT coalesce(l.posting, e.posting) AS posting, l.account, e.balance_after, e.version,
               (l.account, l.amount) IS NOT DISTINCT FROM (e.account, e.amount) AS same
        FROM leg l FULL JOIN entry e ON e.posting = l.posting AND e.nth = l.nth
    ), differs AS (
        SELECT k.key, k.stored FROM asked k
        WHERE k.same IS NOT TRUE OR k.ord IN (SELECT c.posting FROM compared c WHERE NOT c.same) ORDER BY k.ord LIMIT 1
    )
    SELECT k.ids, k.times, k.found, c.postings, c.accounts, c.balances, c.versions, d.key, d.stored
    INTO transactions, posted_at, replayed, postings, accounts, balances, versions, v_key, v_transaction
    FROM (SELECT array_agg(coalesce(a.stored, q.id) ORDER BY q.ord) AS ids, array_agg(q.id = 0 ORDER BY q.ord) AS found,
                 array_agg(coalesce(a.posted_at, p_now) ORDER BY q.ord) AS times
          FROM unnest(p_transactions) WITH ORDINALITY q(id, ord) LEFT JOIN asked a ON a.ord = q.ord) k
    CROSS JOIN (SELECT array_agg(posting::integer ORDER BY account, posting, version) AS postings,
                       array_agg(account ORDER BY account, posting, version) AS accounts,
                       array_agg(balance_after ORDER BY account, posting, version) AS balances,
                       array_agg(version ORDER BY account, posting, version) AS versions FROM compared) c
    LEFT JOIN differs d ON true;
    IF v_key IS NOT NULL THEN
        RAISE EXCEPTION 'key % was used for another posting', v_key
            USING ERRCODE = 'LG007', DETAIL = jsonb_build_object('key', v_key, 'transaction', v_transaction)::text;
    END IF;
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
    PERFORM ledger_period_for(p_book, p_period);  -- its lock first, as in every posting
    -- Two reversals of one transaction queue up here, so that the second can be distinguished from a replay of the first.
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
