"""The application before the cluster: its processes as the supervisor starts them, a house, and its evening."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deploy import embedded
from deploy.demo.client import Terminal
from deploy.demo.evening import HERE, RecordedTable, load
from deploy.demo.logins import Credentials
from deploy.demo.play import Played, play_evening
from deploy.demo.proof import wait_for
from deploy.demo.report import collect
from deploy.demo.seed import found_house
from deploy.embedded.process import wait_until
from deploy.processes import CHECKOUT, Processes, address, application, listen
from tests import postgres
from tests.faults.house import NAMES
from tests.ha.cluster import Cluster
from tests.ha.journal import Acknowledged

#: Seconds between two hands of a table while trials go on: people shuffle, and the evening must last.
BETWEEN_HANDS = 3.0
#: Seconds within which hands are played.
BEGUN = 120.0
#: Seconds within which what the evening has left behind is done.
CAUGHT_UP = 60.0


@dataclass
class House:
    """A house whose evening is played until the trials are over."""

    processes: Processes
    root: str
    environ: dict[str, str]
    credentials: Credentials
    tables: dict[str, RecordedTable]
    hands: int = 0
    #: Tables that have played their last hand, in the order in which they did.
    _played: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _evening: Future[Played] | None = None
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    def begin(self) -> None:
        """Begin the evening; returns when hands are played. Raises AssertionError where none are."""
        self._evening = self._pool.submit(play_evening, self.root, self.credentials, self.tables, self._progress)
        assert wait_until(lambda: self.hands >= len(self.tables) or self.over, seconds=BEGUN), "no hand is played"

    def stop(self) -> None:
        """Hold nobody back any more, whatever becomes of the evening."""
        self._over.set()

    def _progress(self, table: str, number: int, hands: int) -> None:
        self.hands += 1
        if number < hands:
            self._over.wait(BETWEEN_HANDS)
        else:
            self._played.append(table)
            self._over.wait()  # the evening ends when the trials have

    @property
    def over(self) -> bool:
        """Whether no table has a hand left to play, or the evening has ended, well or not."""
        assert self._evening is not None
        return self._evening.done() or len(self._played) >= len(self.tables)

    def end(self) -> list[str]:
        """Let the evening go on to its end, and return what is wrong with it. Raises what a console has met."""
        self.stop()
        assert self._evening is not None
        try:
            played = self._evening.result()
        finally:
            self._pool.shutdown()
        with Terminal(self.root, self.credentials.auditor) as auditor:
            wait_for(auditor, played.closing)
            deadline = time.monotonic() + CAUGHT_UP
            while not (report := collect(auditor, self.tables, played)).ok and time.monotonic() < deadline:
                time.sleep(0.5)
        return [f"the evening: {name}" for name, held in report.checks.items() if not held] + report.differences[:3]

    def given_up(self) -> str:
        """What the evening ends with, now that it cannot go on; empty where it could."""
        self.stop()
        assert self._evening is not None
        found = self._evening.exception()
        self._pool.shutdown()
        return "" if found is None else str(found)

    def command(self, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """What a command of manage.py says when this is typed."""
        command = [sys.executable, str(CHECKOUT / "manage.py"), *words]
        return subprocess.run(command, env=self.environ, input=typed, capture_output=True, text=True, check=False)

    def outside(self) -> int:
        """Bytes of the checkpoints outside the database."""
        folder = Path(self.environ["CASINO_CHECKPOINT_DIR"])
        return sum(file.stat().st_size for file in folder.glob(f"{self.credentials.house}-????????.checkpoints"))

    def lost(self, acknowledged: list[Acknowledged]) -> list[Acknowledged]:
        """Those of these writes that the database has not, by their key or by chain, number and hash."""
        from django.db import connections

        from casino.audit.models import Event
        from casino.houses.models import House as Row
        from casino.staff.models import AnsweredRequest

        connections.close_all()
        house = Row.objects.get(code=self.credentials.house)
        keys = set(AnsweredRequest.objects.filter(house=house).values_list("key", flat=True))
        events = set(Event.objects.filter(house=house).values_list("chain__name", "seq", "leaf_hash"))
        return [one for one in acknowledged if one.key not in keys or (one.chain, one.seq, one.leaf_hash) not in events]


@contextmanager
def running(folder: Path, cluster: Cluster) -> Iterator[House]:
    """A house that is live, with its database in the cluster, and Django set up in this process."""
    for name in NAMES:
        os.environ.pop(name, None)
    os.environ["CASINO_VAR"] = str(folder / "var")
    postgres.make_logins(cluster)
    os.environ |= {
        "DATABASE_OWNER_URL": cluster.url("casino", "casino"),
        "DATABASE_URL": cluster.url("casino_app", "casino"),
        "DATABASE_SEQUENCER_URL": cluster.url("casino_sequencer", "casino"),
    }
    try:
        os.environ |= embedded.ensure().as_environ()  # the broker, keys and folders
        _set_up()
        with embedded.Keeper(), listen(0) as listener, _processes(listener, folder) as processes:
            processes.wait_ready(f"{address(listener)}/readyz")
            tables = load(HERE / "evening.jsonl")
            credentials = found_house(address(listener), tables.values()).credentials
            _let_wait(address(listener), credentials)
            house = House(processes, address(listener), dict(os.environ), credentials, tables)
            try:
                yield house
            finally:
                house.stop()
    finally:
        embedded.remove(var=folder / "var")


def _let_wait(root: str, credentials: Credentials) -> None:
    """Terminals may be left alone for an hour: nobody is at some of them while the trials go on."""
    points = {f"idle_minutes_{where}": 60 for where in ("at_tables", "at_drawers", "in_office")}
    with Terminal(root, credentials.admin) as admin, Terminal(root, credentials.auditor) as auditor:
        admin.post_approved("limits", {"points": points, "reason": "a long evening"}, auditor)


def _processes(listener: socket.socket, folder: Path) -> Processes:
    """The application's, whose logs stay when its own folder is removed."""
    return Processes(application(listener), log_dir=folder / "log")


def _set_up() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "casino.settings"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", database="owner", verbosity=0)
