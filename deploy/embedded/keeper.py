"""Keeps the embedded servers up: one that has died is started again."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from deploy.embedded.errors import EmbeddedError
from deploy.embedded.services import dead, ensure

#: Seconds between two looks, which read two small files.
POLL_SECONDS = 0.5
#: Seconds until the next attempt, after one that failed.
PAUSE_SECONDS = 5.0


@dataclass
class Keeper:
    """Starts embedded servers again, while it is entered. One that was stopped by `down` (`make down`) stays
    stopped, and servers that the environment names are left alone."""

    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    var: Path | None = None
    _stopping: threading.Event = field(default_factory=threading.Event, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)

    def __enter__(self) -> Keeper:
        self._thread = threading.Thread(target=self._keep, name="keeper", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _keep(self) -> None:
        pause = POLL_SECONDS
        while not self._stopping.wait(pause):
            pause = POLL_SECONDS
            try:
                if names := dead(environ=self.environ, var=self.var):
                    ensure(environ=self.environ, var=self.var)
                    print(f"keeper: {' and '.join(names)} had died and runs again", file=sys.stderr, flush=True)
            except (EmbeddedError, OSError) as error:
                # No memory, no disk: it may pass, and the keeper must outlive it.
                print(f"keeper: the servers cannot be started again: {error}", file=sys.stderr, flush=True)
                pause = PAUSE_SECONDS
