"""What PostgreSQL keeps of staff and terminals. Sessions and the lock of sign-ins (axes) come and go."""

from casino.core.protection import ADD, USE, WRITE, Keep, Protection, Rights, Table

PROTECTION = Protection(
    tables=(
        Table(name="staff_staff", keep=Keep.TABLE, app=WRITE),
        Table(name="staff_terminal", keep=Keep.TABLE, app=WRITE),
        Table(name="staff_answeredrequest", keep=Keep.TABLE, app=WRITE),
        Table(name="staff_terminaltoken", app=USE),
        Table(name="axes_accessattempt", app=USE),
        Table(name="axes_accessattemptexpiration", app=USE),
        Table(name="axes_accesslog", app=ADD),
        Table(name="axes_accessfailurelog", app=Rights(insert=True, delete=True)),
    ),
)
