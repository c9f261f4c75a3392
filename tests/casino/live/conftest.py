"""The web processes and the process that sends hints, as `make run` has them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from deploy.processes import Processes, address, application, listen
from tests.services import TestServices


@dataclass
class Running:
    """Where they serve, and the processes themselves."""

    root: str
    processes: Processes

    def url(self, path: str) -> str:
        """An address of the API."""
        return f"{self.root}/api/v1/{path}"


def running(**environ: str) -> Iterator[Running]:
    """Start them with these variables besides the test's."""
    with listen(0) as listener:
        programs = [program for program in application(listener) if program.name in ("web", "hints")]
        with Processes(programs, environ={**os.environ, **environ}) as processes:
            root = address(listener)
            processes.wait_ready(f"{root}/healthz")
            # The web processes are there before the other: it is asked when it listens.
            path = programs[0].environ["CASINO_STREAMS_SOCKET"]
            _until_there(path)
            yield Running(root, processes)


def _until_there(path: str) -> None:
    from deploy.embedded.process import wait_until

    assert wait_until(lambda: os.path.exists(path), seconds=30), path  # noqa: PTH110 - a socket, not a file


@pytest.fixture(scope="module")
def up(services: TestServices, django_db_setup: None) -> Iterator[Running]:
    """Both, with no broker: nothing here speaks to it."""
    yield from running(REDIS_URL="redis://127.0.0.1:1/0", CELERY_BROKER_URL="redis://127.0.0.1:1/0")
