"""What the log's functions in PostgreSQL, and readers of its hashes, refuse, and what only the owner of the tables may
do: as the house's typed errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError

from casino.audit.proofs import HashesMissing
from casino.core.errors import Forbidden, LogDamaged

#: How the SQLSTATEs of sql/log.sql begin.
_OURS = "KZ91"
_DENIED = "42501"


@contextmanager
def log_refusals() -> Iterator[None]:
    """Inside, a refusal of the log becomes a LogDamaged; every other error of the database passes through."""
    try:
        yield
    except HashesMissing as error:
        raise LogDamaged(f"The log lacks hashes: {error}.") from error
    except DatabaseError as error:
        cause = error.__cause__
        if not (getattr(cause, "sqlstate", None) or "").startswith(_OURS):
            raise
        raise LogDamaged(f"The log cannot be continued: {str(cause).splitlines()[0]}.") from error


@contextmanager
def owner_needed(what: str) -> Iterator[None]:
    """Inside, a lack of rights in the database becomes a Forbidden `owner_needed`; `what` begins its sentence."""
    try:
        yield
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", None) != _DENIED:
            raise
        raise Forbidden(
            f"{what} needs the rights of the tables' owner: set DATABASE_OWNER_URL for this command.",
            code="owner_needed",
        ) from error
