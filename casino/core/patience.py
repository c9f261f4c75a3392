"""How long a write waits for a lock that somebody else holds.

A lock that is held for long, by a session that hangs or by a person at a prompt, must not take every web worker. Each
transaction that locks therefore begins with a `lock_timeout` of its own, set in the statement that takes the first lock
(`PATIENT`): no round trip is added, and a pooler in transaction mode finds nothing left. When the time is over, nothing
has been written and the answer is `busy`.

A console that is refused repeats its request. So that the repetitions do not take the workers after all, a process
lets a terminal that has waited in vain wait only briefly until one of its writes succeeds. This needs no agreement
between processes, and refuses nothing that could be carried out.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from django.conf import settings

from casino.core.errors import HouseError

#: SQLSTATE of a lock that was not free within `lock_timeout`.
LOCK_NOT_AVAILABLE = "55P03"
#: Seconds after which a client may try again.
RETRY_AFTER = 2
#: Seconds that a terminal waits for a lock after it has waited in vain.
SHORT = 0.25
#: Seconds for which it is remembered that a terminal has waited in vain.
REMEMBERED = 30.0

#: Sets `lock_timeout` until the transaction ends. Its parameters are a value, which the lateral functions that lock
#: must take from it so that they are called after it, and `lock_timeout()`.
PATIENT = "(SELECT %s::{type}, set_config('lock_timeout', %s::text, true)) AS patient (value, lock_timeout)"
#: The same in the FROM of a query that locks rows: they are locked when all of FROM has been read.
PATIENTLY = "(SELECT set_config('lock_timeout', %s::text, true)) AS patient (lock_timeout)"

_seconds: ContextVar[float | None] = ContextVar("casino_lock_seconds", default=None)
#: Terminals that have waited in vain, and until when (`monotonic`) that is remembered. Entries are set and removed
#: whole, so threads may share it.
_in_vain: dict[int, float] = {}


class Busy(HouseError):
    """A lock was not free in time; nothing was changed."""

    status, code = 503, "busy"

    def __init__(self) -> None:
        super().__init__(
            "Another request holds what this one needs. Nothing was changed; try again.", retry_after=RETRY_AFTER
        )


def lock_timeout() -> str:
    """How long this transaction waits for a lock, as PostgreSQL's `lock_timeout` reads it."""
    seconds = _seconds.get()
    return f"{round((settings.CASINO_LOCK_TIMEOUT if seconds is None else seconds) * 1000)}ms"


def is_busy(error: BaseException | None) -> bool:
    """Whether an error comes from a lock that was not free in time."""
    while error is not None:
        if getattr(error, "sqlstate", None) == LOCK_NOT_AVAILABLE:
            return True
        error = error.__cause__
    return False


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Wait at most so long for a lock inside."""
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


@contextmanager
def of_terminal(terminal: int) -> Iterator[None]:
    """Wait briefly inside if this terminal has waited in vain before; note whether it has now."""
    short = _in_vain.get(terminal, 0.0) > monotonic()
    try:
        with at_most(min(SHORT, settings.CASINO_LOCK_TIMEOUT) if short else settings.CASINO_LOCK_TIMEOUT):
            yield
    except Busy:
        _in_vain[terminal] = monotonic() + REMEMBERED
        raise
    _in_vain.pop(terminal, None)


@contextmanager
def typed() -> Iterator[None]:
    """Raise Busy for a lock that was not free in time, whatever the error was made into."""
    try:
        yield
    except Exception as error:
        if is_busy(error):
            raise Busy from error
        raise
