"""What PostgreSQL keeps of exclusions, minors, limits, admissions, interactions and reality checks: nothing goes but
the marks of an exclusion that is over, and nothing but the end of an exclusion, of a match, or of a minor's claim, and
what has paid the winnings, is ever written to a row that is there."""

from casino.core.protection import ADD, Keep, Protection, Rights, Table

PROTECTION = Protection(
    tables=(
        Table(
            name="safeguards_exclusion",
            keep=Keep.ROWS,
            app=Rights(
                insert=True,
                update=("lift_asked_at", "lift_asked_by_id", "lifted_at", "lifted_by_id", "lift_cause"),
            ),
        ),
        # Marks go with retention, once the exclusion is over; a mark is never another one.
        Table(name="safeguards_exclusionmark", keep=Keep.VALUES, app=Rights(insert=True, delete=True)),
        Table(
            name="safeguards_exclusionmatch",
            keep=Keep.ROWS,
            app=Rights(insert=True, update=("cleared_at", "cleared_by_id")),
        ),
        Table(
            name="safeguards_minor",
            keep=Keep.ROWS,
            app=Rights(
                insert=True,
                update=(
                    *("state", "stakes", "deposit", "held", "refund", "kept", "borne", "payout"),
                    *("ended_by_id", "ended_at", "remit_by", "remittance_id"),
                ),
            ),
        ),
        Table(name="safeguards_remittance", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="safeguards_admission", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="safeguards_playerlimit", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="safeguards_interaction", keep=Keep.APPEND_ONLY, app=ADD),
        Table(name="safeguards_realitycheck", keep=Keep.APPEND_ONLY, app=ADD),
    ),
)
