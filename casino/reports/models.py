"""Runs of reports and the files that they made."""

from django.db import models
from django.db.models import Q

from casino.houses.models import ClockTimestamp, House, HouseRow
from casino.staff.models import Staff


class RunState(models.TextChoices):
    """waiting -> made, failed or cancelled; nothing leads back."""

    WAITING = "waiting"
    MADE = "made"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ReportRun(models.Model):
    """A report that somebody has asked for. Its version is 1 while it waits, then 2."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    #: From 1 in each house.
    number = models.PositiveIntegerField()
    report = models.CharField(max_length=40)
    report_version = models.PositiveIntegerField()
    filters = models.JSONField()
    #: The column to sum by; empty: none.
    group_by = models.CharField(max_length=40)
    formats = models.JSONField()
    #: How files are written: `separator`, `decimal`.
    style = models.JSONField()
    #: The run whose moment this one repeats; null: it has one of its own.
    repeats = models.PositiveIntegerField(null=True)
    #: Which paper of it this is, among the runs that repeat one moment: 1 is the original; 0: it makes no paper.
    copy = models.PositiveIntegerField()
    requested_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(db_default=ClockTimestamp())
    state = models.CharField(max_length=12, choices=RunState, default=RunState.WAITING)
    #: What it knows: `transaction`, `event`, `checkpoint`, `at`; null until the worker begins.
    as_of = models.JSONField(null=True)
    #: Rows so far.
    row_count = models.BigIntegerField(default=0)
    #: Until when the worker that makes it has it for itself; null: none has begun.
    worked_until = models.DateTimeField(null=True)
    #: Equalities as they were computed, in the order of the report; null while they are not.
    equalities = models.JSONField(null=True)
    #: Why it failed: a stable code; empty: it did not.
    failure = models.CharField(max_length=40, default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "run of a report"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="report_run_number"),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="report_run_state"),
            models.CheckConstraint(
                condition=Q(state=RunState.WAITING, ended_at=None)
                | ~Q(state=RunState.WAITING) & Q(ended_at__isnull=False),
                name="report_run_ended",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.number} of {self.report}"

    @property
    def version(self) -> int:
        """What ETag and If-Match say."""
        return 1 if self.state == RunState.WAITING else 2


class ReportFile(HouseRow):
    """A file of a run. Its bytes are in its parts until they are deleted."""

    run = models.ForeignKey(
        ReportRun, on_delete=models.PROTECT, related_name="files", db_index=False, db_constraint=False
    )
    name = models.CharField(max_length=100)
    #: Bytes.
    size = models.BigIntegerField()
    #: Of the content, 64 hex digits.
    sha256 = models.CharField(max_length=64)

    class Meta:
        verbose_name = "file of a report"
        constraints = [models.UniqueConstraint(fields=["house", "run", "name"], name="report_file_name")]

    def __str__(self) -> str:
        return self.name


class ReportPart(HouseRow):
    """A stretch of a file, so that no file is ever whole in memory."""

    file = models.ForeignKey(
        ReportFile, on_delete=models.PROTECT, related_name="parts", db_index=False, db_constraint=False
    )
    #: From 0.
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        verbose_name = "part of a report's file"
        constraints = [models.UniqueConstraint(fields=["house", "file", "number"], name="report_part_number")]

    def __str__(self) -> str:
        return f"{self.file_id}/{self.number}"


class PrintForm(models.TextChoices):
    """What a printout is."""

    SLIP = "slip", "a slip of 80 mm"
    A4 = "a4", "pages"


class Printout(HouseRow):
    """A document that was printed: a receipt, a statement, a slip. Its file is made from what it is about whenever it
    is read."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: What was printed: the same name for every copy of it.
    document = models.CharField(max_length=200)
    #: From 1 at its document; 1 is the original.
    copy = models.PositiveIntegerField()
    form = models.CharField(max_length=4, choices=PrintForm)
    #: ISO 639-1.
    language = models.CharField(max_length=2)
    #: `chain` and `seq` of an event; `from` and `until` of a statement; `player`.
    about = models.JSONField()
    #: Of a statement: the moment up to which the original knows everything; null: it is about one event.
    as_of = models.JSONField(null=True)
    #: Login of the person, or the player at whose seat it was asked for.
    printed_by = models.CharField(max_length=150)
    printed_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "printout"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="printout_number"),
            models.UniqueConstraint(fields=["house", "document", "copy"], name="printout_copy"),
            models.CheckConstraint(condition=Q(form__in=PrintForm.values), name="printout_form"),
        ]

    def __str__(self) -> str:
        return f"copy {self.copy} of {self.document}"


