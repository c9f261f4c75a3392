"""What PostgreSQL keeps of the house, and of the tables in which Django notes its own work."""

from casino.core.protection import ADD, READ, USE, Function, Keep, Protection, Rights, Table, Trigger

PROTECTION = Protection(
    tables=(
        Table(
            name="houses_house",
            keep=Keep.TABLE,
            triggers=(Trigger("stage_follows", "BEFORE UPDATE", "houses_stage_follows"),),
            app=Rights(
                insert=True, update=("stage", "name", "currency", "currency_exponent", "time_zone", "day_cut_off")
            ),
            sequencer=READ,
        ),
        Table(name="houses_identity", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="houses_houserules", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="houses_dutyrates", keep=Keep.APPEND_ONLY, app=ADD),
        Table(
            name="houses_rehearsalrun",
            keep=Keep.ROWS,
            app=Rights(
                insert=True,
                update=("state", "worked_until", "tries", "sandbox", "part_count", "failure", "ended_at"),
            ),
        ),
        Table(name="houses_rehearsal", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="houses_golivesignature", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="houses_datakey", keep=Keep.ROWS, app=ADD),
        Table(
            name="houses_limits",
            keep=Keep.APPEND_ONLY,
            triggers=(Trigger("from_now_on", "BEFORE INSERT", "houses_limits_from_now_on"),),
            app=ADD,
        ),
        Table(
            name="houses_outboxmessage",
            keep=Keep.TABLE,
            triggers=(Trigger("kept", "BEFORE DELETE", "houses_outbox_kept"),),
            app=USE,
        ),
        Table(name="django_migrations", app=READ, sequencer=READ),
        Table(name="django_content_type", app=READ),
    ),
    functions=(
        Function(signature="houses_refuse_change()"),
        Function(signature="houses_limits_from_now_on()"),
        Function(signature="houses_filled_in()"),
        Function(signature="houses_outbox_kept()"),
        Function(signature="houses_stage_follows()"),
        # The end of every write, `casino/core/functions/record.sql`: it runs with the rights of the caller.
        Function(
            signature="core_record(uuid, text, text, text, text, text, text, text, text, text, text, text, text, text, "
            "timestamptz, text, bigint[], bigint[], bigint[], bigint[], text[], text[], bigint, text, text, smallint, "
            "bigint, text)",
            app=True,
        ),
        Function(signature="core_utc(timestamptz)", app=True),
    ),
)
