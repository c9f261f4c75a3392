-- Seals: a hash for each thing that the ledger writes, in a table of its own, by the triggers alone.
--
-- A row that is changed later, or that goes, no longer agrees with its seal: checks.py compares them. The bytes that are
-- hashed are PostgreSQL's binary form of a row, which no setting of a session changes.

-- The kinds of seals: 1 transaction with its legs, 2 account, 3 closing of an account, 4 period, 5 closing of a period,
-- 6 hold, 7 end of a hold, 8 reserve (the id is its hold's), 9 snapshot, 10 lines of a snapshot, 11 assertion.
CREATE FUNCTION @schema@.ledger_seal_of(t @schema@.ledger_transaction, p_legs bytea) RETURNS bytea
LANGUAGE sql STABLE
RETURN sha256(record_send(ROW (t.id, t.book, t.idempotency_key, t.kind, t.period_id, t.reverses_id, t.posted_at,
                               t.occurred_at, t.metadata)) || p_legs);
CREATE FUNCTION @schema@.ledger_bytes(e @schema@.ledger_entry) RETURNS bytea LANGUAGE sql STABLE
RETURN record_send(ROW (e.account_id, e.version, e.amount, e.balance_after));
CREATE FUNCTION @schema@.ledger_seal_of(a @schema@.ledger_account) RETURNS bytea LANGUAGE sql STABLE
RETURN sha256(record_send(ROW (a.id, a.book, a.code, a.kind, a.commodity, a.normal_side, a.min_balance, a.lock_rank,
                               a.weight, a.lanes, a.parent_id, a.opened_at)));
CREATE FUNCTION @schema@.ledger_seal_of(p @schema@.ledger_period) RETURNS bytea LANGUAGE sql STABLE
RETURN sha256(record_send(ROW (p.id, p.book, p.name, p.opened_at)));
CREATE FUNCTION @schema@.ledger_seal_of(h @schema@.ledger_hold) RETURNS bytea LANGUAGE sql STABLE
RETURN sha256(record_send(ROW (h.id, h.book, h.key, h.postings, h.created_at, h.expires_at)));
CREATE FUNCTION @schema@.ledger_seal_of(r @schema@.ledger_reserve) RETURNS bytea LANGUAGE sql STABLE
RETURN sha256(record_send(ROW (r.hold_id, r.account_id, r.amount, r.expires_at)));
CREATE FUNCTION @schema@.ledger_seal_of(s @schema@.ledger_snapshot) RETURNS bytea LANGUAGE sql STABLE
RETURN sha256(record_send(ROW (s.id, s.book, s.name, s.taken_at)));
CREATE FUNCTION @schema@.ledger_bytes(l @schema@.ledger_snapshot_line) RETURNS bytea LANGUAGE sql STABLE
RETURN record_send(ROW (l.account_id, l.version, l.balance));
CREATE FUNCTION @schema@.ledger_seal_of(s @schema@.ledger_assertion) RETURNS bytea LANGUAGE sql STABLE
RETURN sha256(record_send(ROW (s.id, s.book, s.account_id, s.version, s.balance, s.asserted_at, s.metadata)));
-- The end of something: an account's or a period's closing, or what became of a hold.
CREATE FUNCTION @schema@.ledger_seal_of(p_id bigint, p_state text, p_at timestamptz) RETURNS bytea
LANGUAGE sql STABLE
RETURN sha256(record_send(ROW (p_id, p_state, p_at)));

-- Seals what a statement inserted. Transactions are sealed by the trigger on entries (guards.sql), with their legs.
CREATE FUNCTION @schema@.ledger_seal_new() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp SET enable_seqscan = off AS $$
BEGIN
    CASE tg_table_name
    WHEN 'ledger_account' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        SELECT n.book, n.id, 2, ledger_seal_of(n::ledger_account) FROM new_rows n;
    WHEN 'ledger_period' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        SELECT n.book, n.id, 4, ledger_seal_of(n::ledger_period) FROM new_rows n;
    WHEN 'ledger_hold' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        SELECT n.book, n.id, 6, ledger_seal_of(n::ledger_hold) FROM new_rows n;
    WHEN 'ledger_reserve' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        SELECT h.book, h.id, 8, ledger_seal_of(n::ledger_reserve) FROM new_rows n JOIN ledger_hold h ON h.id = n.hold_id;
    WHEN 'ledger_snapshot' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        SELECT n.book, n.id, 9, ledger_seal_of(n::ledger_snapshot) FROM new_rows n;
    WHEN 'ledger_snapshot_line' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        SELECT s.book, s.id, 10, sha256(l.bytes)
        FROM (SELECT n.snapshot_id, string_agg(ledger_bytes(n::ledger_snapshot_line), ''::bytea ORDER BY n.account_id)
                     AS bytes FROM new_rows n GROUP BY n.snapshot_id) l
        JOIN ledger_snapshot s ON s.id = l.snapshot_id;
    WHEN 'ledger_assertion' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        SELECT n.book, n.id, 11, ledger_seal_of(n::ledger_assertion) FROM new_rows n;
    END CASE;
    RETURN NULL;
END $$;

-- Seals the end of a row: a closing, or what became of a hold.
CREATE FUNCTION @schema@.ledger_seal_end() RETURNS trigger
LANGUAGE plpgsql SET search_path = @schema@, pg_temp AS $$
BEGIN
    CASE tg_table_name
    WHEN 'ledger_account' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        VALUES (new.book, new.id, 3, ledger_seal_of(new.id, 'closed', new.closed_at));
    WHEN 'ledger_period' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        VALUES (new.book, new.id, 5, ledger_seal_of(new.id, 'closed', new.closed_at));
    WHEN 'ledger_hold' THEN
        INSERT INTO ledger_seal (book, id, kind, hash)
        VALUES (new.book, new.id, 7, ledger_seal_of(new.id, new.state, new.ended_at));
    END CASE;
    RETURN NULL;
END $$;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY '{account, period, hold, reserve, snapshot, snapshot_line, assertion}'::text[] LOOP
        EXECUTE format('CREATE TRIGGER ledger_%1$s_sealed AFTER INSERT ON @schema@.ledger_%1$s'
                       ' REFERENCING NEW TABLE AS new_rows'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_seal_new()', v_table);
        EXECUTE format('ALTER TABLE @schema@.ledger_%1$s ENABLE ALWAYS TRIGGER ledger_%1$s_sealed', v_table);
    END LOOP;
END $$;
CREATE TRIGGER ledger_account_end_sealed AFTER UPDATE OF closed_at ON @schema@.ledger_account
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_seal_end();
CREATE TRIGGER ledger_period_end_sealed AFTER UPDATE OF closed_at ON @schema@.ledger_period
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_seal_end();
CREATE TRIGGER ledger_hold_end_sealed AFTER UPDATE OF state ON @schema@.ledger_hold
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_seal_end();
ALTER TABLE @schema@.ledger_account ENABLE ALWAYS TRIGGER ledger_account_end_sealed;
ALTER TABLE @schema@.ledger_period ENABLE ALWAYS TRIGGER ledger_period_end_sealed;
ALTER TABLE @schema@.ledger_hold ENABLE ALWAYS TRIGGER ledger_hold_end_sealed;

-- Seals are written by triggers, and stay.
CREATE TRIGGER ledger_seal_by_trigger BEFORE INSERT ON @schema@.ledger_seal
    FOR EACH ROW WHEN (pg_trigger_depth() = 0)
    EXECUTE FUNCTION @schema@.ledger_refuse('seals are written by the triggers of what they seal');
CREATE TRIGGER ledger_seal_fixed BEFORE UPDATE OR DELETE ON @schema@.ledger_seal
    FOR EACH ROW EXECUTE FUNCTION @schema@.ledger_refuse();
CREATE TRIGGER ledger_seal_kept BEFORE TRUNCATE ON @schema@.ledger_seal
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.ledger_refuse();
ALTER TABLE @schema@.ledger_seal ENABLE ALWAYS TRIGGER ledger_seal_by_trigger;
ALTER TABLE @schema@.ledger_seal ENABLE ALWAYS TRIGGER ledger_seal_fixed;
ALTER TABLE @schema@.ledger_seal ENABLE ALWAYS TRIGGER ledger_seal_kept;

-- What the seals of a book must be, from its rows as they are; of transactions from this one on.
CREATE FUNCTION @schema@.ledger_seals_due(p_book uuid, p_first bigint) RETURNS TABLE (kind smallint, id bigint, hash bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
    SELECT 1::smallint, t.id, ledger_seal_of(t, coalesce(l.legs, ''))
    FROM ledger_transaction t
    LEFT JOIN (SELECT e.transaction_id, string_agg(ledger_bytes(e), ''::bytea ORDER BY e.account_id, e.version) AS legs
               FROM ledger_entry e JOIN ledger_transaction o ON o.id = e.transaction_id AND o.book = p_book
               WHERE e.transaction_id >= p_first GROUP BY e.transaction_id) l ON l.transaction_id = t.id
    WHERE t.book = p_book AND t.id >= p_first
    UNION ALL SELECT 2, a.id, ledger_seal_of(a) FROM ledger_account a WHERE a.book = p_book
    UNION ALL SELECT 3, a.id, ledger_seal_of(a.id, 'closed', a.closed_at) FROM ledger_account a
        WHERE a.book = p_book AND a.closed_at IS NOT NULL
    UNION ALL SELECT 4, p.id, ledger_seal_of(p) FROM ledger_period p WHERE p.book = p_book
    UNION ALL SELECT 5, p.id, ledger_seal_of(p.id, 'closed', p.closed_at) FROM ledger_period p
        WHERE p.book = p_book AND p.closed_at IS NOT NULL
    UNION ALL SELECT 6, h.id, ledger_seal_of(h) FROM ledger_hold h WHERE h.book = p_book
    UNION ALL SELECT 7, h.id, ledger_seal_of(h.id, h.state, h.ended_at) FROM ledger_hold h
        WHERE h.book = p_book AND h.state <> 'pending'
    UNION ALL SELECT 8, h.id, ledger_seal_of(r) FROM ledger_reserve r JOIN ledger_hold h ON h.id = r.hold_id
        WHERE h.book = p_book
    UNION ALL SELECT 9, s.id, ledger_seal_of(s) FROM ledger_snapshot s WHERE s.book = p_book
    UNION ALL SELECT 10, s.id, sha256(string_agg(ledger_bytes(l), ''::bytea ORDER BY l.account_id))
        FROM ledger_snapshot s JOIN ledger_snapshot_line l ON l.snapshot_id = s.id WHERE s.book = p_book GROUP BY s.id
    UNION ALL SELECT 11, s.id, ledger_seal_of(s) FROM ledger_assertion s WHERE s.book = p_book
$$;
