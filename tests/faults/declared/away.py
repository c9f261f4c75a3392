"""The database away, full, locked, or without a free connection."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg

from deploy import embedded
from deploy.embedded.postgres import Postgres
from tests.faults.declared import fault
from tests.faults.injecting import compiled
from tests.faults.scene import Scene

FULL = Path(__file__).parents[1] / "full.c"


@contextmanager
def stopped(scene: Scene) -> Iterator[None]:
    """PostgreSQL stopped in good order, so that the keeper leaves it alone, and started again."""
    Postgres(scene.at.layout).stop()
    try:
        yield
    finally:
        embedded.ensure()


@fault("PostgreSQL restarted in good order")
def database_restarted(scene: Scene) -> float:
    """Sessions end, and it is away for a moment."""
    with stopped(scene):
        pass
    return scene.until_written()


@fault("PostgreSQL stopped for 5 s")
def database_away(scene: Scene) -> float:
    """Every request is answered 503, and repeated."""
    with stopped(scene):
        time.sleep(5)
    return scene.until_written()


@fault("the disk is full for 4 s: no file of the database can grow")
def disk_full(scene: Scene) -> float:
    """Writes that need room are refused, PostgreSQL may give up; nothing that was acknowledged is lost."""
    flag = scene.at.layout.run / "full"
    with preloaded(scene, FULL, FULL_WHILE=str(flag)):
        scene.until_written()
        flag.touch()
        try:
            time.sleep(4)
        finally:
            flag.unlink()
        return scene.until_written()


@contextmanager
def preloaded(scene: Scene, source: Path, **environ: str) -> Iterator[None]:
    """PostgreSQL restarted with a library of ours, and afterwards without."""
    variables = {"LD_PRELOAD": str(compiled(scene.at.layout.run, source)), **environ}
    with stopped(scene):
        os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
        with stopped(scene):
            pass


@fault("all free connections of the server taken for 5 s")
def connections_used_up(scene: Scene) -> float:
    """Who has a connection goes on; a new one is refused."""
    with ExitStack() as stack:
        with suppress(psycopg.OperationalError):
            while True:
                stack.enter_context(psycopg.connect(scene.at.urls.database_url))
        time.sleep(5)
    return scene.until_written()


@fault("the row of a table locked for 8 s by somebody else")
def row_locked(scene: Scene) -> float | None:
    """One table waits, and is answered so; the others play."""
    lock = "SELECT FROM tables_table JOIN houses_house ON houses_house.id = house_id"
    lock += " WHERE houses_house.code = %s AND tables_table.code = 'T1' FOR UPDATE OF tables_table"
    with scene.at.database() as connection, connection.transaction():
        connection.execute(lock, [scene.play.credentials.house])
        begun = time.monotonic()
        while time.monotonic() - begun < 8:
            scene.until_written()
            time.sleep(0.5)
    return None


@fault("a transaction left open for 8 s by somebody else")
def idle_transaction(scene: Scene) -> float | None:
    """It has read everything, and holds up nobody."""
    with scene.at.database() as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT count(*) FROM ledger_entry")
        begun = time.monotonic()
        while time.monotonic() - begun < 8:
            scene.until_written()
            time.sleep(0.5)
    return None
