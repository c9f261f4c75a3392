-- Accounts: opened, closed, and found at a moment of the past.

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
        PERFORM ledger_release_expired(ARRAY[p_account]);
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
