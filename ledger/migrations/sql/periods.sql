-- Periods, snapshots and balance assertions.

-- Periods -----------------------------------------------------------------------------------------------------------

CREATE TRIGGER ledger_period_starts_open BEFORE INSERT ON @schema@.ledger_period
    FOR EACH ROW WHEN (new.closed_at IS NOT NULL)
    EXECUTE FUNCTION @schema@.ledger_refuse('a period starts open');
CREATE TRIGGER ledger_period_fixed BEFORE UPDATE ON @schema@.ledger_period
    FOR EACH ROW
    WHEN (old.id <> new.id OR old.book <> new.book OR old.name <> new.name OR old.opened_at <> new.opened_at
          OR old.closed_at IS NOT NULL)
    EXECUTE FUNCTION @schema@.ledger_refuse('a period closes once and changes no other way');
CREATE TRIGGER ledger_period_undeleted BEFORE DELETE ON @schema@.ledger_period
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_period_kept BEFORE TRUNCATE ON @schema@.ledger_period
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();
ALTER TABLE @schema@.ledger_period ENABLE ALWAYS TRIGGER ledger_period_starts_open;
ALTER TABLE @schema@.ledger_period ENABLE ALWAYS TRIGGER ledger_period_fixed;
ALTER TABLE @schema@.ledger_period ENABLE ALWAYS TRIGGER ledger_period_undeleted;
ALTER TABLE @schema@.ledger_period ENABLE ALWAYS TRIGGER ledger_period_kept;

-- What concerns a whole book reads it as it is now.
CREATE FUNCTION @schema@.ledger_need_read_committed(p_what text) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION '% under READ COMMITTED: other levels read the book as it was', p_what USING ERRCODE = 'LG018';
    END IF;
END $$;

