"""Writing events. If the event cannot be written, the change it records does not happen either."""

import os
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from casino.audit import guard
from casino.audit.events.registry import AuditEvent, require_known
from casino.core import canonical, patience, sql
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
        """The house's own worker, which acts for no person; `request` says what made it act."""
        return cls(staff="worker", role="system", terminal="", request=request)

    @classmethod
    def operator(cls, command: str) -> "Actor":
        """The person who runs a management command that asks for no password. Only the operating system's user and
        machine are known; they stand where the terminal does."""
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


#: SQLSTATE of sql/append.sql.
NOT_OURS = "KZ903"
_APPEND = (
    f"SELECT seq, leaf_hash FROM {patience.PATIENT.format(type='uuid')}, LATERAL audit_append(patient.value,"  # noqa: S608 - a constant
    " %s::text, %s::text, %s::text, %s::text, %s::text, %s::text, %s::text, %s::text, %s::text, %s::text)"
)


def record(*, chain: str, house: House, actor: Actor, event: AuditEvent, using: str = DEFAULT_DB_ALIAS) -> Receipt:
    """Append one event that records no posting to a chain in the current transaction of `using`; the chain's head stays
    locked until it ends. What posts is recorded by :meth:`casino.core.work.Work.record`.

    The event's data are canonical JSON (no floats, amounts in minor units, no personal data). One round trip:
    PostgreSQL takes the lock, stamps time and number, links and hashes. Raises UnknownEvent for a kind that is not
    registered for such a chain, TypeError for data that are not canonical, a LogRefused (503) while the house's log was
    rolled back.
    """
    require_recordable(chain, house, event, using)
    data, beside = canonical.dumps(event.data), event.beside_data
    values = [
        house.id,
        patience.lock_timeout(),
        chain,
        event.KIND,
        actor.staff,
        actor.role,
        actor.terminal,
        actor.request,
        data,
        beside.get("approver"),
        beside.get("reason"),
        None,
    ]
    [(seq, leaf_hash)] = sql.bound(_APPEND, values, using)
    return Receipt(chain, seq, leaf_hash)


def require_recordable(
    chain: str, house: House, event: AuditEvent, using: str = DEFAULT_DB_ALIAS, *, alone: bool = False
) -> None:
    """Refuse an event outside a transaction (unless it is written `alone`, in one statement with everything that it
    records), of a kind that is not registered for such a chain, or while the house's log was rolled back. Raises
    RuntimeError, UnknownEvent, a LogRefused."""
    if not alone and not connections[using].in_atomic_block:
        raise RuntimeError("an audit event belongs in the transaction of the change it records")
    require_known(event.KIND, chain)
    if event.KIND not in guard.ALLOWED:
        guard.require(house)


def not_ours(postings: Sequence[Mapping[str, Any]]) -> ProofFailed:
    """What NOT_OURS of these postings means."""
    return ProofFailed(
        "An event records only what its own transaction has posted in its own house.",
        code="posting_not_ours",
        postings=[posting["tx"] for posting in postings],
    )
