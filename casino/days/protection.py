"""What PostgreSQL keeps of gaming days: a package stays as it was made, and is signed once; its bytes may be deleted,
never changed."""

from casino.core.protection import Keep, Protection, Rights, Table, Trigger

PROTECTION = Protection(
    tables=(
        Table(
            name="days_package",
            keep=Keep.TABLE,
            triggers=(Trigger("filled_in", "BEFORE UPDATE OR DELETE", "houses_filled_in"),),
            app=Rights(insert=True, update=("signed_by_id", "signed_at")),
        ),
        Table(name="days_packagecontent", keep=Keep.VALUES, app=Rights(insert=True, delete=True)),
    ),
)
