"""The servers as in production: the supervisor's own commands, on a database of the bench's own."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from deploy.embedded.process import command_line
from deploy.processes import Processes, Program, address, application, listen
from tests.bench.http import stage, usage

SETTINGS = "tests.bench.http.settings"
#: Programs whose CPU is reported, as the supervisor names them.
PROGRAMS = ("web", "worker", "beat", "sequencer")
POSTGRES = "PostgreSQL"


@dataclass(frozen=True, slots=True)
class Servers:
    """What runs."""

    processes: Processes
    port: int
    postmaster: int | None

    def cpu(self) -> dict[str, float]:
        """CPU seconds of each part until now; empty where there is no /proc, PostgreSQL only if it runs here."""
        if not usage.measurable():
            return {}
        roots = {name: self.processes.pid_of(name) for name in PROGRAMS}
        if self.postmaster is not None:
            roots[POSTGRES] = self.postmaster
        return usage.of_trees(roots, usage.processes())


@contextmanager
def running() -> Iterator[Servers]:
    """Web, worker, beat and sequencer, ready, and then the bare view's table."""
    with _supervised(lambda programs: programs) as (processes, port):
        stage.create_bare_table()
        yield Servers(processes, port, postmaster())


@contextmanager
def web_alone(app: str = "casino.wsgi", environ: Mapping[str, str] | None = None) -> Iterator[int]:
    """A second web program with one worker, for what is looked at request by request; its port."""

    def chosen(programs: tuple[Program, ...]) -> tuple[Program, ...]:
        [web] = [program for program in programs if program.name == "web"]
        command = [app if part == "casino.wsgi" else part for part in web.command]
        # One thread: every thread has a connection of its own, which prepares its statements for itself.
        return (Program("web", (*command, "--workers", "1", "--threads", "1"), web.files, web.private),)

    # Without worker and beat it is not ready, but it answers.
    with _supervised(chosen, environ or {}, answers="healthz") as (_, port):
        yield port


@contextmanager
def _supervised(
    chosen: Callable[[tuple[Program, ...]], tuple[Program, ...]],
    environ: Mapping[str, str] | None = None,
    answers: str = "readyz",
) -> Iterator[tuple[Processes, int]]:
    everything = {**os.environ, "DJANGO_SETTINGS_MODULE": SETTINGS, **(environ or {})}
    with (
        TemporaryDirectory(prefix="cukassza-b-") as logs,
        listen(0) as listener,
        Processes(chosen(application(listener)), environ=everything, log_dir=Path(logs)) as processes,
    ):
        processes.wait_ready(f"{address(listener)}/{answers}")
        yield processes, listener.getsockname()[1]


def postmaster() -> int | None:
    """The pid of PostgreSQL's first process, None where it runs on another machine or there is no /proc."""
    from django.db import connection

    if not usage.measurable():
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), current_database()")
        backend, database = cursor.fetchone()
    return usage.parent_of(backend) if str(database) in command_line(backend) else None
