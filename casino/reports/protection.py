"""What PostgreSQL keeps of reports: runs and the names of files stay; the bytes may be deleted, never changed."""

from casino.core.protection import ADD, Keep, Protection, Rights, Table

PROTECTION = Protection(
    tables=(
        Table(
            name="reports_reportrun",
            keep=Keep.ROWS,
            app=Rights(
                insert=True,
                update=("state", "as_of", "row_count", "worked_until", "equalities", "failure", "ended_at"),
            ),
        ),
        Table(name="reports_reportfile", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="reports_printout", keep=Keep.APPEND_ONLY, app=ADD),
        Table(
            name="reports_reportschedule",
            keep=Keep.ROWS,
            app=Rights(insert=True, update=("stopped", "stopped_at")),
        ),
        Table(
            name="reports_delivery",
            keep=Keep.ROWS,
            app=Rights(insert=True, update=("state", "attempts", "problem", "next_at", "worked_until", "ended_at")),
        ),
        Table(name="reports_reportpart", keep=Keep.VALUES, app=Rights(insert=True, delete=True)),
    ),
)
