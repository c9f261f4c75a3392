"""What only seals and the catalogue can record: rows that were changed so that everything still adds up, and guards
that are gone. Damage is done as a superuser, with the guards off, and rolled back."""

import pytest
from django.db import connections, transaction

from ledger import catalogue, checks
from ledger.findings import Finding
from ledger.models import Transaction
from tests.ledger.support import OWNER, Shop, run
from tests.ledger.test_checks import busy, damaged

__all__ = ["busy"]

LAST = "(SELECT max(id) FROM ledger_transaction WHERE book = %(book)s)"
ANY = "(SELECT min(id) FROM ledger_transaction WHERE book = %(book)s)"
REMOVE_LAST = f"""
WITH gone AS (DELETE FROM ledger_entry WHERE transaction_id = {LAST} RETURNING account_id, version),
head AS (DELETE FROM ledger_transaction WHERE id = {LAST})
UPDATE ledger_account a
SET version = p.version, balance = p.balance_after, posted_at = (SELECT posted_at FROM ledger_transaction
                                                                 WHERE id = p.transaction_id)
FROM gone g JOIN ledger_entry p ON p.account_id = g.account_id AND p.version = g.version - 1
WHERE a.id = g.account_id
"""


@pytest.mark.parametrize(
    ("sql", "subject"),
    [
        (f"UPDATE ledger_transaction SET kind = 'other' WHERE id = {ANY}", "transaction"),
        (f"UPDATE ledger_transaction SET idempotency_key = 'other' WHERE id = {ANY}", "transaction"),
        (f"UPDATE ledger_transaction SET metadata = '{{\"a\": 1}}' WHERE id = {ANY}", "transaction"),
        (f"UPDATE ledger_transaction SET occurred_at = now() WHERE id = {ANY}", "transaction"),
        (f"UPDATE ledger_transaction SET posted_at = posted_at - interval '1 us' WHERE id = {ANY}", "transaction"),
        ("UPDATE ledger_transaction SET reverses_id = NULL WHERE book = %(book)s AND reverses_id IS NOT NULL",
         "transaction"),
        ("UPDATE ledger_transaction SET period_id = (SELECT id FROM ledger_period WHERE book = %(book)s AND"
         " name = 'tuesday') WHERE book = %(book)s AND idempotency_key = 'sale'", "transaction"),
        ("UPDATE ledger_account SET code = 'deposit:other' WHERE id = %(anna)s", "account"),
        ("UPDATE ledger_account SET kind = 'asset' WHERE id = %(anna)s", "account"),
        ("UPDATE ledger_account SET min_balance = NULL WHERE id = %(anna)s", "account"),
        ("UPDATE ledger_account SET weight = 0 WHERE book = %(book)s AND weight <> 0", "account"),
        ("UPDATE ledger_account SET normal_side = -normal_side WHERE book = %(book)s AND version = 0", "account"),
        ("DELETE FROM ledger_hold WHERE book = %(book)s AND key = 'held'", "hold"),
        ("UPDATE ledger_hold SET ended_at = now() WHERE book = %(book)s AND key = 'held'", "end of hold"),
        ("UPDATE ledger_hold SET expires_at = expires_at + interval '1 day' WHERE book = %(book)s", "hold"),
        ("DELETE FROM ledger_assertion WHERE book = %(book)s", "assertion"),
        ("UPDATE ledger_assertion SET metadata = '{\"a\": 1}' WHERE book = %(book)s", "assertion"),
        ("DELETE FROM ledger_snapshot_line WHERE snapshot_id IN (SELECT id FROM ledger_snapshot WHERE book = %(book)s)",
         "lines of snapshot"),
        ("UPDATE ledger_snapshot SET taken_at = now() WHERE book = %(book)s", "snapshot"),
        ("UPDATE ledger_period SET opened_at = now() WHERE book = %(book)s", "period"),
        ("UPDATE ledger_period SET closed_at = NULL WHERE book = %(book)s", "closing of period"),
        (REMOVE_LAST, "transaction"),
        (f"DELETE FROM ledger_seal WHERE book = %(book)s AND kind = 1 AND id = {ANY}", "transaction"),
    ],
)  # fmt: skip
def test_what_was_changed_is_found(busy: Shop, sql: str, subject: str) -> None:
    with damaged(sql, {"book": busy.book, "anna": busy.anna}):
        findings = checks.verify(busy.book, using=OWNER)
    changed = [finding for finding in findings if finding.check == "seals"]
    assert subject in {finding.subject.rpartition(" ")[0] for finding in changed}, findings


def test_a_removed_last_transaction_leaves_nothing_else_amiss(busy: Shop) -> None:
    """Otherwise the case above would prove little."""
    busy.post("last", (busy.anna, 1), (busy.bela, -1))
    last = Transaction.objects.filter(book=busy.book).latest("id").id
    with damaged(REMOVE_LAST, {"book": busy.book}):
        found = [one for one in checks.verify(busy.book, using=OWNER) if one.check != "catalogue"]
    assert found == [Finding("seals", f"transaction {last}", "is gone")]


