"""One embedded PostgreSQL: initialise, start, stop, and create the roles and the database."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import shlex
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from deploy.embedded.binaries import PostgresPrograms, copy_postgres, find_postgres
from deploy.embedded.errors import DataMismatch, StartFailed, StopFailed
from deploy.embedded.layout import Layout, private_dir
from deploy.embedded.process import command_line, last_log_line, read_pid, wait_until
from deploy.embedded.urls import APP_ROLE, DATABASE, OWNER, SEQUENCER_ROLE, password_of

START_SECONDS = 60.0
#: The first version with a built-in locale provider.
BUILT_IN_LOCALE = 17
# Orphaned backends of a killed postmaster hold its shared memory for a moment, and recovery takes one, too. One server
# serves all test processes of a checkout, each with two installations at most, of twenty-five connections each.
SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "max_connections": "250",
    "shared_buffers": "128MB",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


@dataclass(frozen=True)
class Postgres:
    """The server of one layout."""

    layout: Layout

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.layout.pg / "server.log"

    def version(self) -> str | None:
        """The version of the answering server, None when nobody answers."""
        try:
            with self._connect("postgres") as connection:
                return str(connection.info.parameter_status("server_version"))
        except psycopg.OperationalError:
            return None

    def start(self) -> None:
        """Make the server answer and the database exist, unless they do. Raises `StartFailed`."""
        if self.version() is None:
            programs = self._programs()
            self._init(programs)
            self._start(programs)
        self._create_roles_and_database()
        self._wanted.touch()

    def stop(self) -> None:
        """Stop a running server; open sessions are ended. Raises `StopFailed`."""
        self._wanted.unlink(missing_ok=True)
        if self._postmaster() is None:
            return
        done = self._pg_ctl(self._programs(), "stop", "-m", "fast", "-t", str(int(START_SECONDS)))
        if done and self._postmaster() is not None:
            raise StopFailed(f"PostgreSQL did not stop: {done}")

    def has_died(self) -> bool:
        """Whether the server has ended and nobody stopped it: it was killed, or gave up by itself (a full disk)."""
        return self._wanted.exists() and self._postmaster() is None

    @property
    def _wanted(self) -> Path:
        return self.layout.wanted("postgres")

    def _connect(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        # The port is named so that PGPORT in the environment cannot lead elsewhere.
        return psycopg.connect(
            host=str(self.layout.run),
            port=5432,
            user=OWNER,
            password=password_of(self.layout, OWNER),
            dbname=database,
            autocommit=True,
            connect_timeout=5,
        )

    def _programs(self) -> PostgresPrograms:
        programs = find_postgres()
        return programs if self.layout.account.uid is None else copy_postgres(programs, self.layout.home)

    def _postmaster(self) -> int | None:
        """The pid of the living server on this data folder; None for a stale pid file."""
        pid = read_pid(self.layout.pg / "postmaster.pid")
        return pid if pid is not None and str(self.layout.pg) in command_line(pid) else None

    def _init(self, programs: PostgresPrograms) -> None:
        """Make the data folder beside its final name: an interrupted initdb leaves nothing half made."""
        pg, account = self.layout.pg, self.layout.account
        if (pg / "PG_VERSION").exists():
            self._check_version(programs)
            return
        half = pg.with_name("pg.half")
        account.run(["rm", "-rf", str(half)])
        # The file holds what a server keeps of a password, not the password.
        verifier = pg.with_name("owner.verifier")
        verifier.write_text(scram_verifier(password_of(self.layout, OWNER)), encoding="ascii")
        if account.uid is not None:
            os.chown(verifier, account.uid, -1)
        options = ("-N", "-U", OWNER, "-A", "scram-sha-256", f"--pwfile={verifier}", "-E", "UTF8")
        try:
            locale = locale_options(self._version_of(programs))
            done = account.run([str(programs.bin / "initdb"), "-D", str(half), *options, *locale])
        finally:
            verifier.unlink()
        if done.returncode != 0:
            raise StartFailed(f"initdb failed: {_one_line(done.stderr or done.stdout)}")
        half.rename(pg)

    def _check_version(self, programs: PostgresPrograms) -> None:
        data = (self.layout.pg / "PG_VERSION").read_text(encoding="utf-8").strip()
        version = self._version_of(programs)
        if version.split(".")[0] != data:
            raise DataMismatch(
                f"{self.layout.pg} was made by PostgreSQL {data}, but {programs.bin} has {version}: "
                "install that version, or move the folder away"
            )

    def _version_of(self, programs: PostgresPrograms) -> str:
        """The version that `postgres --version` prints, such as `18.1`. Raises `StartFailed`."""
        done = self.layout.account.run([str(programs.bin / "postgres"), "--version"])
        words = done.stdout.split()
        if done.returncode != 0 or len(words) < 3:
            raise StartFailed(f"{programs.bin / 'postgres'} does not run: {_one_line(done.stderr)}")
        return words[2]

    def _start(self, programs: PostgresPrograms) -> None:
        private_dir(self.layout.run, owner=self.layout.account.uid)
        failure = ""

        def attempt() -> bool:
            nonlocal failure
            if self._postmaster() is None:
                self._forget_dead_server()
                failure = self._pg_ctl(programs, "start", "-l", str(self.log), "-o", self._options())
            return self.version() is not None

        if not wait_until(attempt, seconds=START_SECONDS if (self.layout.pg / "postmaster.pid").exists() else 10):
            raise StartFailed(f"PostgreSQL did not start: {last_log_line(self.log, default=failure)} (log: {self.log})")

    def _forget_dead_server(self) -> None:
        """Remove lock files whose process is gone.

        PostgreSQL does this itself unless the pid was given to another process of ours meanwhile, which
        happens in containers. Its shared memory check still protects the data from orphaned backends.
        """
        for stale in (self.layout.pg / "postmaster.pid", self.layout.run / ".s.PGSQL.5432.lock"):
            stale.unlink(missing_ok=True)

    def _options(self) -> str:
        settings = SETTINGS | {"unix_socket_directories": str(self.layout.run)}
        return " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())

    def _pg_ctl(self, programs: PostgresPrograms, action: str, *options: str) -> str:
        """Run pg_ctl and wait for it; returns "" or what it complained about."""
        command = [str(programs.bin / "pg_ctl"), "-w", "-s", "-D", str(self.layout.pg), *options, action]
        done = self.layout.account.run(command)
        return "" if done.returncode == 0 else _one_line(done.stderr or done.stdout) or "pg_ctl failed"

    def _create_roles_and_database(self) -> None:
        with self._connect("postgres") as connection:
            known = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
            for role in (APP_ROLE, SEQUENCER_ROLE):
                if role not in known:
                    create = "CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {}"
                    verifier = sql.Literal(scram_verifier(password_of(self.layout, role)))
                    connection.execute(sql.SQL(create).format(sql.Identifier(role), verifier))
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def scram_verifier(password: str) -> str:
    """What PostgreSQL keeps of a password for SCRAM-SHA-256 (RFC 5802, RFC 7677).

    One round of hashing is enough: these passwords are 256 random bits, and more rounds, which make guessing slower,
    would make every connection slower too.
    """
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    of_salt, of_stored, of_server = (base64.b64encode(part).decode() for part in (salt, stored, server))
    return f"SCRAM-SHA-256$1:{of_salt}${of_stored}:{of_server}"


def locale_options(version: str) -> tuple[str, ...]:
    """Options of initdb for texts in the order of their code points, with upper and lower case of all of Unicode.

    From version 17 on PostgreSQL brings that itself. Before it asks the system, which must have the locale C.UTF-8;
    macOS before version 15 has none.
    """
    major = int(re.split(r"\D", version, maxsplit=1)[0])
    if major < BUILT_IN_LOCALE:
        return ("--locale=C.UTF-8",)
    return ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")


def _one_line(text: str) -> str:
    return " ".join(text.split())
