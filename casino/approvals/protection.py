"""What PostgreSQL keeps of approvals."""

from casino.core.protection import WRITE, Function, Keep, Protection, Table, Trigger

_STAYS = Trigger("stays", "BEFORE INSERT OR UPDATE OR DELETE", "approvals_stay")

PROTECTION = Protection(
    tables=(Table(name="approvals_approval", keep=Keep.TABLE, triggers=(_STAYS,), app=WRITE),),
    functions=(Function(signature="approvals_stay()"),),
)
