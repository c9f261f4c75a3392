"""Migrations that wait briefly for locks, so that play goes on while they wait.

A change of a table waits for every transaction that reads it, and whatever comes later waits behind the change. So each
lock is waited for `LOCK_SECONDS` at most; then the migration is undone as a whole, those who waited behind it go on,
and it is tried again, until `TRIES` are used up. Who stood in the way is looked up meanwhile, by a second connection.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import sleep
from typing import Any

from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

#: Seconds that a migration waits for a lock, with everybody behind it.
LOCK_SECONDS = 2.0
#: How often migrations are tried in all.
TRIES = 15
#: Seconds between two tries, in which those who waited get their turn: they grow from the first to the second.
PAUSES = (1.0, 8.0)
#: Seconds for which an index that is made beside running writes waits for transactions that began before it. Nobody
#: waits behind it.
CONCURRENT_SECONDS = 600.0
#: SQLSTATE of a lock that was not free in time, and of a deadlock: both undo the transaction, and pass.
PASSING = frozenset({"55P03", "40P01"})
#: Seconds between two looks at who stands in the way.
LOOKS = 0.2

_WAITING = """
SELECT l.mode, coalesce(l.relation::regclass::text, l.locktype), b.pid, coalesce(b.usename, ''),
       coalesce(b.application_name, ''), coalesce(b.state, ''),
       coalesce(extract(epoch FROM clock_timestamp() - b.xact_start), 0)::float, coalesce(left(b.query, 200), ''),
       (SELECT count(*) FROM pg_stat_activity s WHERE pg_blocking_pids(s.pid) @> ARRAY[l.pid])
FROM pg_locks l
CROSS JOIN LATERAL unnest(pg_blocking_pids(l.pid)) AS blocking (pid)
JOIN pg_stat_activity b ON b.pid = blocking.pid
WHERE l.pid = %s AND NOT l.granted
"""


class LocksNotFree(Exception):
    """The last try has failed as those before. Nothing of the migration that waited was done; those before it are."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The migration waits for a lock that another session has, or waits for before it."""

    mode: str
    what: str
    pid: int
    login: str
    application: str
    state: str
    seconds: float
    query: str
    behind: int

    def __str__(self) -> str:
        query = " ".join(self.query.split())
        since = f"{self.state or 'unknown'}, its transaction began {self.seconds:.0f} s ago"
        return (
            f"waited for {self.mode} on {self.what}, for session {self.pid} of {self.login} "
            f"({self.application}; {since}): {query}; {self.behind} sessions waited behind the migration"
        )


def patiently(
    connection: BaseDatabaseWrapper,
    migrate: Callable[[], object],
    *,
    say: Callable[[str], object],
    seconds: float = LOCK_SECONDS,
    tries: int = TRIES,
    pause: Callable[[float], object] = sleep,
) -> None:
    """Migrate over this connection, again where a lock was not free. Raises LocksNotFree after the last try, and
    whatever else `migrate` raises."""
    for number in range(1, tries + 1):
        connection.ensure_connection()
        with lock_timeout(connection, seconds), _watched(connection) as seen:
            try:
                migrate()
            except OperationalError as error:
                if _state(error) not in PASSING:
                    raise
                reason = f"{error}".partition("\n")[0]
            else:
                return
        say(f"\ntry {number} of {tries}: {reason}")
        for line in seen:
            say(f"  {line}")
        if number < tries:
            pause(min(PAUSES[0] * number, PAUSES[1]))
    raise LocksNotFree(
        f"A lock was not free within {seconds:g} s, {tries} times. The migration that waited for it was undone; "
        "those before it are done, and the release before runs on them. End the session in the way, or wait, and "
        "migrate again."
    )


@contextmanager
def lock_timeout(connection: BaseDatabaseWrapper, seconds: float) -> Iterator[None]:
    """Statements of this session wait so long for locks; afterwards as long as before."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_catalog.current_setting('lock_timeout')")
        before = cursor.fetchone()[0]
        cursor.execute("SELECT pg_catalog.set_config('lock_timeout', %s, false)", [f"{round(seconds * 1000)}ms"])
    try:
        yield
    finally:
        if connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_catalog.set_config('lock_timeout', %s, false)", [before])


def _state(error: BaseException) -> str:
    """The SQLSTATE of a database error; empty where it has none."""
    return str(getattr(error.__cause__, "sqlstate", None) or "")


@contextmanager
def _watched(connection: BaseDatabaseWrapper) -> Iterator[list[str]]:
    """Lines about what the session waited for, filled until the block ends: the last wait that was seen."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_catalog.pg_backend_pid()")
        pid = cursor.fetchone()[0]
    seen: list[str] = []
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(connection.alias, pid, ended, seen), daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()


def _watch(alias: str, pid: int, ended: threading.Event, seen: list[str]) -> None:
    """Look again and again; a connection of this thread's own, which is closed at the end."""
    own: Any = connections[alias]
    try:
        while not ended.wait(LOOKS):
            with own.cursor() as cursor:
                cursor.execute(_WAITING, [pid])
                rows = cursor.fetchall()
            if rows:
                seen[:] = [str(Waiting(*row)) for row in rows]
    except OperationalError as error:
        seen[:] = [f"who stood in the way could not be looked up: {error}"]
    finally:
        own.close()
