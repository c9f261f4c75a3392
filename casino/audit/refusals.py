"""What the log's functions in PostgreSQL, and readers of its hashes, refuse: as the house's typed error."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError

from casino.audit.proofs import HashesMissing
from casino.core.errors import LogDamaged

#: How the SQLSTATEs of sql/log.sql begin.
_OURS = "KZ91"


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
