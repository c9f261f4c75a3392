"""What PostgreSQL keeps of the cage."""

from casino.core.protection import WRITE, Keep, Protection, Rights, Table, Trigger

_FILLED_IN = Trigger("filled_in", "BEFORE UPDATE OR DELETE", "houses_filled_in")

PROTECTION = Protection(
    tables=(
        Table(name="cage_handover", keep=Keep.TABLE, app=WRITE),
        Table(name="cage_drawer", keep=Keep.TABLE, app=WRITE),
        Table(name="cage_shift", keep=Keep.TABLE, app=WRITE),
        Table(name="cage_vaultcount", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="cage_bankbag", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="cage_announcedcashout", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="cage_heldpayout", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="cage_foundchips", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="cage_noncashbuyin", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="cage_varianceoffset", keep=Keep.APPEND_ONLY, app=Rights(insert=True)),
        Table(name="cage_vaultcountentry", keep=Keep.APPEND_ONLY, app=Rights(insert=True)),
    ),
)
