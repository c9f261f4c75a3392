"""Every kind of event of the audit trail, one frozen class each; docs/reference/events.md lists them."""

from casino.audit.events import (
    approvals,
    cage,
    cards,
    chips,
    custody,
    deals,
    hands,
    house,
    log,
    players,
    reads,
    reports,
    staff,
    tables,
    waiting,
)
from casino.audit.events.registry import EVENTS, AuditEvent, DrawerEvent, TableEvent, UnknownEvent

__all__ = [
    "EVENTS",
    "AuditEvent",
    "DrawerEvent",
    "TableEvent",
    "UnknownEvent",
    "approvals",
    "cage",
    "cards",
    "chips",
    "custody",
    "deals",
    "hands",
    "house",
    "log",
    "players",
    "reads",
    "reports",
    "staff",
    "tables",
    "waiting",
]
