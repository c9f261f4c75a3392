"""What PostgreSQL keeps of transfers and counts."""

from casino.core.protection import WRITE, Function, Keep, Protection, Rights, Table, Trigger

_STAYS = Trigger("stays", "BEFORE UPDATE OR DELETE", "transfers_stay")

PROTECTION = Protection(
    tables=(
        Table(name="transfers_transfer", keep=Keep.TABLE, triggers=(_STAYS,), app=WRITE),
        Table(
            name="transfers_serial",
            keep=Keep.ROWS,
            triggers=(Trigger("counts_on", "BEFORE UPDATE", "transfers_count_on"),),
            app=Rights(insert=True, update=("last",)),
        ),
        Table(name="transfers_softcount", keep=Keep.TABLE, triggers=(_STAYS,), app=WRITE),
    ),
    functions=(Function(signature="transfers_count_on()"), Function(signature="transfers_stay()")),
)
