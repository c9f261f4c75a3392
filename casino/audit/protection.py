"""What PostgreSQL keeps of the audit trail: both roles read it, and write through functions only.

`audit_open_epoch`, `audit_rotate_key`, `audit_put_away` and `audit_bring_back` are the owner's: no other role can open
a new epoch, name another key, or touch an event.
"""

from casino.core.protection import ADD, READ, Function, Keep, Protection, Table, Trigger

_GROWS = "BEFORE UPDATE"
_IS_RECORDED = Trigger("is_recorded", "AFTER INSERT", "audit_require_recorded", deferred=True)

PROTECTION = Protection(
    tables=(
        Table(name="audit_chainhead", keep=Keep.TABLE, app=READ, sequencer=READ),
        Table(
            name="audit_event",
            keep=Keep.TABLE,
            triggers=(Trigger("no_change", "BEFORE UPDATE OR DELETE", "audit_event_stays"),),
            app=READ,
            sequencer=READ,
        ),
        Table(
            name="audit_archive",
            keep=Keep.ROWS,
            triggers=(Trigger("stays", "BEFORE UPDATE", "audit_archive_stays"),),
            app=ADD,
        ),
        Table(name="audit_posting", keep=Keep.APPEND_ONLY, app=READ),
        Table(
            name="audit_log",
            keep=Keep.ROWS,
            triggers=(Trigger("only_grows", _GROWS, "audit_log_grows"),),
            app=READ,
            sequencer=READ,
        ),
        Table(
            name="audit_mark",
            keep=Keep.ROWS,
            triggers=(Trigger("only_grows", _GROWS, "audit_mark_grows"),),
            app=READ,
            sequencer=READ,
        ),
        Table(name="audit_leaf", keep=Keep.APPEND_ONLY, app=READ, sequencer=READ),
        Table(name="audit_tile", keep=Keep.APPEND_ONLY, app=READ, sequencer=READ),
        Table(name="audit_checkpoint", keep=Keep.APPEND_ONLY, app=READ, sequencer=READ),
        Table(name="audit_cosignature", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="audit_timestamp", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="audit_epoch", keep=Keep.APPEND_ONLY, app=READ, sequencer=READ),
        Table(name="audit_keyrotation", keep=Keep.APPEND_ONLY, app=READ, sequencer=READ),
        # The ledger's table, with the ledger's own triggers and rights: see `casino/bookkeeping/protection.py`.
        Table(name="ledger_transaction", triggers=(_IS_RECORDED,)),
    ),
    functions=(
        Function(
            signature="audit_append(uuid, text, text, text, text, text, text, text, text, text, text)",
            app=True,
        ),
        Function(signature="audit_require_recorded()"),
        Function(signature="audit_excerpt(jsonb)"),
        Function(signature="audit_may_be_put_away(jsonb)"),
        Function(signature="audit_event_stays()"),
        Function(signature="audit_archive_stays()"),
        Function(signature="audit_put_away(uuid, integer)"),
        Function(signature="audit_bring_back(uuid, integer, bigint[], text[])"),
        Function(signature="audit_log_grows()"),
        Function(signature="audit_mark_grows()"),
        Function(signature="audit_lock_log(uuid)"),
        Function(signature="audit_take_up_log(uuid, integer, text, text)", sequencer=True),
        Function(signature="audit_refuse(uuid, integer, text)", sequencer=True),
        Function(signature="audit_key_of_log(uuid, integer)", app=True, sequencer=True),
        Function(signature="audit_sequence(uuid, integer, bigint, bytea, text, bigint)", sequencer=True),
        Function(
            signature="audit_publish(uuid, integer, bigint, bytea, timestamptz, text, smallint[], bigint[], bytea[])",
            sequencer=True,
        ),
        Function(signature="audit_open_epoch(uuid, integer, text, bigint, text, bigint, integer, bigint, bytea)"),
        Function(signature="audit_rotate_key(uuid, integer, bigint, text, text, text, bigint)"),
    ),
)
