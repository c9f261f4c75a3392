"""The one lock order of the house, and the only module that says `FOR NO KEY UPDATE`, the functions of
`casino/hands/sql/open.sql` apart: they lock a table and read its hand in one call.

    gaming days or new places -> table or drawer -> waiting list -> player -> hand -> transfer or box -> series
    -> chip set -> approval
    -> member of staff or terminal -> ledger accounts (inside the ledger's function, ORDER BY lock_rank, id)
    -> audit chain head (inside `audit_append`) -> idempotency key (stored with the answer, last)

Taking locks in one order everywhere is what makes deadlock impossible between our own transactions (measured:
unsorted locks gave 59 deadlocks and 49 tx/s where sorted ones gave none and 1,587). `lock` therefore refuses a lock
whose rank is below one already held by the same transaction: a mistake is an error in the first test that runs it.

The lock is the one that keeps writers out and lets foreign keys be checked: a new row may name a table or a drawer that
somebody else has locked, without waiting (with `FOR UPDATE` two desks that start transfers with each other at
the same moment are a deadlock). Ledger and audit functions lock at the end of the order and need no mention here:
services call audit after ledger.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import FieldError
from django.db import InterfaceError, OperationalError, connection, models, transaction

from casino.core import kept, lost, patience, sql, tracing
from casino.core.errors import NotFound

M = TypeVar("M", bound=models.Model)
T = TypeVar("T")

#: SQLSTATEs after which the same transaction may simply be run again.
RETRYABLE = {"40001": "serialization_failure", "40P01": "deadlock_detected"}
MAX_ATTEMPTS = 4
#: The largest number that a column holds.
_MOST = 2**63 - 1
_LOCK_NAME = "SELECT pg_advisory_xact_lock(hashtextextended(patient.value, 0)) FROM {}".format(  # noqa: S608 - constants
    patience.PATIENT.format(type="text")
)


class Rank(IntEnum):
    """Place in the lock order; lower first."""

    DAYS = 2  # gaming days, and the setting up of places and chips
    # A table or a drawer; one transaction locks one of them, or two of a kind in the order of their ids. Then the
    # waiting list.
    DESK = 3
    PLAYER = 4
    HAND = 5
    CUSTODY = 6  # a transfer between cage and table, or a soft count
    SERIAL = 7  # the last number of a series, until the row that has the next one is committed; a webhook's position
    CHIPS = 8  # the house's chip set: what the public and the vault hold stays as it was read
    APPROVAL = 9  # an approval, and the numbers of a house's approvals and control points
    STAFF = 9  # a member of staff or a terminal, when the office changes one


class LockOrderError(AssertionError):
    """A transaction asked for a lock that the order wanted earlier: a programming error, never a user's."""


_held: ContextVar[Rank | None] = ContextVar("casino_lock_rank", default=None)
#: Whether the transaction may have been committed.
_committing: ContextVar[bool] = ContextVar("casino_committing", default=False)
#: Locks that are to be sent with another statement.
_gathered: ContextVar[list[sql.Statement] | None] = ContextVar("casino_gathered_locks", default=None)


def begin() -> None:
    """Forget the ranks of an earlier transaction; called where one starts and where it has ended."""
    _held.set(None)
    _committing.set(False)


def committing() -> None:
    """Note that the database is about to be asked to commit this transaction."""
    _committing.set(True)


def in_transaction(operation: Callable[[], T]) -> T:
    """Run `operation` in one transaction; on a deadlock or serialization failure run it again from its start. Raises
    OutcomeUnknown where the connection is lost while the database commits, Busy for a lock that was not free in time.
    """
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            with tracing.part("transaction", attempt=attempt), patience.typed(), transaction.atomic(durable=True):
                begin()
                kept.begin()
                found = operation()
                committing()
            lost.commits()
            return found
        except (OperationalError, InterfaceError) as error:
            if _committing.get() and lost.is_lost(error):
                raise lost.OutcomeUnknown from error
            if getattr(error.__cause__, "sqlstate", None) not in RETRYABLE or attempt == MAX_ATTEMPTS:
                raise
        finally:
            begin()
            kept.end()
    raise AssertionError("unreachable: the last attempt returns or raises")


def taken(rank: Rank, what: str) -> None:
    """Note a lock that a function of the database is about to take. Raises LockOrderError."""
    _take(rank, what)


def lock(model: type[M], rank: Rank, *, related: Sequence[str] = (), **lookup: Any) -> M:
    """Lock one row until the transaction ends and return it fresh, with the rows of its relations that are named, in
    the same round trip.

    Raises NotFound when there is no such row and LockOrderError when `rank` is below one already held.
    """
    if not related:
        return lock_beside(model, rank, **lookup)[0]
    asking = model._default_manager.filter(**lookup).select_related(*related)
    _, ([found],) = lock_beside(model, rank, asking, **lookup)
    row: M = found
    return row


