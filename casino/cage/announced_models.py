"""Cash that is set aside in a drawer for a cash-out that was announced."""

from django.db import models
from django.db.models import F, Q

from casino.houses.models import ClockTimestamp, House
from casino.players.models import Player
from casino.staff.models import Staff

#: The longest time for which cash is set aside, in minutes: a shift.
MOST_MINUTES = 720


class AnnouncedState(models.TextChoices):
    """announced (its cash is set aside) -> paid, withdrawn, or expired when its time was over."""

    ANNOUNCED = "announced"
    PAID = "paid"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class AnnouncedCashOut(models.Model):
    """A cash-out that somebody has announced at a drawer. Amounts in minor units."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="announced_cash_outs")
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    drawer = models.ForeignKey("cage.Drawer", on_delete=models.PROTECT, related_name="announced_cash_outs")
    #: Who is to be paid; null for for the person who brings the chips.
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+", null=True)
    amount = models.BigIntegerField()
    minutes = models.PositiveSmallIntegerField()
    #: Until when the cash is set aside, by the ledger's hold.
    until = models.DateTimeField()
    state = models.CharField(max_length=9, choices=AnnouncedState.choices, default=AnnouncedState.ANNOUNCED)
    announced_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    announced_at = models.DateTimeField(db_default=ClockTimestamp())
    #: What was paid, at most the amount.
    paid = models.BigIntegerField(null=True)
    #: Who has paid or withdrawn it; nobody where its time was over.
    ended_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        verbose_name = "announced cash-out"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="announced_number"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="announced_amount"),
            models.CheckConstraint(condition=Q(minutes__gte=1, minutes__lte=MOST_MINUTES), name="announced_minutes"),
            models.CheckConstraint(
                condition=Q(state=AnnouncedState.ANNOUNCED, paid=None, ended_by=None, ended_at=None, reason="")
                | Q(
                    state=AnnouncedState.PAID, paid__gt=0, paid__lte=F("amount"), ended_by__isnull=False,
                    ended_at__isnull=False, reason="",
                )
                | (
                    Q(state=AnnouncedState.WITHDRAWN, paid=None, ended_by__isnull=False, ended_at__isnull=False)
                    & ~Q(reason="")
                )
                | Q(state=AnnouncedState.EXPIRED, paid=None, ended_by=None, ended_at__isnull=False, reason=""),
                name="announced_ends_once",
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"announced cash-out {self.number}"

    @property
    def hold_key(self) -> str:
        """Key of the ledger's hold that sets its cash aside."""
        return f"{HOLD}:{self.number}"


#: What keys of holds for announced cash-outs begin with.
HOLD = "cash_out"
