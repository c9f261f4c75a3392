-- What PostgreSQL refuses by itself, to the application and to the owner alike.
--
-- Every trigger is ENABLE ALWAYS, so it also fires under session_replication_role = replica. SQLSTATEs of class LG are
-- the ledger's own (ledger/errors.py names them). @schema@ is replaced by the migration.
--
-- enable_seqscan = off, here and in the other files: plans are cached per connection, and one made while a table was
-- still small would otherwise go on scanning it whole after it has grown.

-- Append-only tables -------------------------------------------------------------------------------------------------

-- Refuses whatever fires it; arguments: why, and the SQLSTATE where it is not LG014.
CREATE FUNCTION @schema@.ledger_refuse() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: %', tg_op, tg_table_name, coalesce(tg_argv[0], 'the ledger is append-only')
        USING ERRCODE = coalesce(tg_argv[1], 'LG014');
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
ALTER TABLE @schema@.ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_fixed;
ALTER TABLE @schema@.ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_kept;
ALTER TABLE @schema@.ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_fixed;
ALTER TABLE @schema@.ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_kept;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_undeleted;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_kept;

-- Accounts -----------------------------------------------------------------------------------------------------------

CREATE TRIGGER ledger_account_starts_empty BEFORE INSERT ON @schema@.ledger_account
    FOR EACH ROW
    WHEN (new.balance <> 0 OR new.version <> 0 OR new.held <> 0 OR new.posted_at IS NOT NULL
          OR new.closed_at IS NOT NULL)
    EXECUTE FUNCTION @schema@.ledger_refuse('an account starts open and empty');

-- What never changes is judged once, when the account comes in: a CHECK would be judged, and its text read again, with
-- every posting.
CREATE TRIGGER ledger_account_well_formed BEFORE INSERT ON @schema@.ledger_account
    FOR EACH ROW
    WHEN (new.code = '' OR new.kind = '' OR new.commodity = '' OR new.normal_side NOT IN (-1, 1)
          OR char_length(new.kind) > 255 OR char_length(new.commodity) > 255
          OR (new.parent_id IS NULL AND (char_length(new.code) > 255 OR new.code ~ '#[0-9]+$'))
          OR new.lanes NOT BETWEEN 0 AND 1000 OR (new.lanes > 0 AND new.min_balance IS NOT NULL)
          OR new.min_balance NOT BETWEEN -4611686018427387903 AND 0
          OR new.weight NOT BETWEEN -4611686018427387903 AND 4611686018427387903
          OR NOT isfinite(new.opened_at))
    EXECUTE FUNCTION @schema@.ledger_refuse(
        'an account needs code, kind, commodity and a side, 1 or -1; one with lanes has no floor; CODE#1 names a lane',
        'LG018');

CREATE TRIGGER ledger_account_fixed
    BEFORE UPDATE OF id, book, code, kind, commodity, normal_side, min_balance, lock_rank, weight, lanes, parent_id,
        opened_at
    ON @schema@.ledger_account
    FOR EACH ROW
    EXECUTE FUNCTION @schema@.ledger_refuse('only balance, version, holds and closing may change on an account');

CREATE TRIGGER ledger_account_closes_once BEFORE UPDATE OF closed_at ON @schema@.ledger_account
    FOR EACH ROW WHEN (old.closed_at IS NOT NULL)
    EXECUTE FUNCTION @schema@.ledger_refuse('an account closes once, for good');
CREATE TRIGGER ledger_account_closes_empty BEFORE UPDATE OF closed_at ON @schema@.ledger_account
    FOR EACH ROW WHEN (new.balance <> 0 OR new.held <> 0 OR NOT isfinite(new.closed_at))
    EXECUTE FUNCTION @schema@.ledger_refuse('only an empty account can be closed', 'LG013');

CREATE FUNCTION @schema@.ledger_refuse_unexplained() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'account % changed without an entry that explains it', old.code USING ERRCODE = 'LG015';
END $$;

-- A balance moves only where entries are inserted: the trigger on entries moves it.
CREATE TRIGGER ledger_account_explained BEFORE UPDATE OF balance, version, posted_at ON @schema@.ledger_account
    FOR EACH ROW WHEN (pg_trigger_depth() = 0)
    EXECUTE FUNCTION @schema@.ledger_refuse_unexplained();

