-- The only writers of the ledger. They run as their owner; the application may only EXECUTE them.

-- Why a posting may not be made, as a typed error; called only when ledger_post found that something is wrong.
CREATE FUNCTION @schema@.ledger_explain_posting(p_book uuid, p_accounts bigint[], p_amounts bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
DECLARE
    r record;
BEGIN
    SELECT count(DISTINCT l.account) AS accounts INTO r FROM unnest(p_accounts) l(account);
    IF r.accounts < 2 THEN
        RAISE EXCEPTION 'a transaction needs legs on at least two accounts' USING ERRCODE = 'LG002';
    END IF;

    SELECT l.account INTO r FROM unnest(p_accounts) l(account)
    LEFT JOIN ledger_account a ON a.id = l.account AND a.book = p_book
    WHERE a.id IS NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'account % is not in this book', r.account
            USING ERRCODE = 'LG006', DETAIL = jsonb_build_object('account', r.account)::text;
    END IF;

    SELECT a.commodity, sum(l.amount) AS total INTO r FROM unnest(p_accounts, p_amounts) l(account, amount)
    JOIN ledger_account a ON a.id = l.account
    GROUP BY a.commodity HAVING sum(l.amount) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'legs in % sum to %, not to zero', r.commodity, r.total
            USING ERRCODE = 'LG001', DETAIL = jsonb_build_object('commodity', r.commodity, 'sum', r.total)::text;
    END IF;

    SELECT a.id, a.code INTO r FROM ledger_account a WHERE a.id = ANY (p_accounts) AND a.closed_at IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'account % is closed', r.code
            USING ERRCODE = 'LG005', DETAIL = jsonb_build_object('account', r.id, 'account_code', r.code)::text;
    END IF;

    SELECT a.id, a.code, a.balance, a.min_balance, a.balance + a.normal_side * sum(l.amount) AS after
    INTO r FROM unnest(p_accounts, p_amounts) l(account, amount) JOIN ledger_account a ON a.id = l.account
    GROUP BY a.id HAVING a.balance + a.normal_side * sum(l.amount) < a.min_balance
    ORDER BY a.lock_rank, a.id LIMIT 1;
    RAISE EXCEPTION 'account % holds %, needs %', r.code, r.balance, r.balance - r.after + r.min_balance
        USING ERRCODE = 'LG004', DETAIL = jsonb_build_object(
            'account', r.id, 'account_code', r.code, 'balance', r.balance,
            'needed', r.balance - r.after + r.min_balance, 'min_balance', r.min_balance)::text;
END $$;

-- Posts one transaction, or returns what the same key posted before (replayed = true).
--   p_accounts, p_amounts: the legs in order, debit positive; an account may appear more than once, each leg becomes an
--   entry of its own and the floor is judged after the last. The arrays returned name each account once.
--   Locks: accounts in the order of (lock_rank, id), then the key.
CREATE FUNCTION @schema@.ledger_post(
    p_book uuid, p_key text, p_kind text, p_accounts bigint[], p_amounts bigint[],
    p_metadata jsonb, p_occurred_at timestamptz, p_reverses bigint DEFAULT NULL
) RETURNS TABLE (
    transaction_id bigint, posted_at timestamptz, replayed boolean,
    accounts bigint[], balances bigint[], versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v_hash bytea;
    v_last timestamptz;
    v_open boolean;
    v_sides smallint[];
    v_floors bigint[];
    v_leg_versions bigint[] := p_amounts;  -- the right length; every element is overwritten
    v_leg_balances bigint[] := p_amounts;
    i integer;
    k integer;
BEGIN
    IF p_book IS NULL OR p_key IS NULL OR p_kind IS NULL OR p_metadata IS NULL
       OR cardinality(p_accounts) IS DISTINCT FROM cardinality(p_amounts)
       OR array_position(p_accounts, NULL) IS NOT NULL OR array_position(p_amounts, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'a posting needs a book, a key, a kind, metadata and an amount for each account'
            USING ERRCODE = 'LG018';
    ELSIF array_position(p_amounts, 0) IS NOT NULL THEN
        RAISE EXCEPTION 'a leg moves nothing' USING ERRCODE = 'LG003';
    END IF;
    v_hash := sha256(convert_to(jsonb_build_object(
        'kind', p_kind, 'accounts', p_accounts, 'amounts', p_amounts, 'metadata', p_metadata,
        'occurred_at', extract(epoch FROM p_occurred_at), 'reverses', p_reverses)::text, 'UTF8'));

    SELECT array_agg(a.id), array_agg(a.balance), array_agg(a.version), array_agg(a.normal_side),
           array_agg(a.min_balance), max(a.posted_at), bool_and(a.book = p_book AND a.closed_at IS NULL)
    INTO accounts, balances, versions, v_sides, v_floors, v_last, v_open
    FROM (SELECT * FROM ledger_account WHERE id = ANY (p_accounts) ORDER BY lock_rank, id FOR NO KEY UPDATE) a;

    INSERT INTO ledger_transaction AS t (book, idempotency_key, request_hash, kind, reverses_id, posted_at,
                                         occurred_at, metadata)
    VALUES (p_book, p_key, v_hash, p_kind, p_reverses, greatest(clock_timestamp(), v_last), p_occurred_at, p_metadata)
    ON CONFLICT (book, idempotency_key) DO NOTHING
    RETURNING t.id, t.posted_at INTO transaction_id, posted_at;
    IF NOT FOUND THEN
        RETURN QUERY SELECT * FROM ledger_stored(p_book, p_key, v_hash);
        RETURN;
    ELSIF cardinality(accounts) >= 2 IS NOT TRUE OR v_open IS NOT TRUE THEN
        PERFORM ledger_explain_posting(p_book, p_accounts, p_amounts);
    END IF;

    FOR i IN 1 .. cardinality(p_accounts) LOOP
        k := array_position(accounts, p_accounts[i]);
        IF k IS NULL THEN
            PERFORM ledger_explain_posting(p_book, p_accounts, p_amounts);
        END IF;
        balances[k] := balances[k] + v_sides[k] * p_amounts[i];
        versions[k] := versions[k] + 1;
        v_leg_balances[i] := balances[k];
        v_leg_versions[i] := versions[k];
    END LOOP;
    FOR k IN 1 .. cardinality(accounts) LOOP
        IF balances[k] < v_floors[k] THEN
            PERFORM ledger_explain_posting(p_book, p_accounts, p_amounts);
        END IF;
    END LOOP;

    -- One statement, so that the guards of both tables see both changes.
    WITH moved AS (
        UPDATE ledger_account a SET balance = m.balance, version = m.version, posted_at = ledger_post.posted_at
        FROM unnest(accounts, balances, versions) m(id, balance, version)
        WHERE a.id = m.id
    )
    INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after)
    SELECT l.account, l.version, ledger_post.transaction_id, l.amount, l.balance
    FROM unnest(p_accounts, v_leg_versions, p_amounts, v_leg_balances) l(account, version, amount, balance);
    replayed := false;
    RETURN NEXT;
END $$;

-- What a key posted, if the request is the same one.
CREATE FUNCTION @schema@.ledger_stored(p_book uuid, p_key text, p_hash bytea) RETURNS TABLE (
    transaction_id bigint, posted_at timestamptz, replayed boolean,
    accounts bigint[], balances bigint[], versions bigint[])
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    t ledger_transaction;
BEGIN
    SELECT * INTO STRICT t FROM ledger_transaction WHERE book = p_book AND idempotency_key = p_key;
    IF t.request_hash <> p_hash THEN
        RAISE EXCEPTION 'key % was used for another posting', p_key
            USING ERRCODE = 'LG007', DETAIL = jsonb_build_object('key', p_key, 'transaction', t.id)::text;
    END IF;
    RETURN QUERY
        SELECT t.id, t.posted_at, true, array_agg(e.account_id), array_agg(e.balance_after), array_agg(e.version)
        FROM (SELECT DISTINCT ON (account_id) account_id, balance_after, version
              FROM ledger_entry WHERE transaction_id = t.id ORDER BY account_id, version DESC) e;
END $$;

-- Posts the exact mirror of a transaction, once in its life.
CREATE FUNCTION @schema@.ledger_reverse(
    p_book uuid, p_key text, p_kind text, p_transaction bigint, p_metadata jsonb, p_occurred_at timestamptz
) RETURNS TABLE (
    transaction_id bigint, posted_at timestamptz, replayed boolean,
    accounts bigint[], balances bigint[], versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    t ledger_transaction;
    v_by bigint;
    v_accounts bigint[];
    v_amounts bigint[];
BEGIN
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
        p_book, p_key, p_kind, v_accounts, v_amounts, p_metadata, p_occurred_at, p_transaction);
END $$;

-- Opens accounts, or finds them as they are; one that is there with other attributes, or closed, is an error.
CREATE FUNCTION @schema@.ledger_open_accounts(
    p_book uuid, p_codes text[], p_kinds text[], p_commodities text[],
    p_sides smallint[], p_floors bigint[], p_ranks integer[]
) RETURNS TABLE (id bigint, code text, commodity text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    r record;
BEGIN
    -- Sorted, so that two sessions opening the same accounts wait for each other in one order.
    INSERT INTO ledger_account (book, code, kind, commodity, normal_side, min_balance, balance, version, lock_rank,
                                opened_at)
    SELECT p_book, s.code, s.kind, s.commodity, s.side, s.floor, 0, 0, s.rank, clock_timestamp()
    FROM unnest(p_codes, p_kinds, p_commodities, p_sides, p_floors, p_ranks) s(code, kind, commodity, side, floor, rank)
    ORDER BY s.code, s.commodity
    ON CONFLICT (book, code, commodity) DO NOTHING;

    SELECT a.id, a.code, a.closed_at INTO r
    FROM unnest(p_codes, p_kinds, p_commodities, p_sides, p_floors, p_ranks) s(code, kind, commodity, side, floor, rank)
    JOIN ledger_account a ON a.book = p_book AND a.code = s.code AND a.commodity = s.commodity
    WHERE a.closed_at IS NOT NULL
       OR (a.kind, a.normal_side, a.min_balance, a.lock_rank)
          IS DISTINCT FROM (s.kind, s.side, s.floor, s.rank)
    ORDER BY a.code LIMIT 1;
    IF FOUND AND r.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'account % is closed', r.code
            USING ERRCODE = 'LG005', DETAIL = jsonb_build_object('account', r.id, 'account_code', r.code)::text;
    ELSIF FOUND THEN
        RAISE EXCEPTION 'account % is open with other attributes', r.code
            USING ERRCODE = 'LG012', DETAIL = jsonb_build_object('account', r.id, 'account_code', r.code)::text;
    END IF;
    RETURN QUERY
        SELECT a.id, a.code, a.commodity FROM unnest(p_codes, p_commodities) s(code, commodity)
        JOIN ledger_account a ON a.book = p_book AND a.code = s.code AND a.commodity = s.commodity;
END $$;

-- Closes an empty account for good; closing it again returns the first time.
CREATE FUNCTION @schema@.ledger_close_account(p_book uuid, p_account bigint) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    a ledger_account;
BEGIN
    SELECT * INTO a FROM ledger_account WHERE id = p_account AND book = p_book FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'account % is not in this book', p_account
            USING ERRCODE = 'LG006', DETAIL = jsonb_build_object('account', p_account)::text;
    ELSIF a.balance <> 0 THEN
        RAISE EXCEPTION 'account % still holds %', a.code, a.balance
            USING ERRCODE = 'LG013',
                  DETAIL = jsonb_build_object('account', a.id, 'account_code', a.code, 'balance', a.balance)::text;
    ELSIF a.closed_at IS NULL THEN
        UPDATE ledger_account SET closed_at = clock_timestamp() WHERE id = p_account RETURNING closed_at INTO a.closed_at;
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