class Cadence(models.TextChoices):
    """When a schedule falls due."""

    DAY_CLOSE = "day_close", "when a gaming day is closed"
    DAILY = "daily", "on every date"
    MONTHLY = "monthly", "on the first of every month, about the month before"
    OFF = "off", "never: the schedule has ended"


class ReportSchedule(HouseRow):
    """A version of a schedule: what is sent where, and when. None is edited; the one that began last is in force."""

    name = models.CharField(max_length=40)
    #: From 1 at its name.
    number = models.PositiveIntegerField()
    valid_from = models.DateTimeField()
    #: Id of a report, or `package`: the package of a gaming day.
    what = models.CharField(max_length=40)
    cadence = models.CharField(max_length=10, choices=Cadence)
    #: From which time of the house's zone on, `06:00`; nothing for what follows the day's close.
    time_of_day = models.CharField(max_length=5)
    formats = models.JSONField()
    #: Values by name of the filter, as a run has them, without the days: those are the period's.
    filters = models.JSONField()
    #: Names of destinations, which the operator has set up.
    destinations = models.JSONField()
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    set_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    #: Number of the approval; null where none was needed.
    approval = models.PositiveIntegerField(null=True)
    #: Stable code of why it has stopped, and when; empty and null: it has not.
    stopped = models.CharField(max_length=24, default="")
    stopped_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "version of a schedule"
        constraints = [
            models.CheckConstraint(
                condition=Q(stopped="", stopped_at=None) | ~Q(stopped="") & Q(stopped_at__isnull=False),
                name="report_schedule_stopped",
            ),
            models.UniqueConstraint(fields=["house", "name", "number"], name="report_schedule_number"),
            models.CheckConstraint(condition=Q(cadence__in=Cadence.values), name="report_schedule_cadence"),
        ]

    def __str__(self) -> str:
        return f"{self.name}/{self.number}"


class DeliveryState(models.TextChoices):
    """waiting -> sent, failed (there will be nothing to send) or withdrawn (its schedule has ended)."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"


class Delivery(HouseRow):
    """Files on their way to one destination; tried again until they are there, or their schedule ends."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    schedule = models.CharField(max_length=40)
    #: The version of the schedule.
    version = models.PositiveIntegerField()
    #: What it is for: a gaming day, a date or a month.
    period = models.CharField(max_length=10)
    destination = models.CharField(max_length=40)
    #: Number of the run whose files are sent; null: the package of the day `period`.
    run = models.PositiveIntegerField(null=True)
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    #: Stable code of why the last attempt failed; empty: it did not.
    problem = models.CharField(max_length=40, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    next_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Until when the worker that sends it has it for itself; null: none has begun.
    worked_until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "delivery of files"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="report_delivery_number"),
            models.UniqueConstraint(fields=["house", "schedule", "period", "destination"], name="report_delivery_once"),
            models.CheckConstraint(condition=Q(state__in=DeliveryState.values), name="report_delivery_state"),
            models.CheckConstraint(
                condition=Q(state=DeliveryState.WAITING, ended_at=None)
                | ~Q(state=DeliveryState.WAITING) & Q(ended_at__isnull=False),
                name="report_delivery_ended",
            ),
        ]

    def __str__(self) -> str:
        return f"delivery {self.number}"
