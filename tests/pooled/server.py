"""A PostgreSQL with pgbouncer before it: the application's login goes through the pooler, all others past it."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from deploy.embedded.account import Account
from deploy.embedded.binaries import find_postgres
from tests.ha.programs import Missing
from tests.pooled import pgbouncer
from tests.pooled.pgbouncer import PgBouncer
from tests.services import free_port

APP = "casino_app"


@dataclass
class Pooled:
    """The server and its pooler, as `tests.ha.house` wants a cluster."""

    folder: Path
    account: Account
    port: int
    password: str
    pooler: PgBouncer

    def url(self, login: str, database: str) -> str:
        """Where a login reaches the database: the application's through the pooler."""
        port = self.pooler.port if login == APP else self.port
        return f"postgresql://{login}:{self.password}@127.0.0.1:{port}/{database}"

    def past(self, login: str, database: str = "casino") -> str:
        """Where a login reaches PostgreSQL itself."""
        return f"postgresql://{login}:{self.password}@127.0.0.1:{self.port}/{database}"

    def administrator(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the superuser."""
        return psycopg.connect(self.past("postgres", database), autocommit=True)

    def end_sessions(self) -> int:
        """End every session that the pooler has; returns how many there were."""
        with self.administrator() as connection:
            ended = connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", [APP]
            ).fetchall()
        return len(ended)


@contextmanager
def running(folder: Path, *, sessions: int) -> Iterator[Pooled]:
    """A new one, whose pooler has so many sessions. Raises Missing."""
    program = pgbouncer.found()
    postgres, account = find_postgres().bin, program.account
    port, password = free_port(), secrets.token_hex(16)
    data, word = folder / "data", folder / "password"
    word.write_text(password, encoding="ascii")

    def done(name: str, *options: str) -> None:
        ended = account.run([str(postgres / name), *options])
        if ended.returncode:
            raise Missing(f"{name}: {ended.stderr.strip()[-500:] or ended.stdout.strip()[-500:]}")

    given = ("-U", "postgres", "-A", "scram-sha-256", f"--pwfile={word}", "-E", "UTF8", "--locale=C.UTF-8")
    done("initdb", "-D", str(data), *given)
    with tempfile.TemporaryDirectory(prefix="pooled-", dir="/tmp") as sockets:
        settings = {
            "listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": sockets, "timezone": "UTC",
            "max_connections": "60", "shared_buffers": "128MB",
        }  # fmt: skip
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        done("pg_ctl", "-w", "-s", "-D", str(data), "-l", str(folder / "server.log"), "start")
        try:
            database = f"host=127.0.0.1 port={port} dbname=casino"
            changes = {"default_pool_size": str(sessions), "query_wait_timeout": "5"}
            with pgbouncer.running(folder / "pgbouncer", database, {APP: password}, changes) as pooler:
                yield Pooled(folder, account, port, password, pooler)
        finally:
            account.run([str(postgres / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop"])
