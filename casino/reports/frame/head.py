"""What stands at the head of every file of a report."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from casino.reports.frame.report import AsOf, Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Whose report it is, what was asked for, by whom and when, and what it is as of. `exponent` is the number of
    decimals of the house's currency, `zone` the house's time zone."""

    report: Report
    house: str
    house_name: str
    currency: str
    exponent: int
    zone: str
    filters: Mapping[str, Any]
    group_by: str | None
    requested_by: str
    requested_at: datetime
    as_of: AsOf

    def as_json(self) -> dict[str, Any]:
        """As files have it."""
        return {
            "report": self.report.id,
            "number": self.report.number,
            "version": self.report.version,
            "title": self.report.title,
            "house": self.house,
            "house_name": self.house_name,
            "currency": self.currency,
            "currency_exponent": self.exponent,
            "time_zone": self.zone,
            "filters": dict(self.filters),
            "group_by": self.group_by,
            "requested_by": self.requested_by,
            "requested_at": utc(self.requested_at),
            "as_of": self.as_of.as_json(),
        }

    def lines(self) -> list[tuple[str, str]]:
        """As people read it: labels and words."""
        asked = ", ".join(f"{name} {value}" for name, value in self.filters.items()) or "none"
        checkpoint = self.as_of.checkpoint
        return [
            ("House", f"{self.house_name} ({self.house})"),
            ("Report", f"{self.report.number} {self.report.title}, version {self.report.version}"),
            ("Filters", asked + (f"; by {self.group_by}" if self.group_by else "")),
            ("Made for", f"{self.requested_by}, {utc(self.requested_at)}"),
            ("As of", f"ledger transaction {self.as_of.transaction}, {utc(self.as_of.at)}"),
            (
                "Audit log",
                "no checkpoint yet"
                if checkpoint is None
                else f"epoch {checkpoint.epoch}, {checkpoint.size} events, root {checkpoint.root}",
            ),
            ("Amounts", f"{self.currency}; times {self.zone}"),
        ]


def utc(moment: datetime) -> str:
    """A moment as all answers have it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
