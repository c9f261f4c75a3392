"""The web processes and the process that sends hints, as `make run` has them, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from deploy.embedded.process import wait_until
from deploy.processes import Processes, address, application, listen


@dataclass(frozen=True)
class Running:
    """Where they serve, and the processes themselves."""

    root: str
    port: int
    processes: Processes

    def url(self, path: str) -> str:
        """An address of the API."""
        return f"{self.root}/api/v1/{path}"


@contextmanager
def running(**environ: str) -> Iterator[Running]:
    """Both, ready, with these variables besides the test's."""
    with TemporaryDirectory(prefix="cukassza-l-") as logs, listen(0) as listener:
        programs = [program for program in application(listener) if program.name in ("web", "hints")]
        with Processes(programs, environ={**os.environ, **environ}, log_dir=Path(logs)) as processes:
            root = address(listener)
            processes.wait_ready(f"{root}/healthz")
            # The web processes are there before the other: it is asked when it listens.
            path = programs[0].environ["CASINO_STREAMS_SOCKET"]
            assert wait_until(lambda: os.path.exists(path), seconds=30), path  # noqa: PTH110 - a socket, not a file
            yield Running(root, listener.getsockname()[1], processes)
