"""What a database transaction has posted and no audit event has told yet.

The list is kept among Django's hooks of the transaction, because they share its fate: a rollback, of a savepoint too,
forgets exactly what it undoes. That nothing stays untold is PostgreSQL's to see to when the transaction commits (a
deferred trigger, see `casino/audit/sql/postings.sql`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction


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


def take(using: str = DEFAULT_DB_ALIAS) -> list[dict[str, Any]]:
    """Everything that is untold, in the order in which it was posted; afterwards it counts as told."""
    hooks = (entry[1] for entry in connections[using].run_on_commit)
    waiting = [hook for hook in hooks if isinstance(hook, _Posted) and not hook.told]
    for one in waiting:
        one.told = True
    return [one.words for one in waiting]
