"""Several sessions with the database at once, without timing: who waits is read from the server."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import TypeVar

from django.db import connections, transaction

from tests.ledger.support import APP, OWNER, run

THREADS = 16
PATIENCE = 30
"""Seconds after which a test that waits for others gives up."""
T = TypeVar("T")
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    " AND application_name = 'cukassza'"
)


def together(work: Callable[[int], object], threads: int = THREADS) -> list[object]:
    """Run `work(0)`, `work(1)`, ... at once, each on a connection of its own; their results or exceptions, in order."""
    gate = Barrier(threads)

    def one(number: int) -> object:
        try:
            connections[APP].ensure_connection()
            gate.wait(timeout=PATIENCE)
            return work(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(one, number) for number in range(threads)]
        return [future.exception() or future.result() for future in futures]


class Session:
    """A session of its own, in a thread of its own; what it is asked to do is done one after the other."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._block: transaction.Atomic | None = None

    def start(self, work: Callable[[], T]) -> Future[T]:
        """Begin to do it; it may have to wait for another session."""
        return self._pool.submit(work)

    def do(self, work: Callable[[], T]) -> T:
        """Do it, and wait for the end of it."""
        return self.start(work).result(timeout=PATIENCE)

    def begin(self) -> None:
        """Begin a database transaction that stays open."""
        self._block = transaction.atomic()
        self.do(self._block.__enter__)

    def commit(self) -> None:
        """End the transaction."""
        block = self._block
        assert block is not None
        self._block = None
        self.do(lambda: block.__exit__(None, None, None))

    def close(self) -> None:
        """Roll back whatever is open, and hang up."""
        self.do(connections.close_all)
        self._pool.shutdown()


@contextmanager
def session() -> Iterator[Session]:
    """Another session, for the block."""
    other = Session()
    try:
        yield other
    finally:
        other.close()


def in_block(work: Callable[[], T]) -> T:
    """Do it in a transaction of its own."""
    with transaction.atomic():
        return work()


def until_waiting(sessions: int = 1) -> None:
    """Return once so many sessions wait for a lock."""
    end = time.monotonic() + PATIENCE
    while run(OWNER, _WAITING) != [(sessions,)]:
        assert time.monotonic() < end, "nobody waits"
        time.sleep(0.005)


def until_past(moment: object) -> None:
    """Return once the database's clock is past the moment."""
    run(APP, "SELECT pg_sleep_until(%s::timestamptz + interval '1 millisecond')", [moment])
