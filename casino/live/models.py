"""Webhooks: who outside gets hints of which chains, and how far each chain has come there."""

from django.db import models
from django.db.models import Q

from casino.houses.models import ClockTimestamp, HouseRow
from casino.staff.models import Staff


class Webhook(HouseRow):
    """A subscription: hints of some chains are sent to one destination, until it ends."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: Name of the destination, which the operator has set up.
    destination = models.CharField(max_length=40)
    #: Names of chains, `table/T1`, and of all chains of a sort, `table/*`.
    chains = models.JSONField()
    subscribed_at = models.DateTimeField(db_default=ClockTimestamp())
    #: What this person may know is sent.
    subscribed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    #: Number of the approval; null where none was needed.
    approval = models.PositiveIntegerField(null=True)
    ended_at = models.DateTimeField(null=True)
    #: Stable code of why the house has ended it; empty: it goes on, or a person has.
    problem = models.CharField(max_length=40, default="")

    class Meta:
        verbose_name = "webhook"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="live_webhook_number"),
            models.CheckConstraint(condition=Q(problem="") | Q(ended_at__isnull=False), name="live_webhook_ended"),
        ]

    def __str__(self) -> str:
        return f"webhook {self.number}"


class WebhookPosition(HouseRow):
    """How far a chain has come at the receiver of a webhook, and what became of the last attempts."""

    webhook = models.ForeignKey(Webhook, on_delete=models.PROTECT, related_name="positions")
    chain = models.CharField(max_length=64)
    #: Number of the last event whose hint was taken.
    position = models.BigIntegerField()
    #: Number of the last event of what is being sent, so that the same is sent again; null: nothing is.
    until = models.BigIntegerField(null=True)
    #: Attempts that have failed since the last that succeeded.
    attempts = models.PositiveIntegerField(default=0)
    #: Stable code of why the last attempt failed; empty: it did not.
    problem = models.CharField(max_length=40, default="")
    failing_since = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Until when the process that sends it has it for itself; null: none has begun.
    worked_until = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "position of a webhook"
        constraints = [
            models.UniqueConstraint(fields=["house", "webhook", "chain"], name="live_webhook_chain"),
            models.CheckConstraint(
                condition=Q(until=None) | Q(until__gt=models.F("position")), name="live_webhook_until"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.chain}:{self.position}"
