"""What PostgreSQL keeps of transfers and counts."""

from casino.core.protection import WRITE, Function, Keep, Protection, Table, Trigger

_STAYS = Trigger("stays", "BEFORE UPDATE OR DELETE", "transfers_stay")

PROTECTION = Protection(
    tables=(
        Table(name="transfers_transfer", keep=Keep.TABLE, triggers=(_STAYS,), app=WRITE),
        Table(name="transfers_softcount", keep=Keep.TABLE, triggers=(_STAYS,), app=WRITE),
    ),
    functions=(Function(signature="transfers_stay()"),),
)