def test_no_hand_writes_seals(busy: Shop) -> None:
    for sql in (
        "INSERT INTO ledger_seal SELECT * FROM ledger_seal LIMIT 1",
        "UPDATE ledger_seal SET hash = ''",
        "DELETE FROM ledger_seal",
        "TRUNCATE ledger_seal",
    ):
        with pytest.raises(Exception, match="is refused"):
            run(OWNER, sql)


def test_what_is_recorded_elsewhere_follows_every_seal(busy: Shop) -> None:
    before = checks.recorded(busy.book)
    assert before == checks.recorded(str(busy.book)) and len(before) == 64
    with damaged("DELETE FROM ledger_seal WHERE book = %(book)s", {"book": busy.book}):
        assert checks.recorded(busy.book, using=OWNER) != before
    busy.post("next", (busy.anna, 1), (busy.bela, -1))
    assert checks.recorded(busy.book) != before


# --- The catalogue --------------------------------------------------------------------------------------------------


def test_a_migrated_database_is_as_declared(live_db: None) -> None:
    """`make catalogue` writes the file, where a migration changed what there is."""
    assert catalogue.differences() == []
    assert len(catalogue.declared()) > 200


REWRITTEN = """
CREATE OR REPLACE FUNCTION ledger_entry_apply() RETURNS trigger LANGUAGE plpgsql
SET search_path = public, pg_temp SET enable_seqscan = off AS $$ BEGIN RETURN NULL; END $$
"""


@pytest.mark.parametrize(
    ("sql", "subject", "detail"),
    [
        ("DROP TRIGGER ledger_entry_fixed ON ledger_entry", "trigger ledger_entry.ledger_entry_fixed", "missing"),
        ("ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_fixed", "trigger ledger_entry.ledger_entry_fixed",
         "disabled"),
        ("ALTER TABLE ledger_entry ENABLE TRIGGER ledger_entry_fixed", "trigger ledger_entry.ledger_entry_fixed",
         "not in replica mode"),
        ("CREATE TRIGGER mine BEFORE INSERT ON ledger_entry FOR EACH ROW EXECUTE FUNCTION ledger_refuse()",
         "trigger ledger_entry.mine", "no migration"),
        (REWRITTEN, "function ledger_entry_apply()", "differs"),
        ("ALTER FUNCTION ledger_post_one RESET search_path", "function ledger_post_one(", "differs"),
        ("ALTER FUNCTION ledger_post_one SECURITY INVOKER", "function ledger_post_one(", "differs"),
        ("CREATE FUNCTION ledger_mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "function ledger_mine()",
         "no migration"),
        ("ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_floor",
         "constraint ledger_account.ledger_account_floor", "missing"),
        ("DROP INDEX ledger_transaction_key_key", "index ledger_transaction.ledger_transaction_key_key", "missing"),
        ("ALTER TABLE ledger_entry ALTER amount DROP NOT NULL", "column ledger_entry.amount", "differs"),
        ("GRANT INSERT ON ledger_entry TO PUBLIC", "rights on table ledger_entry", "PUBLIC INSERT"),
        ("GRANT UPDATE (code) ON ledger_account TO PUBLIC", "rights on column ledger_account.code", "PUBLIC UPDATE"),
        ("GRANT EXECUTE ON FUNCTION ledger_end_hold TO PUBLIC", "rights on function ledger_end_hold(", "PUBLIC"),
        ("GRANT DELETE ON ledger_entry TO pg_monitor", "rights on table ledger_entry", "pg_monitor DELETE"),
        ("ALTER TABLE ledger_entry SET UNLOGGED", "table ledger_entry", "persistence u"),
        ("CREATE RULE mine AS ON INSERT TO ledger_seal DO INSTEAD NOTHING", "rule ledger_seal.mine", "no migration"),
    ],
)  # fmt: skip
def test_what_guards_the_rows_is_compared(live_db: None, sql: str, subject: str, detail: str) -> None:
    with transaction.atomic(using=OWNER):
        with connections[OWNER].cursor() as cursor:
            cursor.execute(sql)
        found = catalogue.differences(using=OWNER)
        transaction.set_rollback(True, using=OWNER)
    assert any(one.subject.startswith(subject) and detail in one.detail for one in found), found
    assert len({one.subject for one in found}) <= 2


def test_a_right_to_read_that_no_migration_gave_is_named(live_db: None) -> None:
    with transaction.atomic(using=OWNER):
        run(OWNER, "GRANT SELECT ON ledger_entry TO pg_monitor")
        [found] = catalogue.differences(using=OWNER)
        transaction.set_rollback(True, using=OWNER)
    assert found.subject == "rights on table ledger_entry" and "pg_monitor SELECT" in found.detail
