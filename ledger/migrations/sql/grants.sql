-- The application's role reads the tables and calls the functions; it can write nothing by itself.
REVOKE CREATE ON SCHEMA @schema@ FROM PUBLIC;
GRANT USAGE ON SCHEMA @schema@ TO @app@;
REVOKE ALL ON @schema@.ledger_account, @schema@.ledger_transaction, @schema@.ledger_entry, @schema@.ledger_period,
    @schema@.ledger_hold, @schema@.ledger_reserve, @schema@.ledger_snapshot, @schema@.ledger_snapshot_line,
    @schema@.ledger_assertion, @schema@.ledger_claim, @schema@.ledger_seal
FROM PUBLIC, @app@;
GRANT SELECT ON @schema@.ledger_account, @schema@.ledger_transaction, @schema@.ledger_entry, @schema@.ledger_period,
    @schema@.ledger_hold, @schema@.ledger_reserve, @schema@.ledger_snapshot, @schema@.ledger_snapshot_line,
    @schema@.ledger_assertion, @schema@.ledger_claim, @schema@.ledger_seal
TO @app@;

-- Every function of the ledger, so that none is forgotten: a new one is open to PUBLIC.
DO $$
DECLARE
    f regprocedure;
BEGIN
    FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = '@schema@'::regnamespace AND starts_with(proname, 'ledger_')
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    END LOOP;
END $$;
-- ledger_is_mirror: called by the trigger at commit, which runs as the role that commits.
GRANT EXECUTE ON FUNCTION
    @schema@.ledger_post, @schema@.ledger_post_one, @schema@.ledger_reverse, @schema@.ledger_open_accounts,
    @schema@.ledger_close_account, @schema@.ledger_version_at, @schema@.ledger_is_mirror, @schema@.ledger_seals_due,
    @schema@.ledger_hold_chain, @schema@.ledger_post_hold, @schema@.ledger_void_hold, @schema@.ledger_expire_holds,
    @schema@.ledger_open_period, @schema@.ledger_close_period, @schema@.ledger_take_snapshot,
    @schema@.ledger_assert_balance
TO @app@;