-- Entries ------------------------------------------------------------------------------------------------------------

-- Names the first thing wrong with an entry that did not fit. The accounts were moved already (the statement will be
-- undone), so the entry before shows how the account was.
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
    ELSIF a.id IS NULL OR a.book <> t.book OR a.lanes > 0 THEN
        RAISE EXCEPTION 'account % is not in the book of transaction %, or has lanes', e.account_id, t.id
            USING ERRCODE = 'LG006';
    ELSIF a.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'account % is closed', a.code USING ERRCODE = 'LG005';
    ELSIF t.period_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM ledger_period WHERE id = t.period_id AND book = t.book AND closed_at IS NULL) THEN
        RAISE EXCEPTION 'period % is not open', t.period_id USING ERRCODE = 'LG020';
    ELSIF t.posted_at < (SELECT posted_at FROM ledger_transaction WHERE id = p.transaction_id) THEN
        RAISE EXCEPTION 'transaction % is earlier than the last one on account %', t.id, a.code
            USING ERRCODE = 'LG016';
    ELSIF (e.version = 1 OR p.version IS NOT NULL)
          AND e.balance_after = coalesce(p.balance_after, 0) + a.normal_side * e.amount
          AND e.balance_after - a.held < a.min_balance THEN
        RAISE EXCEPTION 'account % falls to %, below its floor', a.code, e.balance_after - a.held
            USING ERRCODE = 'LG004';
    END IF;
    RAISE EXCEPTION 'entry % of account % does not continue its chain', e.version, a.code USING ERRCODE = 'LG015';
END $$;

-- Judges the legs that one statement inserted, applies them to their accounts and seals their transactions. All legs of a
-- transaction come in one statement: nothing can be added to it later. What is right: each entry continues its account's
-- chain, on an open account of the transaction's book, not earlier than the last one and not later than now, in a period
-- that is open, above the floor after each transaction; each transaction sums to zero in every commodity and in weight,
-- over two accounts at least. Almost always that is one transaction which names no account twice: it needs no look at
-- the order of its legs; the floor is then the account's own CHECK.
CREATE FUNCTION @schema@.ledger_entry_apply() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
    r record;
    v_right boolean;
    v_entry ledger_entry;
    v_transaction bigint;
    v_commodity text;
    v_sum numeric;
