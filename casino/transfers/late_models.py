"""Chips of a lapsed set that somebody has brought after all."""

from django.db import models
from django.db.models import Q

from casino.cage.models import Drawer
from casino.chips.models import ChipSet
from casino.houses.models import ClockTimestamp, House
from casino.players.models import Player
from casino.staff.models import Staff


class LateClaim(models.Model):
    """What the house has paid, by grace, for chips of a set that had lapsed. Amounts in minor units, chips as pieces by
    denomination."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="late_claims")
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="late_claims")
    chip_set = models.ForeignKey(ChipSet, on_delete=models.PROTECT, related_name="late_claims")
    #: Who has brought them.
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+")
    amount = models.BigIntegerField()
    pieces = models.JSONField()
    reason = models.CharField(max_length=200)
    paid_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    paid_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "late claim"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="late_claim_number"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="late_claim_amount"),
            models.CheckConstraint(condition=~Q(reason=""), name="late_claim_reason"),
        ]

    def __str__(self) -> str:
        return f"late claim {self.number}"
