"""What PostgreSQL keeps of the tables."""

from casino.core.protection import ADD, WRITE, Function, Keep, Protection, Table, Trigger

_STAYS = Trigger("stays", "BEFORE UPDATE OR DELETE", "tables_seat_key_stays")

PROTECTION = Protection(
    tables=(
        Table(name="tables_dealerturn", keep=Keep.TABLE, app=WRITE),
        Table(name="tables_waitingentry", keep=Keep.TABLE, app=WRITE),
        Table(name="tables_tableterms", keep=Keep.TABLE, app=WRITE),
        Table(name="tables_table", keep=Keep.TABLE, app=WRITE),
        Table(name="tables_tablesession", keep=Keep.TABLE, app=WRITE),
        Table(name="tables_seating", keep=Keep.TABLE, app=WRITE),
        Table(name="tables_seatdevice", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="tables_seatkey", keep=Keep.TABLE, triggers=(_STAYS,), app=WRITE),
    ),
    functions=(Function(signature="tables_seat_key_stays()"),),
)
