-- What 0002 installed and this migration replaces.
DROP TRIGGER ledger_account_starts_empty ON @schema@.ledger_account;
DROP TRIGGER ledger_account_fixed ON @schema@.ledger_account;
DROP TRIGGER ledger_account_explained ON @schema@.ledger_account;
DROP TRIGGER ledger_entry_balanced ON @schema@.ledger_entry;
DROP TRIGGER ledger_transaction_has_legs ON @schema@.ledger_transaction;
DROP FUNCTION @schema@.ledger_account_guard, @schema@.ledger_explain_entry, @schema@.ledger_entry_guard,
    @schema@.ledger_transaction_guard, @schema@.ledger_explain_posting, @schema@.ledger_stored, @schema@.ledger_post,
    @schema@.ledger_reverse, @schema@.ledger_open_accounts, @schema@.ledger_close_account;
