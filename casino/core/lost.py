"""What it means when the database cannot be reached, or can do no more: whether anything can have been written."""

from contextvars import ContextVar

from django.db import InterfaceError, OperationalError

from casino.core.errors import HouseError

#: SQLSTATEs with which the server ends a connection or takes none: it is being stopped or has crashed, is starting, has
#: no connection left. What the connection's own library reports, for example a server that closed it, has no state.
_ENDED = frozenset({"57P01", "57P02", "57P03", "57P05", "53300"})
#: SQLSTATEs of a server that has no disk space, no memory, or disks that fail. It refuses a statement, or a COMMIT, and
#: nothing of the transaction stays.
_EXHAUSTED = frozenset({"53000", "53100", "53200", "53400", "58000", "58030"})
#: Seconds after which a client may try again.
RETRY_AFTER = 1

#: Whether the request that is served has committed anything.
_committed: ContextVar[bool] = ContextVar("casino_committed", default=False)


class ConnectionLost(HouseError):
    """There is no connection to the database, or none any more."""

    status = 503


class DatabaseUnavailable(ConnectionLost):
    """The database cannot be reached, or can do no more; nothing was changed."""

    code = "database_unavailable"

    def __init__(self) -> None:
        super().__init__(
            "The database cannot be reached, or has no room left. Nothing was changed; try again.",
            retry_after=RETRY_AFTER,
        )


class OutcomeUnknown(ConnectionLost):
    """The connection was lost after the database had been asked to commit, and before it answered."""

    code = "outcome_unknown"

    def __init__(self) -> None:
        super().__init__(
            "The database was lost before it confirmed the commit, or after it. It is unknown whether the write was "
            "carried out: send it again under the same Idempotency-Key.",
            retry_after=RETRY_AFTER,
        )


def request_begins() -> None:
    """Nothing has been committed yet."""
    _committed.set(False)


def commits() -> None:
    """Note that something has been committed: from now on an error does not mean that nothing was changed."""
    _committed.set(True)


def refusal() -> ConnectionLost:
    """What a request is answered that the database does not serve to its end."""
    return OutcomeUnknown() if _committed.get() else DatabaseUnavailable()


def is_lost(error: BaseException) -> bool:
    """Whether an error of the database says that there is no connection to it, or none any more."""
    if not isinstance(error, (OperationalError, InterfaceError)):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith("08") or state in _ENDED


def cannot_serve(error: BaseException) -> bool:
    """Whether an error says that the database is away, or has no room or memory for what it was asked."""
    state = getattr(error.__cause__, "sqlstate", None)
    return is_lost(error) or (isinstance(error, OperationalError) and state in _EXHAUSTED)
