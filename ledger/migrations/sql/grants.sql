-- The application's role reads the tables and calls the functions; it can write nothing by itself.
REVOKE CREATE ON SCHEMA @schema@ FROM PUBLIC;
GRANT USAGE ON SCHEMA @schema@ TO @app@;
REVOKE ALL ON @schema@.ledger_account, @schema@.ledger_transaction, @schema@.ledger_entry FROM PUBLIC, @app@;
GRANT SELECT ON @schema@.ledger_account, @schema@.ledger_transaction, @schema@.ledger_entry TO @app@;

REVOKE ALL ON FUNCTION
    @schema@.ledger_refuse, @schema@.ledger_account_guard, @schema@.ledger_explain_entry, @schema@.ledger_entry_guard,
    @schema@.ledger_transaction_guard, @schema@.ledger_is_mirror, @schema@.ledger_explain_posting,
    @schema@.ledger_stored, @schema@.ledger_post, @schema@.ledger_reverse, @schema@.ledger_open_accounts,
    @schema@.ledger_close_account, @schema@.ledger_version_at
FROM PUBLIC;
-- ledger_is_mirror: called by the trigger at commit, which runs as whoever commits.
GRANT EXECUTE ON FUNCTION
    @schema@.ledger_post, @schema@.ledger_reverse, @schema@.ledger_open_accounts, @schema@.ledger_close_account,
    @schema@.ledger_version_at, @schema@.ledger_is_mirror
TO @app@;