BEGIN
    SELECT t.id, t.book, t.posted_at, s.legs INTO r
    FROM (SELECT min(n.transaction_id) AS first, max(n.transaction_id) AS last, count(*) AS legs,
                 count(DISTINCT n.account_id) AS accounts FROM new_entries n) s
    JOIN ledger_transaction t ON t.id = s.first
    LEFT JOIN ledger_period p ON p.id = t.period_id
    WHERE s.first = s.last AND s.legs = s.accounts AND s.legs > 1 AND t.posted_at <= clock_timestamp()
        AND (t.period_id IS NULL OR (p.book = t.book AND p.closed_at IS NULL));
    IF FOUND THEN
        WITH moved AS (
            UPDATE ledger_account a SET balance = n.balance_after, version = n.version, posted_at = r.posted_at
            FROM new_entries n
            WHERE a.id = n.account_id AND a.book = r.book AND a.closed_at IS NULL AND a.lanes = 0
                AND n.version = a.version + 1 AND n.balance_after = a.balance + a.normal_side * n.amount
                AND (a.posted_at IS NULL OR a.posted_at <= r.posted_at)
            RETURNING a.commodity, a.weight, n.amount
        ), sealed AS (
            INSERT INTO ledger_seal (book, id, kind, hash)
            SELECT t.book, t.id, 1, ledger_seal_of(t, s.legs)
            FROM (SELECT string_agg(record_send(ROW (n.account_id, n.version, n.amount, n.balance_after)), ''::bytea
                                    ORDER BY n.account_id) AS legs FROM new_entries n) s
            JOIN ledger_transaction t ON t.id = r.id
        )
        SELECT sum(c.legs) = r.legs AND bool_and(c.total = 0) AND coalesce(sum(c.weight), 0) = 0
               AND r.legs = (SELECT count(*) FROM ledger_entry WHERE transaction_id = r.id)
        INTO v_right
        FROM (SELECT count(*) AS legs, sum(m.amount) AS total,
                     sum(m.weight::numeric * m.amount) FILTER (WHERE m.weight <> 0) AS weight
              FROM moved m GROUP BY m.commodity) c;
    ELSE
        WITH leg AS (
            SELECT n.*, sum(n.amount) OVER run AS moved, row_number() OVER run AS nth,
                   lead(n.transaction_id) OVER run AS next_transaction
            FROM new_entries n WINDOW run AS (PARTITION BY n.account_id ORDER BY n.version)
        ), judged AS (
            SELECT l.*, t.posted_at, a.posted_at AS last_posted_at, a.commodity, a.weight,
                   a.book = t.book AND a.closed_at IS NULL AND a.lanes = 0
                   AND l.version = a.version + l.nth
                   AND l.balance_after = a.balance + a.normal_side * l.moved
                   AND coalesce(a.posted_at, t.posted_at) <= t.posted_at
                   AND (l.next_transaction = l.transaction_id OR l.next_transaction IS NULL
                        OR t.posted_at <= (SELECT posted_at FROM ledger_transaction WHERE id = l.next_transaction))
                   AND (t.period_id IS NULL OR (p.book = t.book AND p.closed_at IS NULL))
                   AND (a.min_balance IS NULL OR l.next_transaction = l.transaction_id
                        OR l.balance_after - a.held >= a.min_balance) AS fits
            FROM leg l
            LEFT JOIN ledger_transaction t ON t.id = l.transaction_id
            LEFT JOIN ledger_account a ON a.id = l.account_id
            LEFT JOIN ledger_period p ON p.id = t.period_id
        ), moved AS (
            UPDATE ledger_account a SET balance = j.balance_after, version = j.version, posted_at = j.posted_at
            FROM judged j WHERE a.id = j.account_id AND j.next_transaction IS NULL
        ), sealed AS (
            INSERT INTO ledger_seal (book, id, kind, hash)
            SELECT t.book, t.id, 1, ledger_seal_of(t, s.legs)
            FROM (SELECT n.transaction_id,
                         string_agg(record_send(ROW (n.account_id, n.version, n.amount, n.balance_after)), ''::bytea
                                    ORDER BY n.account_id, n.version) AS legs
                  FROM new_entries n GROUP BY n.transaction_id) s
            JOIN ledger_transaction t ON t.id = s.transaction_id
        )
        SELECT NOT EXISTS (
            SELECT FROM judged j
            GROUP BY GROUPING SETS ((j.transaction_id, j.commodity), (j.transaction_id))
            HAVING CASE WHEN grouping(j.commodity) = 0 THEN sum(j.amount) <> 0
                        ELSE bool_and(j.fits) IS NOT TRUE
                             OR sum(j.weight::numeric * j.amount) FILTER (WHERE j.weight <> 0) <> 0
                             OR min(j.account_id) = max(j.account_id)
                             OR count(*) <> (
                                 SELECT count(*) FROM ledger_entry e WHERE e.transaction_id = j.transaction_id)
                   END)
            AND (SELECT (max(j.posted_at) <= greatest(clock_timestamp(), max(j.last_posted_at))) IS NOT false
                 FROM judged j)
        INTO v_right;
    END IF;
    IF v_right THEN
        RETURN NULL;
    END IF;

    SELECT n.transaction_id, a.commodity, sum(n.amount) INTO v_transaction, v_commodity, v_sum
    FROM new_entries n JOIN ledger_account a ON a.id = n.account_id
    GROUP BY n.transaction_id, a.commodity HAVING sum(n.amount) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'legs in % sum to %, not to zero', v_commodity, v_sum
            USING ERRCODE = 'LG001', DETAIL = jsonb_build_object('commodity', v_commodity, 'sum', v_sum)::text;
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
    SELECT n.transaction_id, sum(a.weight::numeric * n.amount) INTO v_transaction, v_sum
    FROM new_entries n JOIN ledger_account a ON a.id = n.account_id
    GROUP BY n.transaction_id HAVING sum(a.weight::numeric * n.amount) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'legs weigh %, not zero', v_sum
            USING ERRCODE = 'LG019', DETAIL = jsonb_build_object('weight', v_sum)::text;
    END IF;
    SELECT n.* INTO v_entry
    FROM (SELECT n.*, row_number() OVER run AS nth, first_value(n.version) OVER run AS first,
                 lead(n.transaction_id) OVER run AS next_transaction
          FROM new_entries n WINDOW run AS (PARTITION BY n.account_id ORDER BY n.version)) f
    JOIN new_entries n USING (account_id, version)
    LEFT JOIN ledger_account a ON a.id = f.account_id
    LEFT JOIN ledger_transaction t ON t.id = f.transaction_id
    LEFT JOIN ledger_period o ON o.id = t.period_id
    LEFT JOIN ledger_entry p ON p.account_id = f.account_id AND p.version = f.version - 1
    LEFT JOIN ledger_transaction pt ON pt.id = p.transaction_id
    WHERE (a.book = t.book AND a.closed_at IS NULL AND a.lanes = 0
           AND (p.version IS NOT NULL OR f.version = 1)
           AND f.balance_after = coalesce(p.balance_after, 0) + a.normal_side * f.amount
           AND coalesce(pt.posted_at, t.posted_at) <= t.posted_at
           AND (t.period_id IS NULL OR (o.book = t.book AND o.closed_at IS NULL))
           AND (a.min_balance IS NULL OR f.next_transaction = f.transaction_id
                OR f.balance_after - a.held >= a.min_balance)) IS NOT TRUE
    ORDER BY f.account_id, f.version LIMIT 1;
    IF FOUND THEN
        PERFORM ledger_explain_entry(v_entry);
    END IF;
    SELECT t.id INTO v_transaction FROM new_entries n JOIN ledger_transaction t ON t.id = n.transaction_id
    WHERE t.posted_at > clock_timestamp() LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'transaction % is later than now', v_transaction USING ERRCODE = 'LG016';
    END IF;
    RAISE EXCEPTION 'entries of one statement carry different times, or a version that is not the next'
        USING ERRCODE = 'LG015';
