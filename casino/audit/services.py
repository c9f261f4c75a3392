"""Writing events. If the event cannot be written, the change it tells of does not happen either."""

import os
import pwd
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

from casino.audit import guard
from casino.audit.events.registry import Told, require_known
from casino.core import canonical, sql
from casino.core import pending_postings as untold
from casino.core.errors import ProofFailed
from casino.houses.models import House


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acted: login (or the name of a system process), role, terminal, request id."""

    staff: str
    role: str
    terminal: str
    request: str

    @classmethod
    def system(cls, request: str) -> "Actor":
        """The house's own worker, which nobody has to ask; `request` says what made it act."""
        return cls(staff="worker", role="system", terminal="", request=request)

    @classmethod
    def operator(cls, command: str) -> "Actor":
        """Whoever runs a management command that asks for no password: what is known of him is the operating system's
        user and machine, and that stands where the terminal does."""
        try:
            user = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            user = str(os.getuid())
        return cls(staff="operator", role="system", terminal=f"os:{user}@{os.uname().nodename}", request=command)


@dataclass(frozen=True, slots=True)
class Receipt:
    """An event's place: chain name, gapless sequence number in it, leaf hash (64 hex digits)."""

    chain: str
    seq: int
    hash: str

    def as_json(self) -> dict[str, Any]:
        """As answers carry it."""
        return {"chain": self.chain, "seq": self.seq, "hash": self.hash}


#: SQLSTATE of sql/0005/append.sql.
_NOT_OURS = "KZ903"
_APPEND = (
    "SELECT seq, leaf_hash FROM audit_append(%s::uuid, %s::text, %s::text, %s::text, %s::text, %s::text, %s::text,"
    " %s::text, %s::text, %s::text, %s::text)"
)


def record(*, chain: str, house: House, actor: Actor, told: Told, using: str = DEFAULT_DB_ALIAS) -> Receipt:
    """Append one event to a chain in the current transaction of `using`; the chain's head stays locked until it ends.

    The event tells every ledger transaction that this database transaction has posted and no earlier event told. What
    it says is canonical JSON (no floats, amounts in minor units, no personal data). One round trip: PostgreSQL takes
    the lock, stamps time and number, links and hashes. Raises UnknownEvent for a kind that is not registered for such a
    chain, TypeError for data that are not canonical, a LogRefused (503) while the house's log was rolled back, and
    ProofFailed `posting_not_ours` where a posting is not of this house and this database transaction.
    """
    if not connections[using].in_atomic_block:
        raise RuntimeError("an audit event belongs into the transaction of the change it records")
    require_known(told.kind, chain)
    if told.kind not in guard.ALLOWED:
        guard.require(house)
    data = canonical.dumps(dict(told.data))
    postings = untold.take(using)
    values = [
        house.id,
        chain,
        told.kind,
        actor.staff,
        actor.role,
        actor.terminal,
        actor.request,
        data,
        told.approver,
        told.reason,
        canonical.dumps(postings) if postings else None,
    ]
    try:
        [(seq, leaf_hash)] = sql.bound(_APPEND, values, using)
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", None) != _NOT_OURS:
            raise
        ids = [posting["tx"] for posting in postings]
        raise ProofFailed(
            "An event tells only what its own transaction has posted in its own house.",
            code="posting_not_ours",
            postings=ids,
        ) from error
    return Receipt(chain, seq, leaf_hash)