def lock_beside(
    model: type[M], rank: Rank, *beside: sql.Statement | models.QuerySet[Any, Any], **lookup: Any
) -> tuple[M, list[list[Any]]]:
    """As `lock`, and then run `beside` in the same round trip; returns the row, and what each of those has found."""
    _take(rank, model.__name__)
    named = [_equals(model, name) for name in lookup]
    values = [value.pk if isinstance(value, models.Model) else value for value in lookup.values()]
    locking = f", {patience.PATIENTLY} WHERE {' AND '.join(named)} FOR NO KEY UPDATE OF {model._meta.db_table}"
    statement = f"SELECT {sql.columns(model)} FROM {model._meta.db_table} {locking}"  # noqa: S608 - names from the code only
    if not any(isinstance(value, int) and abs(value) > _MOST for value in values):
        rows, *others = sql.together(sql.Bound(statement, [patience.lock_timeout(), *values]), *beside)
        for found in rows:
            return sql.built(model, found), others
    wanted = ", ".join(f"{key}={value}" for key, value in lookup.items() if not key.startswith("house"))
    raise NotFound(f"This house has no {model._meta.verbose_name} with {wanted}.")


def lock_all(
    model: type[M],
    rank: Rank,
    *beside: sql.Statement | models.QuerySet[Any, Any],
    house: models.Model,
    codes: Sequence[str] | None = None,
) -> tuple[list[M], list[list[Any]]]:
    """Lock the rows of a house, or those that have one of these codes, in the order of their ids, and then run
    `beside`, all in one round trip; returns the rows, fresh, and what each of `beside` has found."""
    rows, *others = sql.together(_locking_all(model, rank, house, codes), *beside)
    return [sql.built(model, found) for found in rows], others


def lock_every(*kinds: type[models.Model], rank: Rank, house: models.Model) -> None:
    """Lock all rows of a house of these kinds, one kind after the other, each in the order of their ids."""
    _send(*(_locking_all(model, rank, house, None) for model in kinds))


def _locking_all(
    model: type[models.Model], rank: Rank, house: models.Model, codes: Sequence[str] | None
) -> sql.Statement:
    _take(rank, model.__name__)
    table = model._meta.db_table
    named, values = (f" AND {table}.code = ANY(%s)", [list(codes)]) if codes is not None else ("", [])
    locking = (
        f"SELECT {sql.columns(model)} FROM {table}, {patience.PATIENTLY} WHERE {table}.house_id = %s{named}"  # noqa: S608 - names from the code only
        f" ORDER BY {table}.id FOR NO KEY UPDATE OF {table}"
    )
    return locking, [patience.lock_timeout(), house.pk, *values]


@cache
def _equals(model: type[models.Model], name: str) -> str:
    """SQL that compares the column of a model's field with a value. Raises FieldError for a relation that has none."""
    field = model._meta.get_field(name)
    column = getattr(field, "column", None)
    if not isinstance(field, models.Field) or not isinstance(column, str):
        raise FieldError(f"{model.__name__}.{name} has no column to look a row up by.")
    kind = field.cast_db_type(connection) or "text"
    # A value that is too long is not the one that has its beginning, and one that is too large is no error.
    wide = "text" if kind.startswith("varchar") else "bigint" if kind in ("integer", "smallint") else kind
    return f"{column} = %s::{wide}"


def lock_days(house_id: UUID) -> None:
    """Keep others from opening or closing a gaming day of this house until the transaction ends. Raises
    LockOrderError."""
    _take(Rank.DAYS, "gaming days")
    _lock_name(f"gaming days of {house_id}")


def lock_places(house_id: UUID) -> None:
    """Keep others from setting up places and chips of this house until the transaction ends. Raises LockOrderError."""
    _take(Rank.DAYS, "places")
    _lock_name(f"places of {house_id}")


def lock_waiting(house_id: UUID) -> None:
    """Keep others from changing this house's waiting list until the transaction ends; after a table's lock, where
    somebody on the list sits down. Raises LockOrderError."""
    _take(Rank.DESK, "waiting list")
    _lock_name(f"waiting list of {house_id}")


def lock_safeguards(house_id: UUID) -> None:
    """Keep others from numbering exclusions, minors, limits and interactions of this house until the transaction ends;
    before the player's lock. Raises LockOrderError."""
    _take(Rank.DESK, "safeguards")
    _lock_name(f"safeguards of {house_id}")


def lock_vault(house_id: UUID) -> None:
    """Keep others from counting this house's vault, and from numbering what goes between it and the bank, until the
    transaction ends. Raises LockOrderError."""
    _take(Rank.CUSTODY, "vault")
    _lock_name(f"vault of {house_id}")


def lock_payouts(house_id: UUID) -> None:
    """Keep others from numbering or paying held payouts of this house until the transaction ends. Raises
    LockOrderError."""
    _take(Rank.CUSTODY, "held payouts")
    _lock_name(f"held payouts of {house_id}")


