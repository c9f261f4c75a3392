"""What a database transaction has posted and no audit event has told yet.

The list is kept among Django's hooks of the transaction, because they share its fate: a rollback, of a savepoint too,
forgets exactly what it undoes. That nothing stays untold is PostgreSQL's to see to when the transaction commits (a
deferred trigger, see `casino/audit/sql/0003/told.sql`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from casino import canonical
from ledger.exports import utc


@dataclass(slots=True, eq=False)
class _Posted:
    """One ledger transaction, as the event will tell it."""

    words: dict[str, Any]
    told: bool = False

    def __call__(self) -> None:
        """The transaction has committed: there is nothing left to do."""


def posted(transaction_id: int, legs: Sequence[tuple[str, str, int]], about: str) -> None:
    """Remember a posting: its legs as (account code, commodity, amount), debit positive; the rest of it as `about`."""
    words = {"tx": transaction_id, "legs": [list(leg) for leg in legs], "about": about}
    transaction.on_commit(_Posted(words))


def reversed_(transaction_id: int, undone: int, about: str) -> None:
    """Remember the mirror of an earlier ledger transaction."""
    transaction.on_commit(_Posted({"tx": transaction_id, "reverses": undone, "about": about}))


def about(key: str, kind: str, metadata: Mapping[str, Any], occurred: datetime | None, posted_at: datetime) -> str:
    """What an event tells of a ledger transaction besides its legs, as one hash (SHA-256 of the canonical JSON of the
    list, 64 hex digits): whoever has the ledger compares it, nobody alters one without the other."""
    moments = [None if moment is None else utc(moment) for moment in (occurred, posted_at)]
    return canonical.sha256([key, kind, dict(metadata), *moments])


def take() -> list[dict[str, Any]]:
    """Everything that is untold, in the order in which it was posted; afterwards it counts as told."""
    waiting = [hook for _, hook, _ in connection.run_on_commit if isinstance(hook, _Posted) and not hook.told]
    for one in waiting:
        one.told = True
    return [one.words for one in waiting]
