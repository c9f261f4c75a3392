-- A ledger transaction of a house commits only with an audit event that tells it. The ledger's other books (it knows no
-- houses) are left alone.
CREATE FUNCTION audit_require_told() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM audit_told WHERE transaction_id = new.id)
        AND EXISTS (SELECT FROM house_house WHERE id = new.book) THEN
        RAISE EXCEPTION 'no audit event tells ledger transaction %', new.id
            USING ERRCODE = 'KZ902', HINT = 'Record an event after posting, in the same transaction.';
    END IF;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION audit_require_told() FROM PUBLIC;

CREATE CONSTRAINT TRIGGER ledger_transaction_is_told AFTER INSERT ON ledger_transaction
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_require_told();
ALTER TABLE ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_is_told;
