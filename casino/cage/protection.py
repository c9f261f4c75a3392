"""What PostgreSQL keeps of the cage."""

from casino.core.protection import WRITE, Keep, Protection, Table

PROTECTION = Protection(
    tables=(
        Table(name="cage_handover", keep=Keep.TABLE, app=WRITE),
        Table(name="cage_drawer", keep=Keep.TABLE, app=WRITE),
        Table(name="cage_shift", keep=Keep.TABLE, app=WRITE),
    ),
)
