"""The packages of closed gaming days."""

from django.db import models
from django.db.models import F, Q

from casino.houses.models import ClockTimestamp, House, HouseRow
from casino.staff.models import Staff


class Package(models.Model):
    """The package of a closed gaming day: one ZIP file, made once. Its version is 1, and 2 when an auditor has
    signed."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    day = models.CharField(max_length=10)
    #: Of the content (:class:`PackageContent`), 64 hex digits.
    sha256 = models.CharField(max_length=64)
    #: Bytes of the content.
    size = models.BigIntegerField()
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


class PackageContent(HouseRow):
    """The bytes of a package, until they need not be kept any more."""

    package = models.OneToOneField(Package, on_delete=models.PROTECT, primary_key=True, related_name="bytes")
    content = models.BinaryField()

    class Meta:
        verbose_name = "content of a package"

    def __str__(self) -> str:
        return str(self.package_id)
