"""The real servers that the tests use: a database per process, and throw-away Valkey servers."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg
from psycopg import sql

from deploy import embedded
from deploy.embedded.binaries import find_valkey
from deploy.embedded.process import command_line, signalled_when_parent_dies, wait_until
from deploy.embedded.urls import broker_url, valkey_url
from deploy.embedded.valkey import answering_version, settings
from tests import template

REDIS_DATABASES = 16


def free_port() -> int:
    """A port of this machine at which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
        return port


def status_of(url: str) -> int:
    """The HTTP status that is answered there, 0 where nobody answers."""
    try:
        return httpx.get(url, timeout=5).status_code
    except httpx.TransportError:
        return 0


def worker_name() -> str:
    """The xdist worker (`gw0`, `gw1`, ...), `main` without xdist."""
    return os.environ.get("PYTEST_XDIST_WORKER", "main")


@dataclass
class PrivateValkey:
    """A Valkey of one test or one test process, which may be flushed, killed and started again.

    The folder is under /tmp because socket paths are short; the append-only file survives `kill` and `start`.
    """

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="cukassza-t-", dir="/tmp")))
    process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        """The unix socket."""
        return self.folder / "valkey.sock"

    @property
    def url(self) -> str:
        """What REDIS_URL would say."""
        return valkey_url(self.socket)

    @property
    def broker_url(self) -> str:
        """What CELERY_BROKER_URL would say."""
        return broker_url(self.url)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = settings(self.socket, self.folder)
        self.process = subprocess.Popen(
            [str(find_valkey().path), *options, "--logfile", str(self.folder / "server.log")],
            stdin=subprocess.DEVNULL,
            # A killed test run leaves no server behind.
            preexec_fn=signalled_when_parent_dies(signal.SIGKILL),
        )
        if not wait_until(lambda: answering_version(self.socket) is not None, seconds=10):
            raise RuntimeError(f"the test's Valkey does not answer: {(self.folder / 'server.log').read_text()}")

    def kill(self) -> None:
        """kill -9, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(timeout=10)
            self.process = None

    def remove(self) -> None:
        """Kill the server and remove its folder."""
        self.kill()
        shutil.rmtree(self.folder)


class TestServices:
    """The servers of one test process: addresses are planned first, servers start when a test asks."""

    __test__ = False

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Plan everything from the environment; servers that it names are used, the rest is embedded."""
        given = embedded.given(environ=environ)
        self.valkey = None if given.redis else PrivateValkey()
        redis_url = self.valkey.url if self.valkey else own_redis_database(given.redis, worker_name())
        # The process id keeps two test runs in one checkout apart.
        self.database = f"test_casino_{worker_name()}_{os.getpid()}"
        #: Outside the database: the checkpoints of the houses that tests found.
        self.checkpoints = Path(tempfile.mkdtemp(prefix="cukassza-c-", dir="/tmp"))
        #: Where scheduled reports are sent to: a folder `archive` beside this file, which a test makes.
        self.destinations = Path(tempfile.mkdtemp(prefix="cukassza-d-", dir="/tmp")) / "destinations.toml"
        archive = self.destinations.with_name("archive")
        # Nobody listens where the webhook `scanner` would be sent to.
        key = self.destinations.with_name("scanner")
        key.write_text("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
        self.destinations.write_text(
            f'[archive]\nkind = "folder"\npath = "{archive}"\n'
            f'[scanner]\nkind = "webhook"\nurl = "http://127.0.0.1:1/"\nsecret_file = "{key}"\n'
        )
        self._database_is_given = bool(given.database)
        self._environ = {
            **environ,
            "DATABASE_URL": given.database,
            "DATABASE_OWNER_URL": given.database_owner,
            "DATABASE_SEQUENCER_URL": given.database_sequencer,
            "REDIS_URL": redis_url,
            "CELERY_BROKER_URL": broker_url(redis_url),
        }
        self._base = embedded.urls(environ=self._environ)

    def environ(self) -> dict[str, str]:
        """The environment of the code under test."""
        return self._base.as_environ() | {
            "DATABASE_OWNER_URL": with_database(self._base.database_owner_url, self.database),
            "DATABASE_URL": with_database(self._base.database_url, self.database),
            "DATABASE_SEQUENCER_URL": with_database(self._base.database_sequencer_url, self.database),
            "CASINO_CHECKPOINT_DIR": str(self.checkpoints),
            "CASINO_DESTINATIONS": str(self.destinations),
        }

    def start(self) -> None:
        """Start what is not given: PostgreSQL is shared by all test processes, Valkey is our own."""
        embedded.ensure(environ=self._environ)
        self.start_valkey()

    def start_valkey(self) -> None:
        """Start our own Valkey unless REDIS_URL is given or it runs."""
        if self.valkey is not None and self.valkey.process is None:
            self.valkey.start()

    def create_database(self, *, migrate: Callable[[], object], durable: bool = True) -> None:
        """Create the test database, migrated, after dropping those of test runs that were killed.

        On our own server it is a copy of a template (`tests/template.py`); on a given one `migrate` always runs, and
        no template is left there. `migrate` migrates the database of `environ()` and leaves no connection open.
        Where it need not be durable, a commit does not wait for the disk: nothing else is different, unless the server
        itself or the machine dies.
        """
        with self.administrator() as connection:
            if self._database_is_given:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(self.database)))
                migrate()
            else:
                _drop_abandoned(connection)
                template.create(connection, self.database, migrate)
            if not durable:
                asynchronous = sql.SQL("ALTER DATABASE {} SET synchronous_commit = off")
                connection.execute(asynchronous.format(sql.Identifier(self.database)))

    def drop_database(self) -> None:
        """Drop the test database, also if there are still connections to it."""
        with self.administrator() as connection:
            _drop(connection, self.database)

    def remove(self) -> None:
        """Stop our own Valkey and forget the checkpoints; PostgreSQL stays up for the next run."""
        if self.valkey is not None:
            self.valkey.remove()
        shutil.rmtree(self.checkpoints)
        shutil.rmtree(self.destinations.parent)

    def administrator(self, database: str = "") -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the owner to the server's own database, or to this one; each statement commits by itself."""
        url = self._base.database_owner_url
        return psycopg.connect(with_database(url, database) if database else url, autocommit=True)


def with_database(url: str, name: str) -> str:
    """The same server, role and options, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def own_redis_database(url: str, worker: str) -> str:
    """A given Redis server, with a database number of the worker's own (0 stays for the application)."""
    number = int(worker.removeprefix("gw")) % (REDIS_DATABASES - 2) + 2 if worker.startswith("gw") else 1
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return urlunsplit(parts._replace(query=f"db={number}"))
    return urlunsplit(parts._replace(path=f"/{number}"))


def _drop_abandoned(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Drop the databases of test runs that were killed."""
    rows = connection.execute(r"SELECT datname FROM pg_database WHERE datname LIKE 'test\_casino\_%'").fetchall()
    for (name,) in rows:
        if _process_is_gone(str(name)):
            _drop(connection, str(name))


def _process_is_gone(database: str) -> bool:
    pid = re.fullmatch(r"test_casino_\w+_(\d+)", database)
    return pid is not None and command_line(int(pid.group(1))) == ""


def _drop(connection: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
