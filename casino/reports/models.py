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
