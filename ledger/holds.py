"""Holds: reserve a chain of postings now, post or void the whole chain later, within a time limit.

A hold sets aside what its chain may take from each account with a floor: other postings see that much less. Balances do
not move before the hold is posted. When its time runs out it can no longer be posted and sets nothing aside, at once
and without anybody's doing; `expire_holds` only tidies up. Every function needs `transaction.atomic`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet
from django.db.models.functions import Now

from ledger.errors import InvalidPosting
from ledger.models import Hold, HoldState
from ledger.posting import Book, Posted, Posting, as_json, call, moment, posted, signed, text

MAX_SECONDS = 366 * 24 * 3600
"""Longest time limit of a hold."""


@dataclass(frozen=True, slots=True)
class Held:
    """A hold as it is now; `state` is a `HoldState`, `replayed` says that it existed before."""

    hold_id: int
    created_at: datetime
    expires_at: datetime
    state: str
    replayed: bool


def hold(book: Book, key: str, postings: Sequence[Posting], *, seconds: int, using: str = DEFAULT_DB_ALIAS) -> Held:
    """Reserve a chain of postings, to be posted in this order, for so many seconds.

    Each posting is judged as `post` would judge it now. The same key with the same postings and seconds returns the
    first hold with `replayed`. Raises what `post` raises.
    """
    if not postings:
        raise InvalidPosting("a hold needs a posting at least")
    if not 1 <= seconds <= MAX_SECONDS:
        raise InvalidPosting(f"a hold lasts 1 to {MAX_SECONDS} seconds, not {seconds}")
    chain = [
        {
            "key": text("key", posting.key),
            "kind": text("kind", posting.kind),
            "metadata": dict(posting.metadata),
            "occurred_at": occurred_at and occurred_at.isoformat(),
            "legs": [[leg.account_id, signed(leg.amount)] for leg in posting.legs],
        }
        for posting in postings
        for occurred_at in [moment(posting.occurred_at)]
    ]
    rows = call(
        using,
        "SELECT * FROM ledger_hold_chain(%s::uuid, %s::text, %s::jsonb, %s::integer)",
        (str(book), text("key", key), as_json(chain), seconds),
    )
    return Held(*rows[0])


def post_hold(book: Book, key: str, *, period: str | None = None, using: str = DEFAULT_DB_ALIAS) -> list[Posted]:
    """Post the whole chain of a hold; again, it returns what was posted then. Answers in the chain's order.

    Raises UnknownHold, HoldEnded, and what `post` raises: an account may have been closed meanwhile.
    """
    rows = call(
        using, "SELECT * FROM ledger_post_hold(%s::uuid, %s::text, %s::text)", (str(book), text("key", key), period)
    )
    return posted(rows[0])


def void_hold(book: Book, key: str, *, using: str = DEFAULT_DB_ALIAS) -> str:
    """Void a hold; returns its last state, "voided" or "expired", also when called again.

    Raises UnknownHold, and HoldEnded for one that was posted.
    """
    rows = call(using, "SELECT ledger_void_hold(%s::uuid, %s::text)", (str(book), text("key", key)))
    state: str = rows[0][0]
    return state


def expire_holds(book: Book, *, using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Give the state "expired" to the holds whose time has run out; returns their keys, the oldest first."""
    ended: list[str] = call(using, "SELECT ledger_expire_holds(%s::uuid)", (str(book),))[0][0]
    return ended


def pending(book: Book, *, using: str = DEFAULT_DB_ALIAS) -> list[Hold]:
    """The holds that can still be posted, the first to run out first."""
    return list(all_pending(book).using(using))


def all_pending(book: Book) -> QuerySet[Hold]:
    """What `pending` reads, for who reads it with something else."""
    return Hold.objects.filter(book=book, state=HoldState.PENDING, expires_at__gt=Now()).order_by("expires_at", "id")
