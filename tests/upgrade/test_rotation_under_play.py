"""Secrets are rotated while tables play, as docs/how-to/keys.md says: no request fails, and everything verifies."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from deploy.demo.logins import Login
from deploy.embedded.process import wait_until
from deploy.processes import CHECKOUT, Processes, address, application, listen
from tests.brokers import BrokersUser, with_login
from tests.load.room import opened
from tests.services import TestServices
from tests.upgrade.test_compatibility import environ, output
from tests.upgrade.test_under_play import PROCESSES, failures, keep_playing

pytestmark = pytest.mark.long
__all__ = ["environ", "failures"]
#: Whose logins are rotated: variable -> role.
LOGINS = {"DATABASE_URL": "casino_app", "DATABASE_SEQUENCER_URL": "casino_sequencer"}


def key() -> str:
    """A new key, as a setting names it."""
    return f"hex:{secrets.token_hex(32)}"


class Rotating:
    """Processes whose environment changes: restarted one after another, as an upgrade does it."""

    def __init__(self, environ: dict[str, str], processes: Processes, ready: str) -> None:
        self.environ, self.processes, self.ready = environ, processes, ready

    def now(self, *names: str, without: str = "", **values: str) -> None:
        """Change variables, and restart the processes of these names, or all."""
        self.environ.pop(without, None)
        self.environ.update(values)
        for name in names or PROCESSES:
            old = self.processes.pid_of(name)
            os.kill(old, 15)
            assert wait_until(lambda name=name, old=old: self.processes.pid_of(name) != old, seconds=40)
            self.processes.wait_ready(self.ready)

    def sign(self, command: str, house: str, people: list[Login]) -> None:
        """A command that two people sign."""
        lines = "".join(f"{one.login}\n{one.password}\n" for one in people)
        done = subprocess.run(
            [sys.executable, "manage.py", command, house, "--reason", "a year is over"],
            cwd=CHECKOUT, env=self.environ, input=lines, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.fixture
def logins(services: TestServices, environ: dict[str, str]) -> Iterator[dict[str, list[str]]]:
    """Two logins for each role, as URLs by variable; the roles of the other tests' houses stay as they are."""
    found: dict[str, list[str]] = {}
    made: list[str] = []
    with services.administrator() as connection:
        try:
            for variable, role in LOGINS.items():
                for number in (1, 2):
                    name, password = f"{role}_{os.getpid()}_{number}", secrets.token_hex(16)
                    connection.execute(
                        sql.SQL("CREATE ROLE {} LOGIN PASSWORD {} IN ROLE {}").format(
                            sql.Identifier(name), sql.Literal(password), sql.Identifier(role)
                        )
                    )
                    made.append(name)
                    found.setdefault(variable, []).append(with_login(environ[variable], name, password))
            yield found
        finally:
            for name in made:
                connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))


@pytest.fixture
def user(environ: dict[str, str]) -> Iterator[BrokersUser]:
    found = BrokersUser(environ["REDIS_URL"])
    yield found
    found.end()


def test_every_secret_is_rotated_while_tables_play(
    environ: dict[str, str],
    logins: dict[str, list[str]],
    user: BrokersUser,
    tmp_path: Path,
    failures: list[str],
) -> None:
    environ.pop("CASINO_NEWER_RELEASE")
    environ |= user.addresses(0)
    environ |= {variable: urls[0] for variable, urls in logins.items()}
    environ |= {"CASINO_SECRET_KEY": secrets.token_hex(40), "CASINO_SEAL_KEY": key(), "CASINO_LOG_KEY": key()}
    ended = threading.Event()
    with (
        listen(0) as listener,
        Processes(application(listener), environ=environ, log_dir=tmp_path / "logs") as processes,
        pytest.MonkeyPatch.context() as patched,
    ):
        rotating = Rotating(environ, processes, f"{address(listener)}/readyz")
        processes.wait_ready(rotating.ready)
        for name, value in environ.items():
            patched.setenv(name, value)
        with opened(address(listener), 2, ["ferbli"], ["physical", "electronic"], 13) as room:
            people = [room.credentials.auditor, room.credentials.admin]
            house = room.credentials.house
            room.think(0.2)
            taken = room.take()
            players = keep_playing(room, ended)
            try:
                _rotate(rotating, logins, user, house, people)
                hands = len(taken.hands)
                assert wait_until(lambda: len(taken.hands) > hands + 2, seconds=120), failures
            finally:
                ended.set()
                for one in players:
                    one.join()
            assert failures == [] and dict(taken.repeated) == {}
        output(CHECKOUT, environ, "manage.py", "verify_house", house)


def _rotate(
    rotating: Rotating, logins: dict[str, list[str]], user: BrokersUser, house: str, people: list[Login]
) -> None:
    """Each of them in turn, to the end: what was before counts no more."""
    old, new = rotating.environ["CASINO_SECRET_KEY"], secrets.token_hex(40)
    rotating.now("web", CASINO_SECRET_KEY_OLD=new)
    rotating.now("web", CASINO_SECRET_KEY=new, CASINO_SECRET_KEY_OLD=old)

    old, new = rotating.environ["CASINO_LOG_KEY"], key()
    rotating.now("sequencer", CASINO_LOG_KEY=new, CASINO_LOG_KEY_OLD=old)
    rotating.sign("rotate_log_key", house, people)
    rotating.now("sequencer", without="CASINO_LOG_KEY_OLD")

    old, new = rotating.environ["CASINO_SEAL_KEY"], key()
    urls = {variable: found[1] for variable, found in logins.items()} | user.addresses(1)
    user.take_second()
    rotating.now(CASINO_SEAL_KEY=new, CASINO_SEAL_KEY_OLD=old, **urls)
    rotating.sign("rotate_seal_key", house, people)
    rotating.environ.pop("CASINO_SECRET_KEY_OLD")
    rotating.now(without="CASINO_SEAL_KEY_OLD")
    _drop_old_logins(rotating, logins)
    user.drop_first()
    restarts = [rotating.processes.restarts_of(name) for name in PROCESSES]
    assert wait_until(lambda: user.connections() >= 3, seconds=60), "web, workers and beat come back by the new one"
    assert restarts == [rotating.processes.restarts_of(name) for name in PROCESSES]


def _drop_old_logins(rotating: Rotating, logins: dict[str, list[str]]) -> None:
    """No process has a session under them any more."""
    names = [str(urlsplit(urls[0]).username) for urls in logins.values()]
    with psycopg.connect(rotating.environ["DATABASE_OWNER_URL"], autocommit=True) as connection:
        rows = connection.execute("SELECT usename FROM pg_stat_activity WHERE usename = ANY(%s)", [names]).fetchall()
        assert rows == []
        for name in names:
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))
