"""One embedded Valkey with an append-only file: start and stop."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy.embedded.binaries import ValkeyProgram, copy_valkey, find_valkey
from deploy.embedded.errors import StartFailed, StopFailed
from deploy.embedded.layout import Layout, private_dir
from deploy.embedded.process import command_line, last_log_line, read_pid, send, wait_until

START_SECONDS = 20.0


def settings(socket: Path, data: Path) -> list[str]:
    """Options of a server that listens on one private socket and keeps an append-only file."""
    return [
        *("--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--dir", str(data), "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"),
    ]


def answering_version(socket: Path) -> str | None:
    """The version of the server that answers on `socket`, None when nobody answers or it is still loading."""
    # No retries: redis-py would spend seconds on a server that is simply not there.
    client = redis.Redis(unix_socket_path=str(socket), socket_timeout=5, retry=Retry(NoBackoff(), 0))
    try:
        facts = client.info("server")
    except (redis.ConnectionError, redis.TimeoutError):  # BusyLoadingError is a ConnectionError
        return None
    finally:
        client.close()
    assert isinstance(facts, dict)  # noqa: S101 - narrows the sync-or-async return type of redis-py
    return str(facts.get("valkey_version") or facts["redis_version"])


@dataclass(frozen=True)
class Valkey:
    """The server of one layout."""

    layout: Layout

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.layout.valkey / "server.log"

    @property
    def pid_file(self) -> Path:
        """The server's pid file (it removes the file itself at a clean end)."""
        return self.layout.valkey / "server.pid"

    def version(self) -> str | None:
        """The version of the answering server, None when nobody answers."""
        return answering_version(self.layout.valkey_socket)

    def start(self) -> None:
        """Make the server answer; does nothing when it does. Raises `StartFailed`."""
        if self.version() is None:
            self._start()
        self._wanted.touch()

    def _start(self) -> None:
        private_dir(self.layout.valkey, owner=self.layout.account.uid)
        private_dir(self.layout.run, owner=self.layout.account.uid)
        if self._pid() is None:
            self._launch()
        if not wait_until(lambda: self.version() is not None, seconds=START_SECONDS):
            raise StartFailed(f"Valkey did not start: {last_log_line(self.log, default='no answer')} (log: {self.log})")

    def stop(self) -> None:
        """Stop a running server; the append-only file is flushed first. Raises `StopFailed`."""
        self._wanted.unlink(missing_ok=True)
        pid = self._pid()
        if pid is None:
            return
        send(pid, signal.SIGTERM)
        if not wait_until(lambda: self._pid() is None, seconds=START_SECONDS):
            raise StopFailed(f"Valkey (pid {pid}) did not stop (log: {self.log})")

    def has_died(self) -> bool:
        """Whether the server has ended and nobody stopped it: it was killed, or gave up by itself."""
        return self._wanted.exists() and self._pid() is None

    @property
    def _wanted(self) -> Path:
        return self.layout.wanted("valkey")

    def _launch(self) -> None:
        program = self._program()
        options = settings(self.layout.valkey_socket, self.layout.valkey)
        files = ["--pidfile", str(self.pid_file), "--logfile", str(self.log)]
        done = self.layout.account.run([str(program.path), *options, *files, "--daemonize", "yes"])
        if done.returncode != 0:
            reason = " ".join((done.stderr or done.stdout).split())
            raise StartFailed(f"Valkey did not start: {reason or last_log_line(self.log, default='no reason given')}")

    def _program(self) -> ValkeyProgram:
        program = find_valkey()
        return program if self.layout.account.uid is None else copy_valkey(program, self.layout.home)

    def _pid(self) -> int | None:
        """The pid of our living server; its title names the socket, which distinguishes it from a reused pid."""
        pid = read_pid(self.pid_file)
        return pid if pid is not None and str(self.layout.valkey_socket) in command_line(pid) else None
