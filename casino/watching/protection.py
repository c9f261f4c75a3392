"""What PostgreSQL keeps of what compliance is written: nothing goes, and to a row that is there only who an unknown
person is, and the withdrawal of a line, are added."""

from casino.core.protection import ADD, Keep, Protection, Rights, Table

PROTECTION = Protection(
    tables=(
        Table(
            name="watching_unknownperson",
            keep=Keep.ROWS,
            app=Rights(insert=True, update=("player_id", "identified_by_id", "identified_at")),
        ),
        Table(
            name="watching_logline",
            keep=Keep.ROWS,
            app=Rights(insert=True, update=("withdrawn_by_id", "withdrawn_at", "withdrawn_reason")),
        ),
        Table(name="watching_filing", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="watching_eurorate", keep=Keep.APPEND_ONLY, app=ADD),
    ),
)
