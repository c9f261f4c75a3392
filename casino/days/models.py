"""The packages of closed gaming days."""

from django.db import models
from django.db.models import F, Q

from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Staff


class Package(models.Model):
    """The package of a closed gaming day: one ZIP file, made once. Its version is 1, and 2 when an auditor has
    signed."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    day = models.CharField(max_length=10)
    content = models.BinaryField()
    #: Of the content, 64 hex digits.
    sha256 = models.CharField(max_length=64)
    #: Bytes of the content.
    size = models.BigIntegerField()
    #: The ledger's id of the day's closing snapshot.
    snapshot = models.BigIntegerField()
    #: The newest checkpoint that was known, `{"epoch": ..., "size": ..., "root": ...}`; null where there was none.
    checkpoint = models.JSONField(null=True)
    made_at = models.DateTimeField(db_default=ClockTimestamp())
    #: The manager who closed the day.
    closed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    #: The auditor who signed the SHA-256.
    signed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    signed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "package of a gaming day"
        constraints = [
            models.UniqueConstraint(fields=["house", "day"], name="package_day"),
            models.CheckConstraint(
                condition=Q(signed_by=None, signed_at=None)
                | Q(signed_by__isnull=False, signed_at__isnull=False) & ~Q(signed_by=F("closed_by")),
                name="package_signed_by_another",
            ),
        ]

    def __str__(self) -> str:
        return self.day

    @property
    def version(self) -> int:
        """1, and 2 when it is signed."""
        return 1 if self.signed_by_id is None else 2
