"""Chip sets and their denominations, templates of floats and trays, and what the continuous check of money against
custody has found."""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q

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
    #: What was still out when it lapsed: pieces by denomination, below zero where more had come back than went out.
    lapsed_pieces = models.JSONField(null=True, blank=True)
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
            models.CheckConstraint(
                condition=Q(lapsed_at__isnull=True, lapsed_pieces__isnull=True)
                | Q(lapsed_at__isnull=False, lapsed_pieces__isnull=False),
                name="chip_set_lapsed_with_pieces",
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


class PlaceKind(models.TextChoices):
    """Where the chips of a template lie."""

    DRAWER = "drawer"
    TABLE = "table"


class Template(HouseRow):
    """What a drawer begins with, or what a table's tray should hold, from a moment on. Rows are only ever added: what
    was in force stays known. One without cash and pieces takes the template away."""

    kind = models.CharField(max_length=6, choices=PlaceKind.choices)
    #: Code of the drawer or table.
    place = models.CharField(max_length=32)
    #: From 1 at each place, without gaps; of several from the same moment on, the last counts.
    number = models.PositiveIntegerField()
    valid_from = models.DateTimeField()
    chip_set = models.ForeignKey(ChipSet, on_delete=models.PROTECT, related_name="templates")
    #: Cash of a float, minor units.
    cash = models.BigIntegerField(default=0)
    pieces = models.JSONField()
    #: Pieces that a fill leaves in the drawer; a fill that leaves fewer takes an approval.
    least = models.JSONField(default=dict)
    #: Cash above which the drawer is to be skimmed, minor units; null: the house's control point.
    ceiling = models.BigIntegerField(null=True)
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Login of the person who proposed it, and number of the approval; null where none was needed.
    set_by = models.CharField(max_length=64)
    approval = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name = "template"
        constraints = [
            models.UniqueConstraint(fields=["house", "kind", "place", "number"], name="template_number"),
            models.CheckConstraint(condition=Q(kind__in=PlaceKind.values), name="template_kind"),
            models.CheckConstraint(
                condition=Q(cash__gte=0) & (Q(ceiling=None) | Q(ceiling__gte=F("cash"))), name="template_cash"
            ),
            models.CheckConstraint(
                condition=Q(kind=PlaceKind.DRAWER) | Q(kind=PlaceKind.TABLE, cash=0, least={}, ceiling=None),
                name="template_of_a_tray_is_chips",
            ),
        ]
        indexes = [
            models.Index(fields=["house", "kind", "place", "-valid_from", "-number"], name="template_in_force"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}/{self.place}/{self.number}"


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
