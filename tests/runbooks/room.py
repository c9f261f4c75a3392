"""What a trial is given: an installation under play, and a way to run the commands of the page in it.

The commands are those of the page, word for word. Only what this machine has not is put in its place: systemd's units
are the processes and servers of the trial, `sudo` is left out, and `manage.py` runs in the trial's environment.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from deploy import embedded
from deploy.embedded.binaries import find_postgres
from deploy.embedded.postgres import Postgres
from deploy.embedded.process import wait_until
from deploy.embedded.valkey import Valkey
from deploy.processes import CHECKOUT, NotReady
from tests.faults.house import Installation
from tests.faults.players import Play
from tests.runbooks import page

#: Seconds within which a command has done its work, and the house has noticed something.
LONGEST, NOTICED = 300, 240.0
UNITS = {
    "cukassza-web": ["web"], "cukassza-hints": ["hints"], "cukassza-worker@*": ["worker", "worker-2"],
    "cukassza-files": ["worker-files"], "cukassza-beat": ["beat"], "cukassza-sequencer": ["sequencer"],
}  # fmt: skip


class Unexpected(Exception):
    """A command did not do what the page says; the message says which."""


@dataclass
class Room:
    """One runbook's stage: a house that is played in, and the folder for what is copied."""

    heading: str
    at: Installation
    play: Play
    folder: Path
    #: What stands for the words in capitals, and for paths of the page.
    meant: dict[str, str] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    @property
    def house(self) -> str:
        """The code of the house."""
        return self.play.credentials.house

    def run(self, line: str, *, codes: Collection[int] = (0,)) -> subprocess.CompletedProcess[str]:
        """Run a line of the page; it must end with one of these codes. Raises Unexpected."""
        assert line in page.commands(self.heading), f"{line} is not in {self.heading}"
        words = [self._meant(word) for word in page.words(line)]
        began = time.monotonic()
        if words[0] == "systemctl":
            self._systemctl(words[1], words[2:])
            done = subprocess.CompletedProcess(words, 0, "", "")
        else:
            done = self._run(words)
        self.done.append(f"{line}   ({time.monotonic() - began:.1f} s)")
        if done.returncode not in codes:
            said = (done.stdout[-1500:] + done.stderr[-1500:]).strip()
            raise Unexpected(f"{self.heading}: `{line}` ended with {done.returncode}: {said}")
        return done

    def command(self, begin: str) -> str:
        """The one command of the section that begins so."""
        [line] = [one for one in page.commands(self.heading) if one.startswith(begin)]
        return line

    def _meant(self, word: str) -> str:
        for name, value in sorted(self.meant.items(), key=lambda one: -len(one[0])):
            word = word.replace(name, value)
        return word

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        if words[0] == "install":
            # There is no such user here.
            words = [
                one for at, one in enumerate(words) if one not in ("-o", "-g") and words[at - 1] not in ("-o", "-g")
            ]
        programs = {"manage.py": [sys.executable, str(CHECKOUT / "manage.py")], "python3": [sys.executable]}
        command = [*programs.get(words[0], words[:1]), *words[1:]]
        path = f"{find_postgres().bin}:{os.environ['PATH']}"
        return subprocess.run(
            command, cwd=self.folder, env=dict(os.environ) | {"PATH": path} | self.environ, capture_output=True,
            text=True, timeout=LONGEST, check=False,
        )  # fmt: skip

    def _systemctl(self, verb: str, units: list[str]) -> None:
        before: dict[str, int] = {}
        for unit in units:
            if unit == "cukassza.target":
                self.at.processes.stop() if verb == "stop" else self.at.processes.start()
            elif unit in UNITS:
                assert verb == "restart", verb
                before |= {name: self.at.processes.kill(name, signal.SIGTERM) for name in UNITS[unit]}
            elif unit in ("postgresql", "valkey-server"):
                server = Postgres(self.at.layout) if unit == "postgresql" else Valkey(self.at.layout)
                if verb == "restart":
                    server.stop()
                embedded.ensure()
            else:
                raise Unexpected(f"{unit} is no unit of a trial")
        for name, pid in before.items():
            self.until(lambda name=name, pid=pid: self._is_new(name, pid), f"{name} is started again")  # type: ignore[misc]
        if verb != "stop":
            self.until(self.ready, "the house is ready")

    def _is_new(self, name: str, pid: int) -> bool:
        """Whether a process runs that is not this one."""
        with suppress(NotReady):
            return self.at.processes.pid_of(name) != pid
        return False

    # --- What the house says ------------------------------------------------------------------------------------------

    def says(self) -> dict[str, Any]:
        """What /readyz says; empty where it does not answer."""
        try:
            found: dict[str, Any] = httpx.get(f"{self.at.root}/readyz", timeout=10).json()
        except (httpx.HTTPError, ValueError):
            return {}
        return found

    def failed(self) -> set[str]:
        """The codes of its checks that have failed."""
        return {one["code"] for one in self.says().get("failed", ())}

    def ready(self) -> bool:
        """Whether it says ready, or what does not keep anybody from playing."""
        return self.says().get("status") in ("ready", "degraded", "read_only")

    def until(self, holds: Callable[[], bool], what: str) -> float:
        """Wait until this holds; returns after how many seconds. Raises Unexpected."""
        began = time.monotonic()
        if not wait_until(holds, seconds=NOTICED):
            raise Unexpected(f"{self.heading}: not within {NOTICED:.0f} s: {what}; /readyz says {self.says()}")
        return time.monotonic() - began

    def until_written(self) -> None:
        """Wait until a write is accepted that was not yet. Raises Unexpected."""
        before = len(self.play.journal.accepted)
        self.until(lambda: len(self.play.journal.accepted) > before, "a write is accepted")

    def writes_nothing(self, seconds: float) -> bool:
        """Whether no write is accepted for so long."""
        before = len(self.play.journal.accepted)
        time.sleep(seconds)
        return len(self.play.journal.accepted) == before

    def copied(self, source: Path, name: str) -> Path:
        """A copy of a folder, as somebody else has it."""
        return Path(shutil.copytree(source, self.folder / name))
