"""A PostgreSQL of its own that is reached over TCP and asks for passwords, as servers of a house do."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psycopg

from deploy.embedded.account import Account
from deploy.embedded.binaries import find_postgres
from tests.ha.programs import Missing
from tests.services import free_port


@dataclass(frozen=True)
class Server:
    """Where it listens on this machine, and the superuser's password; `account` runs its programs."""

    account: Account
    port: int
    password: str

    def url(self, login: str, database: str = "casino", host: str = "127.0.0.1") -> str:
        """Where a login with the superuser's password reaches a database."""
        return f"postgresql://{login}:{self.password}@{host}:{self.port}/{database}"

    def administrator(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the superuser."""
        return psycopg.connect(self.url("postgres", database), autocommit=True)


class Reached(Protocol):
    """A server whose superuser can be had, with the password that its logins get."""

    @property
    def password(self) -> str:
        """Of every login."""

    def administrator(self) -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the superuser."""


def make_logins(server: Reached) -> None:
    """The three logins of docs/how-to/operate.md, none of them a superuser, and the database of the first. A commit of
    theirs waits for a standby, whatever a session says."""
    with server.administrator() as connection:
        for login, rights in (("casino", "CREATEROLE"), ("casino_app", ""), ("casino_sequencer", "")):
            connection.execute(f"CREATE ROLE {login} LOGIN {rights} PASSWORD '{server.password}'")
            connection.execute(f"ALTER ROLE {login} SET synchronous_commit = on")
        connection.execute("CREATE DATABASE casino OWNER casino")


@contextmanager
def running(folder: Path, account: Account, more: Mapping[str, str]) -> Iterator[Server]:
    """A new one in this folder, with these settings besides. Raises Missing."""
    postgres = find_postgres().bin
    port, password = free_port(), secrets.token_hex(16)
    data, word = folder / "data", folder / "password"
    word.write_text(password, encoding="ascii")

    def done(name: str, *options: str) -> None:
        ended = account.run([str(postgres / name), *options])
        if ended.returncode:
            raise Missing(f"{name}: {ended.stderr.strip()[-500:] or ended.stdout.strip()[-500:]}")

    given = ("-U", "postgres", "-A", "scram-sha-256", f"--pwfile={word}", "-E", "UTF8", "--locale=C.UTF-8")
    done("initdb", "-D", str(data), *given)
    with tempfile.TemporaryDirectory(prefix="postgres-", dir="/tmp") as sockets:
        settings = {
            "listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": sockets, "timezone": "UTC",
            "shared_buffers": "128MB", **more,
        }  # fmt: skip
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        done("pg_ctl", "-w", "-s", "-D", str(data), "-l", str(folder / "server.log"), "start")
        try:
            yield Server(account, port, password)
        finally:
            account.run([str(postgres / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop"])
