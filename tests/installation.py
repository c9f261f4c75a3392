"""An installation with all of its processes, for all tests that need no settings of their own.

To start one takes seconds of every process: so it runs on from one test that asks for it to the next, and ends before
any other test, whose houses its workers and its sequencer would work on. Tests that ask for it come one after another.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deploy.processes import Processes, address, application, listen

#: Fixtures that take long to set up, for several tests: those who ask for the same one run one after another, and
#: first, so that a process that has nothing to do takes the others away.
TOGETHER = ("installed", "two", "installation", "evening_of_others", "whole_evening", "everything_done", "behind", "up")


@dataclass
class Installation:
    """It starts when a test asks and it does not run. Its folder has the token of /metrics, and logs."""

    folder: Path
    _stack: ExitStack = field(default_factory=ExitStack)
    _up: tuple[Processes, str] | None = None

    def up(self) -> tuple[Processes, str]:
        """The processes and their address; all of them are ready."""
        if self._up is None:
            environ = dict(os.environ) | {
                "CASINO_METRICS_TOKEN_FILE": str(self.folder / "metrics-token"),
                "CASINO_BACKUP_RECORDS": str(self.folder),
            }
            listener = self._stack.enter_context(listen(0))
            processes = Processes(application(listener), environ=environ, log_dir=self.folder / "log")
            self._up = self._stack.enter_context(processes), address(listener)
        processes, root = self._up
        processes.wait_ready(f"{root}/readyz")
        return processes, root

    def end(self) -> None:
        """End all of it, if it runs."""
        self._up = None
        self._stack.close()


def bring_together(items: list[pytest.Item]) -> None:
    """Tests that share what takes long to set up come first, one after another."""
    rank = {name: number for number, name in enumerate(TOGETHER)}

    def place(item: pytest.Item) -> int:
        names: Iterable[str] = getattr(item, "fixturenames", ())
        return min((rank[name] for name in names if name in rank), default=len(TOGETHER))

    items.sort(key=place)
