"""What PostgreSQL keeps of approvals."""

from casino.core.protection import ADD, WRITE, Function, Keep, Protection, Table, Trigger

_STAYS = Trigger("stays", "BEFORE INSERT OR UPDATE OR DELETE", "approvals_stay")
_IN_TIME = Trigger("in_time", "BEFORE INSERT", "approvals_assent")

PROTECTION = Protection(
    tables=(
        Table(name="approvals_approval", keep=Keep.TABLE, triggers=(_STAYS,), app=WRITE),
        Table(name="approvals_assent", keep=Keep.APPEND_ONLY, triggers=(_IN_TIME,), app=ADD),
    ),
    functions=(Function(signature="approvals_stay()"), Function(signature="approvals_assent()")),
)
