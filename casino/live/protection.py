"""What PostgreSQL keeps of webhooks: what was subscribed stays; positions move."""

from casino.core.protection import Keep, Protection, Rights, Table

PROTECTION = Protection(
    tables=(
        Table(name="live_webhook", keep=Keep.ROWS, app=Rights(insert=True, update=("ended_at", "problem"))),
        Table(
            name="live_webhookposition",
            keep=Keep.ROWS,
            app=Rights(
                insert=True,
                update=(
                    "position", "until", "attempts", "problem", "failing_since", "sent_at", "next_at", "worked_until",
                ),
            ),
        ),
    ),
)  # fmt: skip
