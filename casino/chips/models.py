"""Chip sets and their denominations, and what the continuous check of money against custody has found."""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from casino.houses.models import ClockTimestamp, House, HouseRow

#: Set codes stand in the ledger's commodities, `HUF.MAIN.500`: short, no dots.
SET_CODE_PATTERN = r"^[A-Z0-9_-]{1,16}\Z"
SET_CODE = RegexValidator(SET_CODE_PATTERN, "1 to 16 capital letters, digits, - or _")


class ChipSet(models.Model):
    """One set of chips of a house, in the house's currency: in use, waiting to be, or withdrawn, then lapsed and
    retired. The row of the set in use is locked by transactions that take chips off the public or out of the vault,
    because what they hold is read first and decided on."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="chip_sets")
    code = models.CharField(max_length=16, validators=[SET_CODE])
    in_use = models.BooleanField(default=True)
    introduced_at = models.DateTimeField(db_default=ClockTimestamp())
    #: When another set took its place, and the last day on which the house has promised to take it back.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    redeem_until = models.DateField(null=True, blank=True)
    lapsed_at = models.DateTimeField(null=True, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "chip set"
        constraints = [
            models.UniqueConstraint(fields=["house", "code"], name="chip_set_code"),
            models.UniqueConstraint(fields=["house"], condition=Q(in_use=True), name="chip_set_one_in_use"),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True, redeem_until__isnull=True, lapsed_at__isnull=True)
                | Q(in_use=False, withdrawn_at__isnull=False, redeem_until__isnull=False),
                name="chip_set_withdrawn_with_notice",
            ),
            models.CheckConstraint(condition=Q(in_use=False) | Q(retired_at=None), name="chip_set_retired_is_unused"),
        ]

    def __str__(self) -> str:
        return self.code


class Denomination(HouseRow):
    """One kind of chip. A set never changes: what is commissioned of it is somewhere, and must keep its meaning."""

    chip_set = models.ForeignKey(ChipSet, on_delete=models.PROTECT, related_name="denominations")
    #: Face value in minor units.
    value = models.BigIntegerField()
    colour = models.CharField(max_length=32, blank=True, default="")

    class Meta:
        verbose_name = "denomination"
        constraints = [
            models.UniqueConstraint(fields=["house", "chip_set", "value"], name="denomination_value"),
            models.CheckConstraint(condition=Q(value__gt=0), name="denomination_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.chip_set_id}.{self.value}"


class ImbalanceKind(models.TextChoices):
    """Which of the continuous checks found it."""

    CUSTODY = "custody"
    SNAPSHOT = "snapshot"


class Imbalance(models.Model):
    """A moment at which chips and what is owed for them, or a snapshot and the entries, were found to differ; open
    until a later check finds them equal. The database refuses what leads here, so an open row means that somebody went
    past it."""

    kind = models.CharField(max_length=16, choices=ImbalanceKind.choices, default=ImbalanceKind.CUSTODY)
    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="imbalances")
    found_at = models.DateTimeField(db_default=ClockTimestamp())
    #: What the check found: both sides of the invariant in minor units, denominations not accounted for, and where it
    #: arose (`casino/reports/narrowing.py`); or by snapshot, what its lines and the entries say.
    found = models.JSONField()
    cleared_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "imbalance"
        constraints = [
            models.UniqueConstraint(fields=["house", "kind"], condition=Q(cleared_at=None), name="imbalance_one_open")
        ]

    def __str__(self) -> str:
        return f"{self.house_id} {self.found_at}"
