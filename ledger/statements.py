"""The running statement of one account: its entries in the order of versions, each with the balance it left."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Q

from ledger.balances import has_lanes
from ledger.models import Account, Entry

MAX_PAGE = 1000
"""Most lines on one page."""


@dataclass(frozen=True, slots=True)
class Line:
    """One entry: `amount` debit positive, `balance_after` on the account's normal side, both in minor units."""

    version: int
    transaction_id: int
    kind: str
    key: str
    posted_at: datetime
    occurred_at: datetime | None
    amount: int
    balance_after: int
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of a statement; `next_after` is the cursor of the following page, None on the last one."""

    lines: tuple[Line, ...]
    next_after: int | None


def statement(
    account_id: int,
    *,
    after: int = 0,
    limit: int = 100,
    since: datetime | None = None,
    until: datetime | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> Page:
    """Entries with versions above `after`, posted at `since` or later and before `until`, at most `limit` (1 to
    MAX_PAGE) of them.

    Entries never change, so that a page once read stays true and paging neither skips nor repeats any. An account with
    lanes has no single order: raises AccountHasLanes, which names them.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise ValueError(f"limit is 1 to {MAX_PAGE}, not {limit}")
    rows = (
        Entry.objects.using(using)
        .filter(Q(account_id=account_id, version__gt=after) & _posted(since, until))
        .order_by("version")
        .values_list(
            "version",
            "transaction_id",
            "transaction__kind",
            "transaction__idempotency_key",
            "transaction__posted_at",
            "transaction__occurred_at",
            "amount",
            "balance_after",
            "transaction__metadata",
        )[: limit + 1]
    )
    lines = tuple(Line(*row) for row in rows)
    if not lines:
        _refuse_lanes(account_id, using)
    more = len(lines) > limit
    lines = lines[:limit]
    return Page(lines, lines[-1].version if more else None)


def _posted(since: datetime | None, until: datetime | None) -> Q:
    """Entries of transactions posted at `since` or later and before `until`."""
    found = Q()
    if since is not None:
        found &= Q(transaction__posted_at__gte=since)
    if until is not None:
        found &= Q(transaction__posted_at__lt=until)
    return found


def lines(account_id: int, *, after: int = 0, using: str = DEFAULT_DB_ALIAS) -> Iterator[Line]:
    """All entries with versions above `after`, read page by page: memory stays constant however long the account is."""
    cursor: int | None = after
    while cursor is not None:
        page = statement(account_id, after=cursor, limit=MAX_PAGE, using=using)
        yield from page.lines
        cursor = page.next_after


def _refuse_lanes(account_id: int, using: str) -> None:
    lanes = Account.objects.using(using).filter(id=account_id, lanes__gt=0).values_list("lanes", flat=True).first()
    if lanes:
        raise has_lanes(account_id, lanes)
