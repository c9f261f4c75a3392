"""An event with any data under a registered name, for tests of what lies below the declarations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from casino.audit.events import AuditEvent

#: Data of kinds that tests use for events of no consequence.
USUAL: dict[str, dict[str, Any]] = {
    "house.duty": {"amount": 1, "posting": 1},
    "table.tray_stocked": {"amount": 1, "chips": {"5": 1}},
}


@dataclass(frozen=True, kw_only=True)
class AnyEvent(AuditEvent):
    """What no service records: the fields of `kind` are not checked, `content` is its data."""

    kind: str
    content: Mapping[Any, Any] = field(default_factory=dict)
    reason: str | None = None
    approver: str | None = None

    @property
    def KIND(self) -> str:  # type: ignore[override]
        """The name under which it is recorded."""
        return self.kind

    @property
    def data(self) -> dict[Any, Any]:
        """The content."""
        return dict(self.content)
