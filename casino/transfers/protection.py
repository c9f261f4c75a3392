"""What PostgreSQL keeps of transfers, boxes, the tronc and movements of chips."""

from casino.core.protection import WRITE, Function, Keep, Protection, Rights, Table, Trigger

_INSERT = Rights(insert=True)
_FILLED_IN = Trigger("filled_in", "BEFORE UPDATE OR DELETE", "houses_filled_in")

PROTECTION = Protection(
    tables=(
        Table(
            name="transfers_transfer",
            keep=Keep.TABLE,
            triggers=(Trigger("stays", "BEFORE UPDATE OR DELETE", "transfers_stay"),),
            app=WRITE,
        ),
        Table(
            name="transfers_serial",
            keep=Keep.ROWS,
            triggers=(Trigger("counts_on", "BEFORE UPDATE", "transfers_count_on"),),
            app=Rights(insert=True, update=("last",)),
        ),
        Table(name="transfers_box", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="transfers_traycount", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="transfers_boxcount", keep=Keep.APPEND_ONLY, app=_INSERT),
        Table(name="transfers_chipmove", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="transfers_chipmovecount", keep=Keep.APPEND_ONLY, app=_INSERT),
        Table(name="transfers_lateclaim", keep=Keep.APPEND_ONLY, app=_INSERT),
        Table(name="transfers_troncpool", keep=Keep.APPEND_ONLY, app=_INSERT),
        Table(
            name="transfers_troncshare",
            keep=Keep.TABLE,
            triggers=(_FILLED_IN,),
            app=Rights(insert=True, update=("drawer_id", "paid_by_id", "paid_at")),
        ),
    ),
    functions=(
        Function(signature="transfers_count_on()"),
        Function(signature="transfers_stay()"),
    ),
)
