"""Transfers between a drawer and a table's tray, counts of a table's boxes, the tronc, and chips that come into the
vault or leave it.

All need two people: a person who has signed for chips cannot sign for the same chips at the other end. The rows are
work under way that any restart finds again; the ledger says where the chips are.
"""

from django.db import models
from django.db.models import F, Q

from casino.cage.models import Drawer
from casino.chips.models import ChipSet
from casino.houses.models import ClockTimestamp, House, HouseRow
from casino.staff.models import Staff, TerminalKind
from casino.tables.models import Table
from casino.transfers.late_models import LateClaim as LateClaim  # one file of models a subject


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


#: Seconds for which the pieces of a fill that was asked for are set aside in its drawer.
RESERVED_SECONDS = 3600


class Reservation(models.TextChoices):
    """What became of the chips that were set aside for a fill; empty where none were."""

    PENDING = "pending"
    VOIDED = "voided"
    EXPIRED = "expired"


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
    #: From 1 without gaps, by house and kind; people and addresses name it so.
    serial = models.PositiveIntegerField()
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="transfers")
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="transfers")
    state = models.CharField(max_length=9, choices=TransferState.choices, default=TransferState.REQUESTED)
    #: What was asked for: {"amount": minor units}, {"pieces": {...}}, or both.
    requested = models.JSONField()
    #: Whether the pieces were set aside when a table asked for them, and how that ended when they were sent or the fill
    #: was cancelled; empty where they were not, because the drawer did not have them or only an amount was named.
    reservation = models.CharField(max_length=7, choices=Reservation.choices, blank=True, default="", db_default="")
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
                condition=Q(reservation="") | Q(kind=Kind.FILL, reservation__in=Reservation.values),
                name="transfer_reservation",
            ),
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


class BoxKind(models.TextChoices):
    """What falls into a table's box."""

    DROP = "drop", "cash that players put down"
    TAX = "tax", "chips of the tax and of fees"
    TIP = "tip", "chips of tips"


class BoxState(models.TextChoices):
    """at_table -> taken (off the table, sealed) -> brought (to the count room) -> counted (by two, blind of each other,
    or as a supervisor decided) -> received (by a third, into the vault, and posted)."""

    AT_TABLE = "at_table"
    TAKEN = "taken"
    BROUGHT = "brought"
    COUNTED = "counted"
    RECEIVED = "received"


#: States in which a box is off its table and its contents are still in the books of the table.
UNPOSTED = (BoxState.TAKEN, BoxState.BROUGHT, BoxState.COUNTED)


