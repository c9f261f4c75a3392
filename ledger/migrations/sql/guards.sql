-- What PostgreSQL refuses by itself, to the application and to the owner alike.
--
-- Every trigger is ENABLE ALWAYS, so it also fires under session_replication_role = replica. SQLSTATEs of class LG are
-- the ledger's own (ledger/errors.py names them). @schema@ is replaced by the migration.
--
-- enable_seqscan = off, here and in posting.sql: plans are cached per connection, and one made while a table was still
-- small would otherwise go on scanning it whole after it has grown.

-- Append-only tables ------------------------------------------------------------------------------------------------

CREATE FUNCTION @schema@.ledger_refuse() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: %', tg_op, tg_table_name, coalesce(tg_argv[0], 'the ledger is append-only')
        USING ERRCODE = 'LG014';
END $$;

CREATE TRIGGER ledger_entry_fixed BEFORE UPDATE OR DELETE ON @schema@.ledger_entry
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_entry_kept BEFORE TRUNCATE ON @schema@.ledger_entry
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_transaction_fixed BEFORE UPDATE OR DELETE ON @schema@.ledger_transaction
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_transaction_kept BEFORE TRUNCATE ON @schema@.ledger_transaction
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_account_undeleted BEFORE DELETE ON @schema@.ledger_account
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_account_kept BEFORE TRUNCATE ON @schema@.ledger_account
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();

-- Accounts ----------------------------------------------------------------------------------------------------------

CREATE TRIGGER ledger_account_starts_empty BEFORE INSERT ON @schema@.ledger_account
    FOR EACH ROW
    WHEN (new.balance <> 0 OR new.version <> 0 OR new.posted_at IS NOT NULL OR new.closed_at IS NOT NULL)
    EXECUTE FUNCTION @schema@.ledger_refuse('an account starts open and empty');

CREATE TRIGGER ledger_account_fixed BEFORE UPDATE ON @schema@.ledger_account
    FOR EACH ROW
    WHEN (old.id <> new.id OR old.book <> new.book OR old.code <> new.code OR old.kind <> new.kind
          OR old.commodity <> new.commodity OR old.normal_side <> new.normal_side
          OR old.min_balance IS DISTINCT FROM new.min_balance OR old.lock_rank <> new.lock_rank
          OR old.opened_at <> new.opened_at
          OR (old.closed_at IS NOT NULL AND old.closed_at IS DISTINCT FROM new.closed_at))
    EXECUTE FUNCTION @schema@.ledger_refuse('only balance, version and closing may change on an account');

-- A balance moves only together with the entry that explains it. Both are written by one statement (posting.sql), so
-- this trigger and the one on entries each see the other's rows.
CREATE FUNCTION @schema@.ledger_account_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_code text;
BEGIN
    SELECT n.code INTO v_code
    FROM new_accounts n
    JOIN old_accounts o ON o.id = n.id
    LEFT JOIN ledger_entry e ON e.account_id = n.id AND e.version = n.version
    LEFT JOIN ledger_transaction t ON t.id = e.transaction_id
    WHERE (n.version <> o.version OR n.balance <> o.balance OR n.posted_at IS DISTINCT FROM o.posted_at)
      AND (n.version <= o.version
           OR e.balance_after IS DISTINCT FROM n.balance
           OR t.posted_at IS DISTINCT FROM n.posted_at)
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'account % changed without an entry that explains it', v_code USING ERRCODE = 'LG015';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER ledger_account_explained AFTER UPDATE ON @schema@.ledger_account
    REFERENCING OLD TABLE AS old_accounts NEW TABLE AS new_accounts
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_account_guard();

-- Entries -----------------------------------------------------------------------------------------------------------

-- Names the first thing wrong with a row that ledger_entry_guard found to be out of place.
CREATE FUNCTION @schema@.ledger_explain_entry(e @schema@.ledger_entry) RETURNS void
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
DECLARE
    a ledger_account;
    t ledger_transaction;
    p ledger_entry;
BEGIN
    SELECT * INTO a FROM ledger_account WHERE id = e.account_id;
    SELECT * INTO t FROM ledger_transaction WHERE id = e.transaction_id;
    SELECT * INTO p FROM ledger_entry WHERE account_id = e.account_id AND version = e.version - 1;
    IF t.id IS NULL THEN
        RAISE EXCEPTION 'entry of transaction % that does not exist', e.transaction_id USING ERRCODE = 'LG010';
    ELSIF a.id IS NULL OR a.book <> t.book THEN
        RAISE EXCEPTION 'account % is not in the book of transaction %', e.account_id, t.id USING ERRCODE = 'LG006';
    ELSIF a.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'account % is closed', a.code USING ERRCODE = 'LG005';
    ELSIF t.posted_at < (SELECT posted_at FROM ledger_transaction WHERE id = p.transaction_id) THEN
        RAISE EXCEPTION 'transaction % is earlier than the last one on account %', t.id, a.code
            USING ERRCODE = 'LG016';
    END IF;
    RAISE EXCEPTION 'entry % of account % does not continue its chain', e.version, a.code USING ERRCODE = 'LG015';