def lock_announced(house_id: UUID) -> None:
    """Keep others from numbering or ending announced cash-outs of this house until the transaction ends. Raises
    LockOrderError."""
    _take(Rank.CUSTODY, "announced cash-outs")
    _lock_name(f"announced cash-outs of {house_id}")


def lock_found(house_id: UUID) -> None:
    """Keep others from changing this house's register of found chips until the transaction ends. Raises
    LockOrderError."""
    _take(Rank.CUSTODY, "found chips")
    _lock_name(f"found chips of {house_id}")


def lock_clearing(house_id: UUID) -> None:
    """Keep others from numbering or settling this house's buy-ins by card or transfer until the transaction ends.
    Raises LockOrderError."""
    _take(Rank.CUSTODY, "clearing")
    _lock_name(f"clearing of {house_id}")


def lock_roster(house_id: UUID) -> None:
    """Keep others from changing this house's staff until the transaction ends. Raises LockOrderError."""
    _take(Rank.STAFF, "roster")
    _lock_name(f"roster of {house_id}")


def lock_approvals(house_id: UUID) -> None:
    """Keep others from numbering approvals or control points of this house until the transaction ends. Raises
    LockOrderError."""
    _take(Rank.APPROVAL, "approvals")
    _lock_name(f"approvals of {house_id}")


def lock_reports(house_id: UUID) -> None:
    """Keep others from numbering or ending runs of this house's reports until the transaction ends. Raises
    LockOrderError."""
    _take(Rank.SERIAL, "runs of reports")
    _lock_name(f"reports of {house_id}")


def lock_webhooks(house_id: UUID) -> None:
    """Keep others from numbering or ending webhooks of this house until the transaction ends. Raises LockOrderError."""
    _take(Rank.SERIAL, "webhooks")
    _lock_name(f"webhooks of {house_id}")


def lock_transaction_log(house_id: UUID) -> None:
    """Keep others from describing unknown persons, from entering and withdrawing lines of the log of transactions, and
    from trading with unknown persons, until the transaction ends: of two trades of one person at the same time the
    second sees the first. Raises LockOrderError."""
    _take(Rank.SERIAL, "log of transactions")
    _lock_name(f"log of transactions of {house_id}")


def lock_evidence(house_id: UUID) -> None:
    """Keep others from changing complaints, legal holds and the sealed register of this house, and from deleting what a
    hold may keep, until the transaction ends. Raises LockOrderError."""
    _take(Rank.SERIAL, "evidence")
    _lock_name(f"evidence of {house_id}")


def lock_person(player_id: int) -> None:
    """Keep others from recording or forgetting this player's person until the transaction ends. The application may not
    update players, so their rows cannot be locked. Raises LockOrderError."""
    _take(Rank.PLAYER, "a player's person")
    _lock_name(f"person of player {player_id}")


#: As `_LOCK_NAME` for the player of a reference, where there is one; the house and the reference.
_LOCK_PERSON = (
    "SELECT pg_advisory_xact_lock(hashtextextended('person of player ' || named.id, 0)) FROM"  # noqa: S608 - constants
    f" {patience.PATIENTLY} CROSS JOIN LATERAL (SELECT id FROM players_player"
    " WHERE house_id = %s AND ref = %s AND patient.lock_timeout IS NOT NULL) named"
)


def lock_person_of(house_id: UUID, ref: str, *beside: sql.Statement | models.QuerySet[Any, Any]) -> list[list[Any]]:
    """As `lock_person` for the player of a reference, if the house has one; and then run `beside` in the same round
    trip. Raises LockOrderError."""
    _take(Rank.PLAYER, "a player's person")
    return sql.together((_LOCK_PERSON, [patience.lock_timeout(), house_id, ref]), *beside)[1:]


@contextmanager
def gathered() -> Iterator[list[sql.Statement]]:
    """Locks of names and of every row of a kind that are asked for inside are not taken but listed, for the caller to
    send first with another statement."""
    statements: list[sql.Statement] = []
    token = _gathered.set(statements)
    try:
        yield statements
    finally:
        _gathered.reset(token)


def _lock_name(name: str) -> None:
    """Take the advisory lock of this name."""
    _send((_LOCK_NAME, [name, patience.lock_timeout()]))


def _send(*locking: sql.Statement) -> None:
    waiting = _gathered.get()
    if waiting is None:
        sql.together(*locking)
    else:
        waiting.extend(locking)


def _take(rank: Rank, what: str) -> None:
    if not connection.in_atomic_block:
        raise LockOrderError("locks are taken inside a transaction")
    held = _held.get()
    if held is not None and rank < held:
        raise LockOrderError(f"{what} (rank {rank.name}) must be locked before {held.name}")
    _held.set(rank)