class Box(models.Model):
    """One stay of one locked box at a table, and what was counted in it: cash in minor units, chips as pieces by
    denomination. What is expected is what the books had in it when it was taken off the table."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="boxes")
    #: From 1 without gaps, by house.
    serial = models.PositiveIntegerField()
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="boxes")
    kind = models.CharField(max_length=4, choices=BoxKind.choices)
    #: Painted on the box.
    number = models.CharField(max_length=32)
    state = models.CharField(max_length=8, choices=BoxState.choices, default=BoxState.AT_TABLE)
    put_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    put_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Number of the seal it was taken off with, and as it was read in the count room.
    seal = models.CharField(max_length=32, blank=True, default="")
    taken_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    taken_at = models.DateTimeField(null=True)
    #: The gaming day to which its contents belong, however late they are counted; empty before it is taken off, and
    #: where the house books without days.
    for_day = models.CharField(max_length=10, blank=True, default="")
    expected_cash = models.BigIntegerField(null=True)
    expected_pieces = models.JSONField(null=True)
    seal_read = models.CharField(max_length=32, blank=True, default="")
    brought_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    brought_at = models.DateTimeField(null=True)
    #: How often two counts have differed.
    differing_rounds = models.PositiveSmallIntegerField(default=0)
    counted_cash = models.BigIntegerField(null=True)
    counted_pieces = models.JSONField(null=True)
    decided_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    #: Why the supervisor decided so, and who of surveillance has watched.
    reason = models.CharField(max_length=200, blank=True, default="")
    observer = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    received_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    received_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "box"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=BoxKind.values), name="box_kind"),
            models.CheckConstraint(condition=Q(state__in=BoxState.values), name="box_state"),
            models.UniqueConstraint(fields=["house", "serial"], name="box_serial"),
            models.UniqueConstraint(
                fields=["house", "table", "kind"], condition=Q(state="at_table"), name="box_one_at_table"
            ),
            models.UniqueConstraint(
                fields=["house", "number"], condition=Q(state__in=["at_table", "taken", "brought"]), name="box_in_use"
            ),
            models.CheckConstraint(
                condition=Q(state=BoxState.AT_TABLE)
                | ~Q(seal="")
                & Q(
                    taken_by__isnull=False,
                    taken_at__isnull=False,
                    expected_cash__gte=0,
                    expected_pieces__isnull=False,
                ),
                name="box_taken_is_sealed",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[BoxState.AT_TABLE, BoxState.TAKEN])
                | (~Q(seal_read="") & Q(brought_by__isnull=False) & ~Q(brought_by=F("taken_by"))),
                name="box_brought_by_another",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[BoxState.COUNTED, BoxState.RECEIVED])
                | Q(counted_cash__gte=0, counted_pieces__isnull=False),
                name="box_counted",
            ),
            models.CheckConstraint(
                condition=~Q(state=BoxState.RECEIVED)
                | (
                    Q(received_by__isnull=False, received_at__isnull=False)
                    & ~Q(received_by=F("taken_by"))
                    & (Q(decided_by__isnull=True) | ~Q(received_by=F("decided_by")))
                ),
                name="box_received_by_a_third",
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None, observer=None)
                | (Q(decided_by__isnull=False, observer__isnull=False) & ~Q(observer=F("decided_by"))),
                name="box_decided_before_surveillance",
            ),
        ]

    def __str__(self) -> str:
        return f"box {self.serial}"


class BoxCount(HouseRow):
    """One person's count of a box. Two of one round are compared; nobody is shown the other one's."""

    box = models.ForeignKey(Box, on_delete=models.PROTECT, related_name="counts")
    round = models.PositiveSmallIntegerField()
    cash = models.BigIntegerField()
    pieces = models.JSONField()
    counted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    counted_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "count of a box"
        constraints = [
            models.UniqueConstraint(fields=["house", "box", "round", "counted_by"], name="box_count_by_two"),
            models.CheckConstraint(condition=Q(cash__gte=0), name="box_count_cash"),
        ]

    def __str__(self) -> str:
        return f"{self.box_id}/{self.round}"


class TroncPool(models.Model):
    """Tips that were counted, shared among the staff once, in minor units."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="tronc_pools")
    #: From 1 without gaps, by house.
    serial = models.PositiveIntegerField()
    amount = models.BigIntegerField()
    shared_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    shared_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "tronc pool"
        constraints = [
            models.UniqueConstraint(fields=["house", "serial"], name="tronc_pool_serial"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="tronc_pool_amount"),
        ]

    def __str__(self) -> str:
        return f"tronc {self.serial}"


