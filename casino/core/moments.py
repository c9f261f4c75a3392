"""Moments as answers and events write them."""

from datetime import UTC, datetime


def utc(at: datetime) -> str:
    """ISO 8601 in UTC, always to the microsecond: such texts sort by time."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def utc_or_none(at: datetime | None) -> str | None:
    """The same, None for none."""
    return None if at is None else utc(at)
