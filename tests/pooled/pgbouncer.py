"""pgbouncer before a database: installed, or unpacked from a release of Debian that has a version which suffices. It
runs with `deploy/pgbouncer/pgbouncer.ini`, but for addresses, folders and what a trial makes smaller."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psycopg

from deploy import embedded
from deploy.embedded.account import Account
from deploy.embedded.process import signalled_when_parent_dies, wait_until
from deploy.processes import CHECKOUT
from tests import debian
from tests.ha.programs import Missing, account_of_servers
from tests.services import free_port

FILE = CHECKOUT / "deploy" / "pgbouncer" / "pgbouncer.ini"
#: 1.21 keeps statements that clients prepare, and 1.22 knows DEALLOCATE ALL, which psycopg sends after each ROLLBACK.
LEAST = (1, 22)
#: The release of Debian with such a version, and the packages that pgbouncer needs there.
RELEASE = "trixie"
PACKAGES = (
    "pgbouncer", "libc6", "libcares2", "libevent-2.1-7t64", "libpam0g", "libssl3t64", "libsystemd0", "libaudit1",
    "libcap-ng0", "libcap2", "libzstd1", "zlib1g",
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """How it is started."""

    command: tuple[str, ...]
    account: Account


@cache
def found() -> Program:
    """pgbouncer, unpacked where none is installed that suffices. Raises Missing."""
    account = account_of_servers()
    installed = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if installed and _version((installed,)) >= LEAST:
        return Program((installed,), account)
    try:
        root = debian.of_release(embedded.var_dir() / "pgbouncer", RELEASE, PACKAGES)
        command = tuple(debian.loaded(root, "usr/sbin/pgbouncer"))
    except debian.NotUnpacked as error:
        least = ".".join(map(str, LEAST))
        raise Missing(f"pgbouncer {least} is not installed and cannot be unpacked: {error}") from error
    if _version(command) < LEAST:
        raise Missing(f"{' '.join(command[-1:])} does not run, or is too old")
    return Program(command, account)


def _version(command: tuple[str, ...]) -> tuple[int, int]:
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"PgBouncer (\d+)\.(\d+)", done.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def configuration(changes: Mapping[str, str]) -> str:
    """The file of the operators with these settings in place of its own. Raises AssertionError for one it lacks."""
    text = FILE.read_text(encoding="utf-8")
    for name, value in changes.items():
        text, count = re.subn(rf"(?m)^{re.escape(name)} =.*$", f"{name} = {value}", text)
        assert count == 1, f"{name} is on {count} lines"
    return text


@dataclass
class PgBouncer:
    """One that runs, at this port."""

    program: Program
    folder: Path
    port: int
    _process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        """What it says."""
        return self.folder / "pgbouncer.log"

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it listens. Raises Missing."""
        command = [*self.program.account.prefix, *self.program.command, str(self.folder / "pgbouncer.ini")]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                preexec_fn=signalled_when_parent_dies(signal.SIGKILL),
            )  # fmt: skip
        if not wait_until(lambda: self.shown("VERSION") != [], seconds=20):
            self.kill()
            raise Missing(f"pgbouncer does not run: {self.log.read_text(encoding='utf-8')[-600:]}")

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=10)
            self._process = None

    def shown(self, what: str) -> list[dict[str, object]]:
        """What its console shows; nothing where it does not answer."""
        try:
            with self.console() as console:
                cursor = console.cursor().execute(f"SHOW {what}".encode())
                names = [column.name for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except psycopg.OperationalError:
            return []

    def command(self, what: str) -> None:
        """A command on its console: PAUSE, RESUME."""
        with self.console() as console:
            console.execute(what.encode())

    def console(self) -> psycopg.Connection[tuple[object, ...]]:
        """A connection to its console, which knows simple statements alone."""
        made: psycopg.Connection[tuple[object, ...]] = psycopg.connect(
            f"postgresql://console:console@127.0.0.1:{self.port}/pgbouncer", autocommit=True, connect_timeout=3,
            cursor_factory=psycopg.ClientCursor,
        )  # fmt: skip
        return made


@contextmanager
def running(
    folder: Path, database: str, passwords: Mapping[str, str], changes: Mapping[str, str] | None = None
) -> Iterator[PgBouncer]:
    """pgbouncer before a database (`host=... port=... dbname=...`), for these logins. Raises Missing."""
    folder.mkdir()
    made = PgBouncer(found(), folder, free_port())
    names = folder / "userlist.txt"
    lines = [f'"{login}" "{password}"\n' for login, password in {**passwords, "console": "console"}.items()]
    names.write_text("".join(lines), encoding="ascii")
    given = {
        "casino": database, "listen_port": str(made.port), "unix_socket_dir": "", "auth_file": str(names),
        "stats_users": "console\nadmin_users = console",
    }  # fmt: skip
    (folder / "pgbouncer.ini").write_text(configuration(given | dict(changes or {})), encoding="utf-8")
    made.start()
    try:
        yield made
    finally:
        made.kill()
