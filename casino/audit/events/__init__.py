"""Every kind of event of the audit trail, one typed function each; EVENTS.md beside this package lists them."""

from casino.audit.events import cage, cards, chips, custody, deals, hands, house, log, players, reads, staff, tables
from casino.audit.events.registry import EVENTS, Kind, Told, UnknownEvent

__all__ = [
    "EVENTS",
    "Kind",
    "Told",
    "UnknownEvent",
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
    "staff",
    "tables",
]
