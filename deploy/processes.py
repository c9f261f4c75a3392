"""The processes of one house on one machine, kept alive: web, hints, worker, beat and the sequencer of the audit log.

`python -m deploy.processes` runs them until SIGINT or SIGTERM, `--restart NAME` restarts one of them;
`Processes` does the same from code:

    with listen(0) as listener, Processes(application(listener)) as processes:
        processes.wait_ready(f"{address(listener)}/readyz")
        processes.kill("worker")     # comes back by itself

Each child leads a separate process group and writes to var/log/NAME.log. When a child dies, what is left of its group
(pool children of a killed Celery or gunicorn master) is killed before it is started again. When the supervisor itself
is killed, Linux sends every child SIGTERM, so they end in good order.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType

from deploy import embedded
from deploy.embedded.process import signalled_when_parent_dies, wait_until

CHECKOUT = Path(__file__).resolve().parents[1]
DEFAULT_PORT = 8000
POLL_SECONDS = 0.05
#: Threads of all web processes together.
WEB_THREADS = 16
#: Bytes of a refusal that an error quotes.
MOST_SAID = 2_000
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
# A child that lived this long was healthy: its next restart is quick again.
HEALTHY_SECONDS = 10.0
STOP_SECONDS = 25.0
EXIT_PROBLEM = 2
#: Connections that wait to be accepted, for example while the web process is started again.
BACKLOG = 1024
#: The workers' queues, the most urgent first.
QUEUES = "settlement,celery,houses"
#: The queue of the worker that makes files of reports.
FILES = "files"
#: What only programs that name it find in their environment: the key that signs the log, and the right to grow it (the
#: owner's as well, which can become any role); the variables of files with them, too.
PRIVATE = frozenset(
    f"{name}{suffix}"
    for name in ("CASINO_LOG_KEY", "CASINO_LOG_KEY_OLD", "DATABASE_SEQUENCER_URL", "DATABASE_OWNER_URL")
    for suffix in ("", "_FILE")
)


class ProcessesError(Exception):
    """An expected problem with the supervised processes; the message is one line for a person."""

    code = "processes_error"


class NotReady(ProcessesError):
    """The application did not become ready in time."""

    code = "not_ready"


class PortTaken(ProcessesError):
    """Another process listens on the port."""

    code = "port_taken"


@dataclass(frozen=True)
class Program:
    """One process to keep alive; `files` are open descriptors it inherits (a listening socket), `private` the names in
    `PRIVATE` that it may know, `environ` what only it finds in its environment."""

    name: str
    command: Sequence[str]
    files: tuple[int, ...] = ()
    private: frozenset[str] = frozenset()
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Child:
    program: Program
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE
    due: float = 0.0
    restarts: int = 0
    last_code: int = 0


@dataclass
class Processes:
    """Starts programs, restarts those that die, stops all of them. Safe to use from one thread."""

    programs: Sequence[Program]
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    log_dir: Path = field(default_factory=lambda: embedded.var_dir() / "log")
    _children: dict[str, _Child] = field(default_factory=dict, init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False)
    _stopping: threading.Event = field(default_factory=threading.Event, init=False)
    _keeper: threading.Thread | None = field(default=None, init=False)

    def __enter__(self) -> Processes:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start every program and the thread that keeps them alive."""
        self.log_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._stopping.clear()
        self._children = {program.name: _Child(program) for program in self.programs}
        self._keeper = threading.Thread(target=self._keep_alive, name="processes", daemon=True)
        self._keeper.start()

    def stop(self) -> None:
        """SIGTERM to every child, SIGKILL to what is left of its group after `STOP_SECONDS`."""
        self._stopping.set()
        if self._keeper is not None:
            self._keeper.join()
            self._keeper = None

    def wait_ready(self, url: str, *, seconds: float = 120.0) -> None:
        """Wait until `url` answers 200; `NotReady` names the last answer and the logs."""
        # Without the proxies of the environment: they are not meant for 127.0.0.1.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + seconds
        answer = "no answer"
        while time.monotonic() < deadline:
            try:
                with opener.open(url, timeout=10):
                    return
            except urllib.error.HTTPError as error:
                with error:  # it holds the connection; newer Pythons complain when it is left to the collector
                    answer = f"HTTP {error.code} {_said(error)}".strip()
            except OSError as error:
                answer = str(error)
            time.sleep(POLL_SECONDS)
        counts = ", ".join(f"{name}: {child.restarts} restarts" for name, child in self._children.items())
        raise NotReady(f"{url} is not ready after {seconds:.0f} s ({answer}; {counts}; logs in {self.log_dir})")

    def pid_of(self, name: str) -> int:
        """The pid of the running child; waits while it is being restarted. Raises `NotReady` after 10 s."""
        return self._running(name).pid

    def restarts_of(self, name: str) -> int:
        """How often the child was started again."""
        return self._children[name].restarts

    def replace(self, program: Program) -> None:
        """Run this program in place of the one of its name, from the next start on."""
        with self._lock:
            self._children[program.name].program = program

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> int:
        """Send a signal to the child itself (not its group) and return the pid that got it.

        After SIGKILL the child is dead when this returns, so that `pid_of` waits for the next one.
        """
        process = self._running(name)
        process.send_signal(number)
        if number == signal.SIGKILL:
            wait_until(lambda: process.poll() is not None, seconds=STOP_SECONDS)
        return process.pid

    def _running(self, name: str) -> subprocess.Popen[bytes]:
        deadline = time.monotonic() + HEALTHY_SECONDS
        while time.monotonic() < deadline:
            with self._lock:
                process = self._children[name].process
                if process is not None and process.poll() is None:
                    return process
            time.sleep(POLL_SECONDS)
        raise NotReady(f"{name} is not running (log: {self.log_dir / f'{name}.log'})")

    def _keep_alive(self) -> None:
        """The keeper's thread: it alone starts and ends children, since the kernel calls it their parent."""
        try:
            while not self._stopping.wait(POLL_SECONDS):
                for child in self._children.values():
                    self._look_after(child)
        finally:
            self._end_all()

    def _look_after(self, child: _Child) -> None:
        """Bury a dead child with its group, and start it (again) when its pause is over."""
        now = time.monotonic()
        with self._lock:
            if child.process is not None and child.process.poll() is not None:
                self._bury(child, child.process, now)
            if child.process is None and now >= child.due:
                try:
                    self._launch(child)
                except OSError as error:
                    # No memory or no disk: the keeper must outlive that, or all its children end.
                    child.due = now + LONGEST_PAUSE
                    print(f"processes: {child.program.name} cannot be started: {error}", file=sys.stderr)

    def _bury(self, child: _Child, process: subprocess.Popen[bytes], now: float) -> None:
        _signal_group(process.pid, signal.SIGKILL)
        if now - child.started > HEALTHY_SECONDS:
            child.pause = FIRST_PAUSE
        child.due = now + child.pause
        child.pause = min(child.pause * 2, LONGEST_PAUSE)
        child.restarts += 1
        child.process = None
        child.last_code = process.returncode

    def _launch(self, child: _Child) -> None:
        with self._log(child).open("ab") as log:
            if child.restarts:
                stamp = time.strftime("%Y-%m-%d %H:%M:%S")
                log.write(f"{stamp} supervisor: ended with code {child.last_code}, starting again\n".encode())
                log.flush()
            child.process = subprocess.Popen(
                list(child.program.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=CHECKOUT,
                env=self._environ_of(child.program),
                start_new_session=True,
                pass_fds=child.program.files,
                preexec_fn=signalled_when_parent_dies(signal.SIGTERM),
            )
            child.started = time.monotonic()
            pid_file(child.program.name, self.log_dir).write_text(f"{child.process.pid}\n", encoding="utf-8")

    def _environ_of(self, program: Program) -> dict[str, str]:
        hidden = PRIVATE - program.private
        return {name: value for name, value in self.environ.items() if name not in hidden} | dict(program.environ)

    def _end_all(self) -> None:
        running = [child.process for child in self._children.values() if child.process is not None]
        for process in running:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in running:
            try:
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            _signal_group(process.pid, signal.SIGKILL)

    def _log(self, child: _Child) -> Path:
        return self.log_dir / f"{child.program.name}.log"


def pid_file(name: str, log_dir: Path) -> Path:
    """Where the supervisor writes the pid of a child, beside its log."""
    return log_dir / f"{name}.pid"


def restart(name: str, log_dir: Path | None = None) -> int:
    """Have the supervisor of another process restart its child; returns the new pid. The child ends in good order
    first, and what it serves waits meanwhile. Raises `NotReady` where there is none, or it does not come back."""
    file = pid_file(name, log_dir or embedded.var_dir() / "log")
    try:
        old = int(file.read_text(encoding="utf-8"))
        os.kill(old, signal.SIGTERM)
    except (OSError, ValueError) as error:
        raise NotReady(f"{name} is not running ({file}: {error})") from error
    if not wait_until(lambda: _pid_in(file) not in (0, old), seconds=STOP_SECONDS + LONGEST_PAUSE):
        raise NotReady(f"{name} has not been started again (log: {file.with_suffix('.log')})")
    return _pid_in(file)


def _pid_in(file: Path) -> int:
    """The pid that a file says; 0 while it is being written."""
    text = file.read_text(encoding="utf-8").strip()
    return int(text) if text else 0


def listen(port: int) -> socket.socket:
    """A listening socket on 127.0.0.1 (port 0: a free one) that outlives the web process, or `PortTaken`.

    Because the supervisor holds it, requests wait during a restart instead of being refused, and no other process can
    take the port.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise PortTaken(f"port {port} cannot be used: {error.strerror}") from error
    listener.listen(BACKLOG)
    return listener


def application(listener: socket.socket) -> tuple[Program, ...]:
    """Web (a worker for each core on `listener`), hints, two workers and one for reports (one prefork child each), beat
    and sequencer, under this Python."""
    python = sys.executable
    # Without its banner: each line of a log has one form.
    celery = (python, "-m", "celery", "-A", "casino.celery", "--quiet")
    file = listener.fileno()
    web = (python, "-m", "gunicorn", "casino.wsgi", "--bind", f"fd://{file}")
    workers = web_workers(os.cpu_count())
    # Its threads wait for the database most of the time, some of them for a lock; each has a connection of its own.
    counts = ("--workers", str(workers), "--threads", str(-(-WEB_THREADS // workers)))
    worker = ("--worker-class", "deploy.web.BufferingWorker", *counts)
    # The application is loaded once, before the workers are forked from it.
    # One that does not give a sign of life for 10 s is ended: others then take what waits for it.
    stopping = ("--preload", "--timeout", "10", "--graceful-timeout", "20", "--backlog", str(BACKLOG))
    # The control socket would be one per user, in a home folder that may not be writable.
    places = ("--worker-tmp-dir", _heartbeat_dir(), "--no-control-socket")
    port = listener.getsockname()[1]
    streams = {"CASINO_STREAMS_SOCKET": str(embedded.hints_socket(port))}
    # A folder for each web: what its processes count is added up.
    counted = {"CASINO_METRICS_DIR": str(embedded.var_dir() / "metrics" / str(port))}
    return (
        Program("web", (*web, *worker, *stopping, *places), (file,), environ=streams | counted),
        Program("hints", (python, str(CHECKOUT / "manage.py"), "send_hints"), environ=streams),
        # Two, so that hands are settled while one of them is dead and starts again.
        Program("worker", (*celery, *_worker("worker"))),
        Program("worker-2", (*celery, *_worker("worker-2"))),
        # Reports take minutes, for which nothing else waits.
        Program("worker-files", (*celery, *_worker("worker-files", FILES))),
        Program("beat", (*celery, "beat", "--loglevel", "INFO")),
        Program("sequencer", (python, str(CHECKOUT / "manage.py"), "sequence_audit"), private=PRIVATE),
    )


def web_workers(cores: int | None) -> int:
    """Web processes on a machine of so many cores: one for each, two at least, so that one can be started again, and
    four at most. Two cores with four of them took a tenth more CPU for a hand (`make load`)."""
    return min(max(cores or 2, 2), 4)


def _worker(name: str, queues: str = QUEUES) -> tuple[str, ...]:
    """Arguments of a Celery worker. Settlements come first, because hands wait for them; checks of whole houses come
    last (`casino/celery.py` names the queues)."""
    # Without gossip, mingle and heartbeat: they are chatter between workers that nobody here listens to.
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    pool = ("--pool", "prefork", "--concurrency", "1")
    return ("worker", "--hostname", f"{name}@%h", "--queues", queues, *pool, "--loglevel", "INFO", *quiet)


def address(listener: socket.socket) -> str:
    """`http://127.0.0.1:PORT` of a listening socket."""
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def _heartbeat_dir() -> str:
    """Where gunicorn touches its heartbeat files: in memory, or a slow disk looks like a dead worker."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"  # noqa: S108 - unlinked at once by gunicorn


def _signal_group(leader: int, number: signal.Signals) -> None:
    """Signal what is left of a child's process group; an empty group is what we want."""
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        return


def run(port: int) -> None:
    """Run the application until SIGINT or SIGTERM. Raises `EmbeddedError` and `ProcessesError`."""
    urls = embedded.ensure()
    environ = {**os.environ, **urls.as_environ()}
    signal.signal(signal.SIGTERM, _interrupt)
    with (
        embedded.Keeper(),
        listen(port) as listener,
        Processes(application(listener), environ=environ) as processes,
    ):
        processes.wait_ready(f"{address(listener)}/readyz")
        print(f"ready: {address(listener)}", flush=True)
        threading.Event().wait()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends us the way Ctrl-C does, whatever we are waiting for."""
    raise KeyboardInterrupt


def _said(error: urllib.error.HTTPError) -> str:
    """What a refusal says of itself in one line, as /readyz names its failed checks; nothing if it cannot be read."""
    try:
        return " ".join(error.read(MOST_SAID).decode(errors="replace").split())
    except OSError:
        return ""


def main(argv: list[str] | None = None) -> int:
    """`python -m deploy.processes [--port N | --restart NAME]`; exit code 2 and one line for an expected problem."""
    parser = argparse.ArgumentParser(prog="python -m deploy.processes", description="Run a house's processes.")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="port on 127.0.0.1, 0 for a free one")
    parser.add_argument("--restart", metavar="NAME", help="restart one of the processes that run: web, worker, ...")
    given = parser.parse_args(argv)
    try:
        if given.restart:
            print(f"{given.restart}: {restart(given.restart)}")
        else:
            run(given.port)
    except (embedded.EmbeddedError, ProcessesError) as error:
        print(f"processes: {error} [{error.code}]", file=sys.stderr)
        return EXIT_PROBLEM
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
