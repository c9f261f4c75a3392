"""Drawers and their shifts."""

from django.db import models
from django.db.models import Q

from casino.houses.models import ClockTimestamp, House, HouseRow
from casino.players.models import REFERENCE
from casino.staff.models import Staff


class DrawerState(models.TextChoices):
    """Whether a shift is in progress at a drawer."""

    OPEN = "open"
    CLOSED = "closed"


class Drawer(models.Model):
    """One cashier's drawer, with its cash and chips. `version` grows with every write."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="drawers")
    code = models.CharField(max_length=32, validators=[REFERENCE])
    version = models.BigIntegerField(default=1)

    class Meta:
        verbose_name = "drawer"
        constraints = [models.UniqueConstraint(fields=["house", "code"], name="drawer_code")]

    def __str__(self) -> str:
        return self.code

    @property
    def chain(self) -> str:
        """Name of the drawer's audit chain."""
        return f"drawer/{self.code}"

    def account(self, number: str) -> str:
        """Account code of one of the drawer's own accounts, e.g. `1020/C1` for its cash."""
        return f"{number}/{self.code}"


class Shift(HouseRow):
    """A drawer from its opening float to its count. Amounts in minor units, chips at face value."""

    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="shifts")
    number = models.PositiveIntegerField()
    opened_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(db_default=ClockTimestamp())
    float_cash = models.BigIntegerField()
    float_chips = models.BigIntegerField()
    #: The float's chips, and those expected and counted at the end, as pieces by denomination.
    float_pieces = models.JSONField(default=dict)
    closed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    closed_at = models.DateTimeField(null=True)
    expected_cash = models.BigIntegerField(null=True)
    counted_cash = models.BigIntegerField(null=True)
    expected_chips = models.BigIntegerField(null=True)
    counted_chips = models.BigIntegerField(null=True)
    expected_pieces = models.JSONField(null=True)
    counted_pieces = models.JSONField(null=True)

    class Meta:
        verbose_name = "shift"
        constraints = [
            models.UniqueConstraint(fields=["house", "drawer", "number"], name="shift_number"),
            models.UniqueConstraint(fields=["house", "drawer"], condition=Q(closed_at=None), name="shift_one_open"),
            models.CheckConstraint(
                condition=Q(closed_at=None, counted_cash=None, counted_chips=None)
                | Q(
                    closed_at__isnull=False,
                    closed_by__isnull=False,
                    expected_cash__isnull=False,
                    counted_cash__isnull=False,
                    expected_chips__isnull=False,
                    counted_chips__isnull=False,
                ),
                name="shift_closed_is_counted",
            ),
            models.CheckConstraint(condition=Q(float_cash__gte=0, float_chips__gte=0), name="shift_float"),
        ]

    def __str__(self) -> str:
        return f"{self.drawer_id}/{self.number}"
