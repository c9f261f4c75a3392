"""Embedded servers that die while a house runs are started again."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psycopg
import pytest

from deploy import embedded
from deploy.embedded.process import read_pid, wait_until

NOTHING_GIVEN: dict[str, str] = {}
PID_FILES = {"PostgreSQL": "pg/postmaster.pid", "Valkey": "valkey/server.pid"}
#: Seconds after which a database that was killed must answer again.
RECOVERY = 30.0


def pids(var: Path) -> dict[str, int | None]:
    """The pids in the servers' pid files."""
    return {name: read_pid(var / file) for name, file in PID_FILES.items()}


def answering(var: Path) -> bool:
    """Whether both servers answer."""
    return all(service.version for service in embedded.status(environ=NOTHING_GIVEN, var=var))


@pytest.mark.slow
def test_servers_that_are_killed_run_again_and_those_that_are_stopped_do_not(
    var: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    urls = embedded.ensure(environ=NOTHING_GIVEN, var=var)
    with psycopg.connect(urls.database_owner_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    with embedded.Keeper(environ=NOTHING_GIVEN, var=var):
        before = pids(var)
        for pid in before.values():
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        assert wait_until(lambda: not embedded.dead(environ=NOTHING_GIVEN, var=var), seconds=RECOVERY)
        assert wait_until(lambda: answering(var), seconds=RECOVERY)
        assert time.monotonic() - killed < RECOVERY
        after = pids(var)
        assert all(after[name] not in (None, pid) for name, pid in before.items())
        with psycopg.connect(urls.database_owner_url) as connection:
            assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
        assert wait_until(lambda: "had died and runs again" in capfd.readouterr().err, seconds=5)
        embedded.down(var=var)
        assert not wait_until(lambda: any(pids(var).values()), seconds=2)


@pytest.mark.slow
def test_servers_that_end_by_themselves_run_again(var: Path) -> None:
    """A full disk ends PostgreSQL in good order, as does `kill`: nobody took it out of service."""
    embedded.ensure(environ=NOTHING_GIVEN, var=var)
    before = pids(var)
    with embedded.Keeper(environ=NOTHING_GIVEN, var=var):
        for pid, number in zip(before.values(), (signal.SIGINT, signal.SIGTERM), strict=True):
            assert pid is not None
            os.kill(pid, number)

        def again() -> bool:
            return all(pid not in (None, before[name]) for name, pid in pids(var).items()) and answering(var)

        assert wait_until(again, seconds=RECOVERY)


@pytest.mark.slow
def test_servers_that_others_run_are_not_started(var: Path) -> None:
    urls = embedded.ensure(environ=NOTHING_GIVEN, var=var)
    pid = pids(var)["Valkey"]
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: embedded.dead(environ=NOTHING_GIVEN, var=var) == ["Valkey"], seconds=5)
    given = {"REDIS_URL": "redis://127.0.0.1:1/0"}
    assert embedded.dead(environ=given, var=var) == []
    assert embedded.dead(environ=urls.as_environ(), var=var) == ["Valkey"], "our own addresses name no other server"
