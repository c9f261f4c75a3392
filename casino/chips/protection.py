"""What PostgreSQL keeps of the chips. The denominations of a set never change."""

from casino.core.protection import ADD, WRITE, Keep, Protection, Table

PROTECTION = Protection(
    tables=(
        Table(name="chips_chipset", keep=Keep.TABLE, app=WRITE),
        Table(name="chips_denomination", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="chips_imbalance", keep=Keep.TABLE, app=WRITE),
    ),
)
