"""Snapshots: what every account held at one instant, written down, and ever after checked against the entries."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import DEFAULT_DB_ALIAS

from ledger.models import SnapshotLine
from ledger.posting import Balance, Book, call, text


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot; `replayed` says that its name had been taken before."""

    snapshot_id: int
    taken_at: datetime
    replayed: bool


def take(book: Book, name: str, *, using: str = DEFAULT_DB_ALIAS) -> Taken:
    """Write down the balance and version of every account that ever moved, all at one instant.

    The same name again returns the first snapshot. Needs `transaction.atomic`.
    """
    rows = call(using, "SELECT * FROM ledger_take_snapshot(%s::uuid, %s::text)", (str(book), text("name", name)))
    return Taken(*rows[0])


def balances(book: str | uuid.UUID, name: str, *, using: str = DEFAULT_DB_ALIAS) -> dict[int, Balance]:
    """Balances and versions in a snapshot by account id; empty where there is no such snapshot."""
    rows = SnapshotLine.objects.using(using).filter(snapshot__book=book, snapshot__name=name)
    return {account: Balance(balance, version) for account, balance, version in rows.values_list(*_FIELDS)}


_FIELDS = ("account_id", "balance", "version")
