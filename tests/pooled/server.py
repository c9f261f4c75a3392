"""A PostgreSQL with pgbouncer before it: the application's login goes through the pooler, all others past it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from deploy.embedded.account import Account
from tests import postgres
from tests.pooled import pgbouncer
from tests.pooled.pgbouncer import PgBouncer
from tests.postgres import Server

APP = "casino_app"


@dataclass
class Pooled:
    """The server and its pooler, as `tests.ha.house` wants a cluster."""

    folder: Path
    server: Server
    pooler: PgBouncer

    @property
    def password(self) -> str:
        """Of the superuser, which all logins get."""
        return self.server.password

    @property
    def account(self) -> Account:
        """What runs the server's programs."""
        return self.server.account

    def url(self, login: str, database: str) -> str:
        """Where a login reaches the database: the application's through the pooler."""
        port = self.pooler.port if login == APP else self.server.port
        return f"postgresql://{login}:{self.server.password}@127.0.0.1:{port}/{database}"

    def past(self, login: str, database: str = "casino") -> str:
        """Where a login reaches PostgreSQL itself."""
        return self.server.url(login, database)

    def administrator(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the superuser."""
        return self.server.administrator(database)

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
    with postgres.running(folder, program.account, {"max_connections": "60"}) as server:
        database = f"host=127.0.0.1 port={server.port} dbname=casino"
        changes = {"default_pool_size": str(sessions), "query_wait_timeout": "5"}
        with pgbouncer.running(folder / "pgbouncer", database, {APP: server.password}, changes) as pooler:
            yield Pooled(folder, server, pooler)