-- Opens a period, or finds it open. From a book's first period on, every posting belongs to one: the first one waits
-- for all postings under way, of other books too (as long as lock_timeout says), and they wait for it. Others wait for
-- nobody.
CREATE FUNCTION @schema@.ledger_open_period(p_book uuid, p_name text) RETURNS TABLE (
    id integer, opened_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off
SET lock_timeout = '10s' AS $$
#variable_conflict use_column
DECLARE
    p ledger_period;
BEGIN
    PERFORM ledger_need_read_committed('periods open');
    IF NOT EXISTS (SELECT FROM ledger_period WHERE book = p_book) THEN
        LOCK TABLE ledger_period IN EXCLUSIVE MODE;
    END IF;
    -- Never before what is posted already, though the clock may have been set back.
    INSERT INTO ledger_period (book, name, opened_at)
    SELECT p_book, p_name, greatest(
        clock_timestamp(), (SELECT max(o.opened_at) FROM ledger_period o WHERE o.book = p_book),
        CASE WHEN NOT EXISTS (SELECT FROM ledger_period o WHERE o.book = p_book)
             THEN (SELECT max(a.posted_at) FROM ledger_account a WHERE a.book = p_book) END)
    WHERE NOT EXISTS (SELECT FROM ledger_period o WHERE o.book = p_book AND o.name = p_name)
    ON CONFLICT (book, name) DO NOTHING;
    SELECT * INTO STRICT p FROM ledger_period WHERE book = p_book AND name = p_name;
    IF p.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'period % is closed', p_name
            USING ERRCODE = 'LG020', DETAIL = jsonb_build_object('period', p_name)::text;
    END IF;
    RETURN QUERY SELECT p.id, p.opened_at;
END $$;

-- Closes a period for good, once the postings under way in it have ended, and takes a snapshot of all balances. Only
-- postings to this period wait meanwhile; a posting that stays open for ten seconds makes it give up.
CREATE FUNCTION @schema@.ledger_close_period(p_book uuid, p_name text) RETURNS TABLE (
    id integer, opened_at timestamptz, closed_at timestamptz, snapshot_id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off
SET lock_timeout = '10s' AS $$
#variable_conflict use_column
DECLARE
    p ledger_period;
    v_name text := 'period ' || p_name;
    v_snapshot bigint;
BEGIN
    PERFORM ledger_need_read_committed('periods close');
    SELECT * INTO p FROM ledger_period WHERE book = p_book AND name = p_name FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'period % is unknown', p_name
            USING ERRCODE = 'LG020', DETAIL = jsonb_build_object('period', p_name)::text;
    ELSIF p.closed_at IS NULL THEN
        UPDATE ledger_period SET closed_at = clock_timestamp() WHERE id = p.id RETURNING * INTO p;
        PERFORM ledger_write_snapshot(p_book, v_name);
    END IF;
    SELECT s.id INTO STRICT v_snapshot FROM ledger_snapshot s WHERE s.book = p_book AND s.name = v_name;
    RETURN QUERY SELECT p.id, p.opened_at, p.closed_at, v_snapshot;
END $$;

-- Snapshots ---------------------------------------------------------------------------------------------------------

-- The lines of a snapshot come in one statement, each is what the account's entry of that version left, and together
-- they balance: they are one moment of the book.
CREATE FUNCTION @schema@.ledger_snapshot_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    r record;
BEGIN
    SELECT n.snapshot_id, n.account_id INTO r FROM new_lines n
    JOIN ledger_snapshot s ON s.id = n.snapshot_id
    LEFT JOIN ledger_account a ON a.id = n.account_id AND a.book = s.book
    LEFT JOIN ledger_entry e ON e.account_id = n.account_id AND e.version = n.version
    WHERE a.id IS NULL OR e.balance_after IS DISTINCT FROM n.balance LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'snapshot % says of account % what its entries do not', r.snapshot_id, r.account_id
            USING ERRCODE = 'LG015';
    END IF;
    SELECT n.snapshot_id, sum(a.normal_side * n.balance) AS total INTO r
    FROM new_lines n JOIN ledger_account a ON a.id = n.account_id
    GROUP BY n.snapshot_id, a.commodity HAVING sum(a.normal_side * n.balance) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'snapshot % does not balance', r.snapshot_id USING ERRCODE = 'LG001';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER ledger_snapshot_line_right AFTER INSERT ON @schema@.ledger_snapshot_line
    REFERENCING NEW TABLE AS new_lines
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_snapshot_guard();
CREATE TRIGGER ledger_snapshot_line_fixed BEFORE UPDATE OR DELETE ON @schema@.ledger_snapshot_line
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_snapshot_line_kept BEFORE TRUNCATE ON @schema@.ledger_snapshot_line
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_snapshot_fixed BEFORE UPDATE OR DELETE ON @schema@.ledger_snapshot
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_snapshot_kept BEFORE TRUNCATE ON @schema@.ledger_snapshot
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();
ALTER TABLE @schema@.ledger_snapshot_line ENABLE ALWAYS TRIGGER ledger_snapshot_line_right;
ALTER TABLE @schema@.ledger_snapshot_line ENABLE ALWAYS TRIGGER ledger_snapshot_line_fixed;
ALTER TABLE @schema@.ledger_snapshot_line ENABLE ALWAYS TRIGGER ledger_snapshot_line_kept;
ALTER TABLE @schema@.ledger_snapshot ENABLE ALWAYS TRIGGER ledger_snapshot_fixed;
ALTER TABLE @schema@.ledger_snapshot ENABLE ALWAYS TRIGGER ledger_snapshot_kept;

-- Writes down what every account that ever moved holds, all at one instant.
CREATE FUNCTION @schema@.ledger_write_snapshot(p_book uuid, p_name text) RETURNS @schema@.ledger_snapshot
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    s ledger_snapshot;
BEGIN
    PERFORM ledger_need_read_committed('snapshots are taken');
    INSERT INTO ledger_snapshot AS n (book, name, taken_at) VALUES (p_book, p_name, clock_timestamp())
    ON CONFLICT (book, name) DO NOTHING RETURNING n.* INTO s;
    IF s.id IS NOT NULL THEN
        INSERT INTO ledger_snapshot_line (snapshot_id, account_id, version, balance)
        SELECT s.id, a.id, a.version, a.balance FROM ledger_account a WHERE a.book = p_book AND a.version > 0;
    END IF;
    RETURN s;
END $$;

-- Takes a snapshot; the same name again returns the first. Those named "period ..." are taken as periods close.
CREATE FUNCTION @schema@.ledger_take_snapshot(p_book uuid, p_name text) RETURNS TABLE (
    id bigint, taken_at timestamptz, replayed boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    s ledger_snapshot;
BEGIN
    IF starts_with(p_name, 'period ') THEN
        RAISE EXCEPTION 'snapshots named "period ..." are taken as periods close' USING ERRCODE = 'LG018';
    END IF;
    s := ledger_write_snapshot(p_book, p_name);
    replayed := s.id IS NULL;
    IF replayed THEN
        SELECT * INTO STRICT s FROM ledger_snapshot WHERE book = p_book AND name = p_name;
    END IF;
    id := s.id;
    taken_at := s.taken_at;
    RETURN NEXT;
END $$;

-- Assertions --------------------------------------------------------------------------------------------------------

-- An assertion that is not true is not written down, by nobody.
CREATE FUNCTION @schema@.ledger_assertion_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_code text;
    v_balance bigint;
BEGIN
    SELECT a.code, CASE WHEN new.version = 0 THEN 0 ELSE e.balance_after END INTO v_code, v_balance
    FROM ledger_account a
    LEFT JOIN ledger_entry e ON e.account_id = a.id AND e.version = new.version
    WHERE a.id = new.account_id AND a.book = new.book AND a.lanes = 0;
    IF v_code IS NULL OR v_balance IS NULL THEN
        RAISE EXCEPTION 'account % has no version %', new.account_id, new.version
            USING ERRCODE = 'LG006',
                  DETAIL = jsonb_build_object('account', new.account_id, 'version', new.version)::text;
    ELSIF v_balance <> new.balance THEN
        RAISE EXCEPTION 'account % holds % at version %, not %', v_code, v_balance, new.version, new.balance
            USING ERRCODE = 'LG022', DETAIL = jsonb_build_object(
                'account', new.account_id, 'account_code', v_code, 'version', new.version,
                'balance', v_balance, 'asserted', new.balance)::text;
    END IF;
    RETURN new;
END $$;

CREATE TRIGGER ledger_assertion_true BEFORE INSERT ON @schema@.ledger_assertion
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_assertion_guard();
CREATE TRIGGER ledger_assertion_fixed BEFORE UPDATE OR DELETE ON @schema@.ledger_assertion
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_assertion_kept BEFORE TRUNCATE ON @schema@.ledger_assertion
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();
ALTER TABLE @schema@.ledger_assertion ENABLE ALWAYS TRIGGER ledger_assertion_true;
ALTER TABLE @schema@.ledger_assertion ENABLE ALWAYS TRIGGER ledger_assertion_fixed;
ALTER TABLE @schema@.ledger_assertion ENABLE ALWAYS TRIGGER ledger_assertion_kept;

-- Writes down that an account held so much at a version (null: now, its row locked so that nothing moves meanwhile).
CREATE FUNCTION @schema@.ledger_assert_balance(
    p_book uuid, p_account bigint, p_version bigint, p_balance bigint, p_metadata jsonb
) RETURNS TABLE (id bigint, version bigint, asserted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    IF p_version IS NULL THEN
        SELECT a.version INTO p_version FROM ledger_account a
        WHERE a.id = p_account AND a.book = p_book FOR NO KEY UPDATE;
    END IF;
    INSERT INTO ledger_assertion AS n (book, account_id, version, balance, asserted_at, metadata)
    VALUES (p_book, p_account, coalesce(p_version, -1), p_balance, clock_timestamp(), p_metadata)
    RETURNING n.id, n.version, n.asserted_at INTO id, version, asserted_at;
    RETURN NEXT;
END $$;