END $$;
CREATE TRIGGER ledger_entry_balanced AFTER INSERT ON @schema@.ledger_entry
    REFERENCING NEW TABLE AS new_entries
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_entry_apply();

-- Transactions -------------------------------------------------------------------------------------------------------

-- The time of a transaction is the clock's, or that of the last one on its accounts where the clock was set back; what
-- is later than both is refused with its entries.
CREATE TRIGGER ledger_transaction_stamped BEFORE INSERT ON @schema@.ledger_transaction
    FOR EACH ROW WHEN (new.posted_at < transaction_timestamp())
    EXECUTE FUNCTION @schema@.ledger_refuse('it is stamped before its database transaction began', 'LG016');
ALTER TABLE @schema@.ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_stamped;

-- At commit: a transaction has legs and, in a book with periods, a period; a reversal mirrors a transaction of its book
-- that is none itself.
CREATE FUNCTION @schema@.ledger_transaction_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
BEGIN
    -- Once more: after the posting the session may have switched it off, and what is acknowledged must last.
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF NOT EXISTS (SELECT FROM ledger_entry WHERE transaction_id = new.id) THEN
        RAISE EXCEPTION 'transaction % has no legs', new.id
            USING ERRCODE = 'LG002', HINT = 'Legs are looked for at commit, or at once after SET CONSTRAINTS ... IMMEDIATE.';
    ELSIF new.period_id IS NULL AND EXISTS (
        SELECT FROM ledger_period WHERE book = new.book AND opened_at <= new.posted_at) THEN
        RAISE EXCEPTION 'transaction % belongs to no period', new.id USING ERRCODE = 'LG020';
    ELSIF new.reverses_id IS NULL THEN
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

ALTER TABLE @schema@.ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_balanced;
ALTER TABLE @schema@.ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_has_legs;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_starts_empty;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_well_formed;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_fixed;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_closes_once;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_closes_empty;
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_explained;
