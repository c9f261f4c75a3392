-- The application's role reads the tables and calls the functions; it can write nothing by itself.
REVOKE ALL ON @schema@.ledger_account, @schema@.ledger_transaction, @schema@.ledger_entry, @schema@.ledger_period,
    @schema@.ledger_hold, @schema@.ledger_reserve, @schema@.ledger_snapshot, @schema@.ledger_snapshot_line,
    @schema@.ledger_assertion
FROM PUBLIC, @app@;
GRANT SELECT ON @schema@.ledger_account, @schema@.ledger_transaction, @schema@.ledger_entry, @schema@.ledger_period,
    @schema@.ledger_hold, @schema@.ledger_reserve, @schema@.ledger_snapshot, @schema@.ledger_snapshot_line,
    @schema@.ledger_assertion
TO @app@;

REVOKE ALL ON FUNCTION
    @schema@.ledger_first_laned, @schema@.ledger_explain_posting, @schema@.ledger_refuse_overdraft,
    @schema@.ledger_lane, @schema@.ledger_check_batch, @schema@.ledger_period_for, @schema@.ledger_post,
    @schema@.ledger_post_one, @schema@.ledger_stored,
    @schema@.ledger_reverse, @schema@.ledger_open_accounts, @schema@.ledger_close_account,
    @schema@.ledger_refuse_unexplained, @schema@.ledger_explain_entry, @schema@.ledger_entry_apply,
    @schema@.ledger_transaction_guard, @schema@.ledger_held_guard, @schema@.ledger_release_expired,
    @schema@.ledger_end_hold, @schema@.ledger_hold_chain, @schema@.ledger_post_hold, @schema@.ledger_lock_hold,
    @schema@.ledger_refuse_hold, @schema@.ledger_void_hold, @schema@.ledger_expire_holds,
    @schema@.ledger_period_lock, @schema@.ledger_lock_periods, @schema@.ledger_open_period,
    @schema@.ledger_close_period,
    @schema@.ledger_snapshot_guard, @schema@.ledger_write_snapshot, @schema@.ledger_take_snapshot,
    @schema@.ledger_assertion_guard,
    @schema@.ledger_assert_balance
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    @schema@.ledger_post, @schema@.ledger_post_one, @schema@.ledger_reverse, @schema@.ledger_open_accounts,
    @schema@.ledger_close_account,
    @schema@.ledger_hold_chain, @schema@.ledger_post_hold, @schema@.ledger_void_hold, @schema@.ledger_expire_holds,
    @schema@.ledger_open_period, @schema@.ledger_close_period, @schema@.ledger_take_snapshot,
    @schema@.ledger_assert_balance
TO @app@;
