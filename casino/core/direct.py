"""Connections that must lead to PostgreSQL itself and not to a pooler.

A pooler in transaction mode lends a session to one client after the other. What holds a lock for a whole session (the
sequencer), shares a snapshot between sessions (verification, exports), or begins as another role than its login, would
hold, share or begin with what is somebody else's a moment later. Such a connection is refused when it is opened.

Whether there is a pooler is asked of the connection: a server says its process id to a client that connects, for
requests to cancel, and a pooler, whose clients have no process of their own, says a number that it has made up.
"""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

#: Aliases whose connections must be direct; so must those of any alias that send `options`.
ALIASES = frozenset({"owner", "sequencer", "direct"})


class BehindPoolerError(ImproperlyConfigured):
    """A connection that must be direct leads to a pooler."""

    def __init__(self, alias: str) -> None:
        super().__init__(
            f"The connection of {alias} leads to a pooler. It must lead to PostgreSQL itself: "
            "see docs/how-to/pool-connections.md."
        )


def require_direct(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Refuse a new connection that must be direct and is not. Raises BehindPoolerError."""
    if connection.alias not in ALIASES and not connection.settings_dict["OPTIONS"].get("options"):
        return
    raw = connection.connection
    [(pid,)] = raw.execute("SELECT pg_backend_pid()", prepare=False).fetchall()
    if pid != raw.info.backend_pid:
        connection.close()
        raise BehindPoolerError(connection.alias)


def install() -> None:
    """Look at every connection from now on."""
    connection_created.connect(require_direct, dispatch_uid=__name__)
