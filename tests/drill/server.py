"""The database machine of a trial: a PostgreSQL that pushes its WAL with pgBackRest, and dies with its machine."""

from __future__ import annotations

import secrets
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from deploy.backups.pgbackrest import PgBackRest
from deploy.embedded.process import read_pid, wait_until
from tests.drill import configuration
from tests.drill.programs import Programs
from tests.faults.injecting import family, send
from tests.services import free_port


class NotRunning(Exception):
    """The server does not do what it is to do."""


@dataclass
class Server:
    """The server with its backups."""

    folder: Path
    programs: Programs
    port: int
    run: Path
    passes: list[str]
    password: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def repositories(self) -> Path:
        """The folder of both repositories, which outlives the machine."""
        return self.folder.parent / "repositories"

    @property
    def configuration(self) -> Path:
        """The folder of pgBackRest's configuration."""
        return self.folder / "pgbackrest"

    @property
    def pgbackrest(self) -> PgBackRest:
        """pgBackRest on this machine."""
        return PgBackRest(self.programs.pgbackrest, self.configuration, "cukassza", self.programs.account)

    def url(self, login: str, database: str) -> str:
        """Where a login reaches it."""
        return f"postgresql://{login}:{self.password}@127.0.0.1:{self.port}/{database}"

    def administrator(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the superuser."""
        return psycopg.connect(self.url("postgres", database), autocommit=True)

    def make(self) -> None:
        """Make the database machine, and the stanza in both repositories. Raises NotRunning."""
        self.folder.mkdir()
        configuration.pgbackrest(
            self.configuration, repositories=self.repositories, data=self.data, socket=self.run, port=self.port,
            passes=self.passes,
        )  # fmt: skip
        word = self.folder / "password"
        word.write_text(self.password, encoding="ascii")
        options = ("-U", "postgres", "-A", "scram-sha-256", "--auth-local=trust", f"--pwfile={word}", "-k")
        self._done("initdb", "-D", str(self.data), *options, "-E", "UTF8", "--locale=C.UTF-8")
        settings = configuration.postgresql(self.programs.pgbackrest, self.configuration) | {
            "listen_addresses": "127.0.0.1", "port": str(self.port), "unix_socket_directories": str(self.run),
            "timezone": "UTC", "log_timezone": "UTC",
        }  # fmt: skip
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        self._done("pg_ctl", "-w", "-s", "-D", str(self.data), "-l", str(self.folder / "server.log"), "start")
        self.pgbackrest.run("stanza-create")

    def archived(self) -> tuple[str, float]:
        """The last segment that both repositories have, and when they had it (seconds since 1970)."""
        with self.administrator() as connection:
            [(name, at)] = connection.execute(
                "SELECT coalesce(last_archived_wal, ''), coalesce(extract(epoch FROM last_archived_time), 0)::float8 "
                "FROM pg_stat_archiver"
            ).fetchall()
        assert isinstance(name, str) and isinstance(at, float)
        return name, at

    def events(self, house: str) -> dict[tuple[object, object], tuple[str, str]]:
        """Hash and time of every event of a house, by chain and number."""
        return events(self.url("postgres", "casino"), house)

    def kill(self) -> None:
        """Kill the server and every backend at once, as a machine that loses its power."""
        pids = self._pids()
        for _ in range(2):
            send(pids, signal.SIGSTOP)
            pids = self._pids()
        send(pids, signal.SIGKILL)
        if not wait_until(lambda: not any(Path(f"/proc/{pid}/fd/0").exists() for pid in pids), seconds=10):
            raise NotRunning("the server cannot be killed")

    def stop(self) -> None:
        """Stop it if it runs."""
        if self._pids():
            command = [str(self.programs.postgres / "pg_ctl"), "-D", str(self.data), "-m", "immediate", "stop"]
            self.programs.account.run(command)

    def _pids(self) -> list[int]:
        pid = read_pid(self.data / "postmaster.pid")
        return family(pid) if pid is not None and Path(f"/proc/{pid}/fd/0").exists() else []

    def _done(self, program: str, *options: str) -> None:
        done = self.programs.account.run([str(self.programs.postgres / program), *options])
        if done.returncode:
            raise NotRunning(f"{program}: {done.stderr.strip()[-500:] or done.stdout.strip()[-500:]}")


def events(url: str, house: str) -> dict[tuple[object, object], tuple[str, str]]:
    """Hash and time of every event of a house, by chain and number."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT event.chain_id, event.seq, event.leaf_hash, event.doc->>'at' FROM audit_event event "
            "JOIN houses_house house ON house.id = event.house_id WHERE house.code = %s", [house]
        ).fetchall()  # fmt: skip
    return {(chain, seq): (leaf, at) for chain, seq, leaf, at in found}


@contextmanager
def running(folder: Path, programs: Programs) -> Iterator[Server]:
    """A new one, with two empty repositories. Raises NotRunning, BackupError."""
    run = Path(tempfile.mkdtemp(prefix="drill-run-"))
    passes = [configuration.new_pass(), configuration.new_pass()]
    server = Server(folder / "first", programs, free_port(), run, passes)
    try:
        server.make()
        yield server
    finally:
        server.stop()
        for file in run.iterdir():
            file.unlink()
        run.rmdir()
