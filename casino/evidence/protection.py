"""What PostgreSQL keeps of evidence: what was written stays, and what is empty is filled in once; entries of the sealed
register may be deleted, never changed."""

from casino.core.protection import ADD, WRITE, Keep, Protection, Rights, Table, Trigger

_FILLED_IN = Trigger("filled_in", "BEFORE UPDATE OR DELETE", "houses_filled_in")

PROTECTION = Protection(
    tables=(
        Table(name="evidence_complaint", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="evidence_complainttext", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="evidence_legalhold", keep=Keep.TABLE, triggers=(_FILLED_IN,), app=WRITE),
        Table(name="evidence_sealedentry", keep=Keep.VALUES, app=Rights(insert=True, delete=True)),
        Table(name="evidence_retentionrun", keep=Keep.APPEND_ONLY, app=ADD),
    ),
)
