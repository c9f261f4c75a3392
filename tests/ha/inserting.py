"""A second load beside the evening: single INSERTs into a database of their own, each committed by itself."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg

from tests.ha.cluster import Cluster

DATABASE = "probe"
WRITERS = 2
#: Seconds between two INSERTs of a writer: the machine has its cores for the house, too.
PAUSE = 0.01


@dataclass
class Inserts:
    """What was acknowledged, and when (monotonic), and why others were not."""

    acknowledged: list[tuple[float, uuid.UUID]] = field(default_factory=list)
    sent: set[uuid.UUID] = field(default_factory=set)
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def times(self) -> list[float]:
        """When they were acknowledged."""
        return [at for at, _ in self.acknowledged]

    def run(self, url: str) -> None:
        """Insert until it ends, over a new connection whenever one is lost."""
        while not self._stop.is_set():
            try:
                with psycopg.connect(url, autocommit=True) as connection:
                    while not self._stop.wait(PAUSE):
                        row = uuid.uuid4()
                        self.sent.add(row)
                        connection.execute("INSERT INTO probe VALUES (%s)", [row])
                        self.acknowledged.append((time.monotonic(), row))
            except psycopg.Error:
                self._stop.wait(0.1)

    def end(self) -> None:
        """Insert no more."""
        self._stop.set()


@contextmanager
def running(cluster: Cluster) -> Iterator[Inserts]:
    """The load, in a new database."""
    with cluster.administrator() as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
    with cluster.administrator(DATABASE) as connection:
        connection.execute("CREATE TABLE probe (id uuid PRIMARY KEY)")
    inserts = Inserts()
    url = cluster.url("postgres", DATABASE)
    threads = [threading.Thread(target=inserts.run, args=[url], name="inserting", daemon=True) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        yield inserts
    finally:
        inserts.end()
        for thread in threads:
            thread.join(timeout=60)


def found(cluster: Cluster) -> set[uuid.UUID]:
    """What the surviving database has."""
    with cluster.administrator(DATABASE) as connection:
        return {row for (row,) in connection.execute("SELECT id FROM probe").fetchall() if isinstance(row, uuid.UUID)}