END $$;

-- All legs of a transaction come in one INSERT: nothing can be added to it later, so it can be judged here.
CREATE FUNCTION @schema@.ledger_entry_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_entry ledger_entry;
    v_transaction bigint;
    v_commodity text;
    v_sum numeric;
BEGIN
    -- Each entry sits on its predecessor, on an open account of the same book, not earlier in time.
    SELECT n.* INTO v_entry
    FROM new_entries n
    LEFT JOIN ledger_account a ON a.id = n.account_id
    LEFT JOIN ledger_transaction t ON t.id = n.transaction_id
    LEFT JOIN ledger_entry p ON p.account_id = n.account_id AND p.version = n.version - 1
    LEFT JOIN ledger_transaction pt ON pt.id = p.transaction_id
    WHERE (a.book = t.book
           AND a.closed_at IS NULL
           AND n.version <= a.version
           AND (p.version IS NOT NULL OR n.version = 1)
           AND n.balance_after = coalesce(p.balance_after, 0) + a.normal_side * n.amount
           AND coalesce(pt.posted_at, t.posted_at) <= t.posted_at) IS NOT TRUE
    ORDER BY n.account_id, n.version
    LIMIT 1;
    IF FOUND THEN
        PERFORM ledger_explain_entry(v_entry);
    END IF;

    SELECT n.transaction_id INTO v_transaction
    FROM new_entries n
    GROUP BY n.transaction_id
    HAVING min(n.account_id) = max(n.account_id)
        OR count(*) <> (SELECT count(*) FROM ledger_entry e WHERE e.transaction_id = n.transaction_id)
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'transaction % needs all its legs in one statement, on two accounts at least', v_transaction
            USING ERRCODE = 'LG002';
    END IF;

    SELECT n.transaction_id, a.commodity, sum(n.amount) INTO v_transaction, v_commodity, v_sum
    FROM new_entries n
    JOIN ledger_account a ON a.id = n.account_id
    GROUP BY n.transaction_id, a.commodity
    HAVING sum(n.amount) <> 0
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'legs in % sum to %, not to zero', v_commodity, v_sum
            USING ERRCODE = 'LG001', DETAIL = jsonb_build_object('commodity', v_commodity, 'sum', v_sum)::text;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER ledger_entry_balanced AFTER INSERT ON @schema@.ledger_entry
    REFERENCING NEW TABLE AS new_entries
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_entry_guard();

-- Transactions ------------------------------------------------------------------------------------------------------

-- At commit: a transaction has legs, and a reversal mirrors a transaction of its book that is none itself.
CREATE FUNCTION @schema@.ledger_transaction_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ledger_entry WHERE transaction_id = new.id) THEN
        RAISE EXCEPTION 'transaction % has no legs', new.id USING ERRCODE = 'LG002';
    END IF;
    IF new.reverses_id IS NULL THEN
        RETURN NULL;
    END IF;
    IF NOT EXISTS (SELECT FROM ledger_transaction WHERE id = new.reverses_id AND book = new.book) THEN
        RAISE EXCEPTION 'transaction % to reverse is unknown', new.reverses_id USING ERRCODE = 'LG010';
    ELSIF EXISTS (SELECT FROM ledger_transaction WHERE id = new.reverses_id AND reverses_id IS NOT NULL) THEN
        RAISE EXCEPTION 'transaction % is itself a reversal', new.reverses_id USING ERRCODE = 'LG009';
    ELSIF NOT ledger_is_mirror(new.id, new.reverses_id) THEN
        RAISE EXCEPTION 'transaction % does not mirror %', new.id, new.reverses_id USING ERRCODE = 'LG017';
    END IF;
    RETURN NULL;
END $$;

-- Whether the legs of one transaction are exactly the other's, each with the opposite sign.
CREATE FUNCTION @schema@.ledger_is_mirror(p_one bigint, p_other bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
    SELECT NOT EXISTS (
        (SELECT account_id, amount FROM ledger_entry WHERE transaction_id = p_one
         EXCEPT ALL SELECT account_id, -amount FROM ledger_entry WHERE transaction_id = p_other)
        UNION ALL
        (SELECT account_id, -amount FROM ledger_entry WHERE transaction_id = p_other
         EXCEPT ALL SELECT account_id, amount FROM ledger_entry WHERE transaction_id = p_one))
$$;

CREATE CONSTRAINT TRIGGER ledger_transaction_has_legs AFTER INSERT ON @schema@.ledger_transaction
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_transaction_guard();

ALTER TABLE @schema@.ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_fixed;
ALTER TABLE @schema@.ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_kept;
ALTER TABLE @schema@.ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_balanced;
ALTER TABLE @schema@.ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_fixed;
ALTER TABLE @schema@.ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_kept;
ALTER TABLE @schema@.ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_has_legs;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_undeleted;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_kept;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_starts_empty;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_fixed;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_explained;

-- Every posting updates its accounts' rows: leave room for the new version on the same page.
ALTER TABLE @schema@.ledger_account SET (fillfactor = 50);
