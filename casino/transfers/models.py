"""Transfers between a drawer and a table's tray, and soft counts of a table's boxes.

Both need two people: a person who has signed for chips cannot sign for the same chips at the other end. The rows are
work under way that any restart finds again; the ledger says where the chips are.
"""

from django.db import models
from django.db.models import F, Q

from casino.cage.models import Drawer
from casino.houses.models import ClockTimestamp, House, HouseRow
from casino.staff.models import Staff, TerminalKind
from casino.tables.models import Table


class Kind(models.TextChoices):
    """Which way the chips go."""

    FILL = "fill", "from the cage to a table's tray"
    CREDIT = "credit", "from a table's tray to the cage"


#: The two ends of a transfer: from where, and to where.
SENDER = {Kind.FILL: TerminalKind.CAGE, Kind.CREDIT: TerminalKind.TABLE}
RECEIVER = {Kind.FILL: TerminalKind.TABLE, Kind.CREDIT: TerminalKind.CAGE}


class TransferState(models.TextChoices):
    """requested (nothing has moved) -> sent (in transit) -> received, or declined (in transit, and not wanted).

    What was requested, sent or declined can be cancelled, which brings the chips back to where they came from."""

    REQUESTED = "requested"
    SENT = "sent"
    DECLINED = "declined"
    RECEIVED = "received"
    CANCELLED = "cancelled"


#: States in which chips have been signed for and are at neither end.
IN_TRANSIT = (TransferState.SENT, TransferState.DECLINED)
#: States in which something is still to be done.
UNDER_WAY = (TransferState.REQUESTED, *IN_TRANSIT)
#: After how many counts that differ from what was sent a supervisor decides.
MOST_COUNTS = 2
#: Minutes after which a transfer under way is late, and after which it is an exception.
LATE_AFTER, EXCEPTION_AFTER = 15, 30


class Lateness(models.TextChoices):
    """Whether a transfer under way takes too long."""

    IN_TIME = "in_time"
    LATE = "late"
    EXCEPTION = "exception"


class Serial(HouseRow):
    """The last number of one series of a house: its fills, its credits. A number is given in the transaction that
    writes its row, so that a refused request leaves no gap."""

    series = models.CharField(max_length=16)
    last = models.PositiveIntegerField()

    class Meta:
        verbose_name = "series"
        constraints = [
            models.UniqueConstraint(fields=["house", "series"], name="serial_series"),
            models.CheckConstraint(condition=Q(last__gte=1), name="serial_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.series} {self.last}"


class Transfer(models.Model):
    """A fill or a credit: chips between one drawer and one table's tray. Chips as pieces by denomination."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="transfers")
    kind = models.CharField(max_length=6, choices=Kind.choices)
    #: From 1 without gaps, by house and kind. (The id identifies the row in addresses; it is no series.)
    serial = models.PositiveIntegerField()
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="transfers")
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="transfers")
    state = models.CharField(max_length=9, choices=TransferState.choices, default=TransferState.REQUESTED)
    #: What was asked for: {"amount": minor units}, {"pieces": {...}}, or both.
    requested = models.JSONField()
    opened_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(db_default=ClockTimestamp())
    sent = models.JSONField(null=True)
    sent_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    sent_at = models.DateTimeField(null=True)
    #: Who carried the chips: a third person, named by the sender or by the receiver.
    carried_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    #: Counts of the other end that differed from what was sent: `pieces`, `by` (login), and the `request` that sent it.
    miscounts = models.JSONField(default=list)
    declined_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    declined_at = models.DateTimeField(null=True)
    #: What the other end counted; differs from `sent` only where a supervisor accepted a variance.
    counted = models.JSONField(null=True)
    ended_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)
    #: Why it was declined, then why it was cancelled; or why a variance was accepted.
    reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        verbose_name = "transfer"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="transfer_kind"),
            models.CheckConstraint(condition=Q(state__in=TransferState.values), name="transfer_state"),
            models.CheckConstraint(
                condition=Q(state=TransferState.REQUESTED, sent__isnull=True)
                | Q(state=TransferState.CANCELLED)
                | Q(sent__isnull=False, sent_by__isnull=False, sent_at__isnull=False),
                name="transfer_sent_is_signed",
            ),
            models.CheckConstraint(
                condition=~Q(state=TransferState.RECEIVED) | Q(counted__isnull=False, ended_by__isnull=False),
                name="transfer_received_is_counted",
            ),
            models.CheckConstraint(
                condition=~Q(state=TransferState.RECEIVED) | ~Q(ended_by=F("sent_by")), name="transfer_two_persons"
            ),
            models.UniqueConstraint(fields=["house", "kind", "serial"], name="transfer_serial"),
            models.CheckConstraint(
                condition=~Q(state=TransferState.RECEIVED)
                | (Q(carried_by__isnull=False) & ~Q(carried_by=F("sent_by")) & ~Q(carried_by=F("ended_by"))),
                name="transfer_carried_by_a_third",
            ),
            models.CheckConstraint(
                condition=~Q(state=TransferState.CANCELLED)
                | Q(sent__isnull=True)
                | (Q(declined_by__isnull=True) & ~Q(ended_by=F("sent_by")))
                | (Q(declined_by__isnull=False) & ~Q(declined_by=F("sent_by")) & ~Q(declined_by=F("ended_by"))),
                name="transfer_cancelled_by_two",
            ),
        ]
        indexes = [
            models.Index(
                fields=["house", "id"],
                condition=Q(state__in=["requested", "sent", "declined"]),
                name="transfer_under_way",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def places(self) -> dict[str, str]:
        """Its ends, as the table of postings names them."""
        return {"table": self.table.code, "drawer": self.drawer.code}


class CountState(models.TextChoices):
    """counted (by the cashier, nothing has moved) -> confirmed (by the floor, posted), or voided."""

    COUNTED = "counted"
    CONFIRMED = "confirmed"
    VOIDED = "voided"


class SoftCount(models.Model):
    """A count of one table's drop box and tax box at a drawer.

    The expected values are the books' values for the boxes when the count was entered. What falls into the boxes after
    that belongs to the next count.
    """

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="soft_counts")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="soft_counts")
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="soft_counts")
    state = models.CharField(max_length=9, choices=CountState.choices, default=CountState.COUNTED)
    #: Minor units, and pieces by denomination.
    expected_cash = models.BigIntegerField()
    expected_pieces = models.JSONField()
    counted_cash = models.BigIntegerField()
    counted_pieces = models.JSONField()
    counted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    counted_at = models.DateTimeField(db_default=ClockTimestamp())
    ended_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "soft count"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=CountState.values), name="soft_count_state"),
            models.UniqueConstraint(
                fields=["house", "table"], condition=Q(state="counted"), name="soft_count_one_open"
            ),
            models.CheckConstraint(
                condition=~Q(state=CountState.CONFIRMED) | (Q(ended_by__isnull=False) & ~Q(ended_by=F("counted_by"))),
                name="soft_count_two_persons",
            ),
            models.CheckConstraint(condition=Q(counted_cash__gte=0, expected_cash__gte=0), name="soft_count_cash"),
        ]

    def __str__(self) -> str:
        return f"{self.table_id} {self.pk}"
