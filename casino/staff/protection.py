"""The protection of staff and terminals by PostgreSQL. Sessions, passkeys and the locks of sign-ins
(axes) may be deleted."""

from casino.core.protection import ADD, USE, WRITE, Function, Keep, Protection, Rights, Table, Trigger

PROTECTION = Protection(
    tables=(
        Table(name="staff_staff", keep=Keep.TABLE, app=WRITE),
        Table(name="staff_terminal", keep=Keep.TABLE, app=WRITE),
        Table(name="staff_rotaentry", keep=Keep.ROWS, app=WRITE),
        Table(
            name="staff_answeredrequest",
            keep=Keep.TABLE,
            triggers=(Trigger("kept", "BEFORE DELETE", "staff_answers_kept"),),
            app=USE,
        ),
        Table(name="staff_terminaltoken", app=USE),
        Table(name="staff_passkey", app=USE),
        Table(name="staff_passkeychallenge", app=USE),
        Table(name="axes_accessattempt", app=USE),
        Table(name="axes_accessattemptexpiration", app=USE),
        Table(name="axes_accesslog", app=ADD),
        Table(name="axes_accessfailurelog", app=Rights(insert=True, delete=True)),
    ),
    functions=(
        Function(signature="staff_answers_kept()"),
        Function(signature="staff_still_signed_in(uuid, text, text)", app=True),
    ),
)
