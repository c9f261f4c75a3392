"""What work costs the server: CPU of the backends of this process, and the pages that they looked at.

CPU is what the kernel has given each backend (`/proc/PID/schedstat`, Linux, nanoseconds), pages are what PostgreSQL
counts for it (`pg_stat_get_backend_io`, PostgreSQL 18 and later), from its cache or not. Both leave out what other
processes do meanwhile, so that measuring needs no quiet machine; no query may have parallel workers, which would not be
counted.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from django.db import connections
from psycopg import sql

#: Connections whose work is counted; the owner's reads the counts.
COUNTED = ("default", "sequencer")
_PAGES = """
SELECT coalesce(sum(hits + reads), 0)::bigint FROM unnest(%s::int[]) AS backend (pid),
    LATERAL pg_stat_get_backend_io(backend.pid) WHERE object = 'relation'
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one request: milliseconds of CPU of the server and of this process, and pages."""

    server: float
    own: float
    pages: float


def count_alone() -> None:
    """Let no query of this database have workers of its own; connections are opened again."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT current_database()")
        [name] = cursor.fetchone()
        setting = sql.SQL("ALTER DATABASE {} SET max_parallel_workers_per_gather = 0")
        cursor.execute(setting.format(sql.Identifier(name)))
    connections.close_all()


def measure(work: Callable[[], int]) -> Cost:
    """Do some work, which returns how many requests it was; the cost of each. Raises RuntimeError where it has opened
    another connection, whose cost would be lost."""
    backends = _backends()
    pages, server, own = _pages(backends), cpu(backends), time.process_time()
    count = work()
    own_after, server_after = time.process_time(), cpu(backends)
    if _backends() != backends:
        raise RuntimeError("a connection was opened while something was measured")
    pages_after = _pages(backends)
    return Cost((server_after - server) * 1e3 / count, (own_after - own) * 1e3 / count, (pages_after - pages) / count)


def _backends() -> list[int]:
    """Process ids of the server's ends of the counted connections, which are opened where they are not."""
    found = []
    for alias in COUNTED:
        connections[alias].ensure_connection()
        found.append(connections[alias].connection.info.backend_pid)
    return found


def cpu(backends: Iterable[int]) -> float:
    """Seconds of CPU of these processes."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in backends) / 1e9


def _pages(backends: list[int]) -> int:
    """Pages that these backends have looked at; each is made to say so."""
    for alias in COUNTED:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT pg_stat_force_next_flush()")
            cursor.execute("SELECT 1")
    with connections["owner"].cursor() as cursor:
        cursor.execute(_PAGES, [backends])
        [pages] = cursor.fetchone()
    return int(pages)