class TroncShare(HouseRow):
    """A person's share of a pool in minor units, by points or hours; paid once."""

    pool = models.ForeignKey(TroncPool, on_delete=models.PROTECT, related_name="shares")
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    points = models.PositiveIntegerField()
    amount = models.BigIntegerField()
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="+", null=True)
    paid_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    paid_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "share of the tronc"
        constraints = [
            models.UniqueConstraint(fields=["house", "pool", "staff"], name="tronc_share_once"),
            models.CheckConstraint(condition=Q(points__gt=0, amount__gte=0), name="tronc_share_amount"),
            models.CheckConstraint(
                condition=Q(paid_at__isnull=True, paid_by__isnull=True, drawer__isnull=True)
                | (Q(paid_at__isnull=False, drawer__isnull=False, paid_by__isnull=False) & ~Q(paid_by=F("staff"))),
                name="tronc_share_paid_by_another",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pool_id}/{self.staff_id}"


class Purpose(models.TextChoices):
    """When a tray is counted."""

    OPENER = "opener", "before the table opens"
    CLOSER = "closer", "after the table has closed"
    BOX_CHANGE = "box_change", "when boxes are changed"
    CHECK = "check", "at any other time"


class TrayCountState(models.TextChoices):
    """waiting (for its witness) -> confirmed (the witness has counted the same; posted), differed (count again), or
    replaced by a newer count."""

    WAITING = "waiting"
    CONFIRMED = "confirmed"
    DIFFERED = "differed"
    REPLACED = "replaced"


class TrayException(models.TextChoices):
    """What is wrong with an opener."""

    NONE = "", "nothing"
    DIFFERS = "differs_from_closer", "chips came or went since the last closer without a transfer"
    NO_CLOSER = "no_closer", "no closer was counted since the opener before it"


class TrayCount(models.Model):
    """A count of a table's tray by the dealer, and by the floor as its witness. Pieces by denomination; what is
    expected is what the books had in the tray when the first count was entered."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="tray_counts")
    #: From 1 without gaps, by house.
    serial = models.PositiveIntegerField()
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="tray_counts")
    purpose = models.CharField(max_length=10, choices=Purpose.choices)
    state = models.CharField(max_length=9, choices=TrayCountState.choices, default=TrayCountState.WAITING)
    expected = models.JSONField()
    pieces = models.JSONField()
    counted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    counted_at = models.DateTimeField(db_default=ClockTimestamp())
    witnessed = models.JSONField(null=True)
    witnessed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    exception = models.CharField(max_length=19, choices=TrayException.choices, blank=True, default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "tray count"
        constraints = [
            models.CheckConstraint(condition=Q(purpose__in=Purpose.values), name="tray_count_purpose"),
            models.CheckConstraint(condition=Q(state__in=TrayCountState.values), name="tray_count_state"),
            models.UniqueConstraint(fields=["house", "serial"], name="tray_count_serial"),
            models.UniqueConstraint(
                fields=["house", "table"], condition=Q(state="waiting"), name="tray_count_one_waiting"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[TrayCountState.WAITING, TrayCountState.REPLACED])
                | (Q(witnessed__isnull=False, witnessed_by__isnull=False) & ~Q(witnessed_by=F("counted_by"))),
                name="tray_count_two_persons",
            ),
        ]

    def __str__(self) -> str:
        return f"tray count {self.serial}"


class MoveKind(models.TextChoices):
    """What chips of the vault are counted for."""

    DELIVERY = "delivery", "new chips come from the maker"
    SET_ASIDE = "set_aside", "chips of the vault are put aside, to be destroyed"
    WITHDRAWN = "withdrawn", "chips of a withdrawn set come from a drawer that has taken them back"
    DESTRUCTION = "destruction", "chips that were put aside are destroyed before surveillance"


class MoveState(models.TextChoices):
    """waiting (for counts) -> done (posted), or differed: of a delivery, two counts agree and are not what the note
    says, and a manager decides (-> done); of anything else it ends there, and a new one begins."""

    WAITING = "waiting"
    DIFFERED = "differed"
    DONE = "done"


class ChipMove(models.Model):
    """Chips that come into the vault or leave it for ever: pieces by denomination of one set. The first person writes
    what the delivery note says, or what was counted out; others count without knowing it."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="chip_moves")
    kind = models.CharField(max_length=11, choices=MoveKind.choices)
    #: From 1 without gaps, by house, of all kinds; people and addresses name it so.
    serial = models.PositiveIntegerField()
    chip_set = models.ForeignKey(ChipSet, on_delete=models.PROTECT, related_name="+")
    #: The drawer that withdrawn chips come from, all that it has of the set.
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="+", null=True)
    #: Number of the delivery note, or why the chips go.
    paper = models.CharField(max_length=200)
    state = models.CharField(max_length=8, choices=MoveState.choices, default=MoveState.WAITING)
    noted = models.JSONField()
    noted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    noted_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Who of surveillance attends a destruction.
    observer = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    #: How often two counts have differed.
    differing_rounds = models.PositiveSmallIntegerField(default=0)
    counted = models.JSONField(null=True)
    decided_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    #: Why a delivery was taken that is not what its note says.
    reason = models.CharField(max_length=200, blank=True, default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "movement of chips"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=MoveKind.values), name="chip_move_kind"),
            models.CheckConstraint(condition=Q(state__in=MoveState.values), name="chip_move_state"),
            models.UniqueConstraint(fields=["house", "serial"], name="chip_move_serial"),
            models.CheckConstraint(
                condition=Q(kind=MoveKind.DESTRUCTION, observer__isnull=False) & ~Q(observer=F("noted_by"))
                | ~Q(kind=MoveKind.DESTRUCTION) & Q(observer=None),
                name="chip_move_observed",
            ),
            models.CheckConstraint(
                condition=Q(kind=MoveKind.WITHDRAWN, drawer__isnull=False)
                | ~Q(kind=MoveKind.WITHDRAWN) & Q(drawer=None),
                name="chip_move_from_a_drawer",
            ),
            models.CheckConstraint(
                condition=~Q(state=MoveState.DONE) | Q(counted__isnull=False, ended_at__isnull=False),
                name="chip_move_counted",
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None, reason="")
                | Q(kind=MoveKind.DELIVERY, state=MoveState.DONE, decided_by__isnull=False)
                & ~Q(reason="")
                & ~Q(decided_by=F("noted_by")),
                name="chip_move_decided_by_another",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.serial}"


class ChipMoveCount(HouseRow):
    """One person's count of a movement of chips; nobody is shown another one's while counts are missing."""

    move = models.ForeignKey(ChipMove, on_delete=models.PROTECT, related_name="counts")
    round = models.PositiveSmallIntegerField()
    pieces = models.JSONField()
    counted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    counted_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "count of a movement of chips"
        constraints = [
            models.UniqueConstraint(fields=["house", "move", "round", "counted_by"], name="chip_move_count_by_two")
        ]

    def __str__(self) -> str:
        return f"{self.move_id}/{self.round}"
