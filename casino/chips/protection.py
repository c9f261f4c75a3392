"""What PostgreSQL keeps of the chips. The denominations of a set never change, nor do templates."""

from casino.core.protection import ADD, WRITE, Function, Keep, Protection, Table, Trigger

PROTECTION = Protection(
    tables=(
        Table(name="chips_chipset", keep=Keep.TABLE, app=WRITE),
        Table(name="chips_denomination", keep=Keep.APPEND_ONLY, app=ADD),
        Table(
            name="chips_template",
            keep=Keep.APPEND_ONLY,
            triggers=(Trigger("from_now_on", "BEFORE INSERT", "chips_template_from_now_on"),),
            app=ADD,
        ),
        Table(name="chips_imbalance", keep=Keep.TABLE, app=WRITE),
    ),
    functions=(Function(signature="chips_template_from_now_on()"),),
)
