"""How long after an event a signed checkpoint that covers it stands outside the database, while the house is busy.

Full load: writers in processes of their own keep every core busy, and the sequencer, a process as in production, gets
what is left. Two loads: hands through the HTTP application, and bare events as fast as PostgreSQL takes them.
"""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Django is set up when the database is there
    from tests.casino.kit import Kit

#: The goal: seconds that 99 of 100 events wait at most.
GOAL = 5.0
SECONDS = 30
QUICK_SECONDS = 5
#: One more than there are cores: somebody always waits for one.
WRITERS = (os.cpu_count() or 1) + 1
POLL = 0.01


@dataclass(frozen=True, slots=True)
class Lag:
    """What one load gave: events in the log, checkpoints, and seconds from event to checkpoint."""

    load: str
    seconds: float
    events: int
    checkpoints: int
    median: float
    p99: float
    worst: float

    def line(self) -> str:
        """One line for people."""
        met = "met" if self.p99 <= GOAL else "MISSED"
        return (
            f"{f'sequencer lag, {self.load}':34} {self.p99:>10.2f} s p99 (median {self.median:.2f}, worst "
            f"{self.worst:.2f}; {self.events / self.seconds:,.0f} events/s, {self.checkpoints} checkpoints; "
            f"goal {GOAL:.0f} s: {met})"
        )


def run(quick: bool = False) -> list[Lag]:
    """Measure both loads and print a line each. Needs a database of its own (`tests.bench.database`)."""
    seconds = QUICK_SECONDS if quick else SECONDS
    found = [
        measure("hands through the application", play, seconds),
        measure("events as fast as they go", write, seconds),
    ]
    for lag in found:
        print(lag.line(), flush=True)
    return found


def measure(load: str, work: Callable[[str, int, str, float], None], seconds: float) -> Lag:
    """Run the sequencer and the writers, and compare each event's time with when its checkpoint was seen outside."""
    from tests.casino.kit import Kit

    kit = Kit.found()
    tokens = [_dealer(kit, f"L{number}") for number in range(WRITERS)]
    before = kit.sequence().size
    watcher = _Watcher(kit)
    sequencer = subprocess.Popen(
        [sys.executable, "manage.py", "sequence_audit"], cwd=Path(__file__).parents[3], env=dict(os.environ)
    )
    try:
        with watcher, ProcessPoolExecutor(WRITERS, mp_context=get_context("spawn")) as pool:
            writers = [pool.submit(work, kit.house.code, number, tokens[number], seconds) for number in range(WRITERS)]
            for writer in writers:
                writer.result()
            watcher.wait_for(_events(kit))
    finally:
        sequencer.send_signal(signal.SIGTERM)
        sequencer.wait(timeout=30)
    recorded = watcher.waits(kit, before)
    took = max(at for at, _ in recorded) - min(at for at, _ in recorded)
    waits = sorted(wait for _, wait in recorded)
    kit.close()
    return Lag(
        load, took, len(waits), len(watcher.seen), waits[len(waits) // 2],
        waits[math.ceil(len(waits) * 0.99) - 1], waits[-1],
    )  # fmt: skip


def play(code: str, number: int, token: str, seconds: float) -> None:
    """One dealer plays hands at one table, every action in a separate request."""
    kit = _kit(code)
    from tests.casino.kit import SAMPLE, Desk

    dealer = Desk(kit.http(None), f"/api/v1/tables/L{number}")
    dealer.http.headers["Authorization"] = token
    dealer.refresh()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        dealer.ok("hands", {"mode": "physical"})
        for line in SAMPLE:
            dealer.act(line)
        while dealer.refresh()["state"] != "open":
            kit.settle()
    kit.close()


def write(code: str, number: int, token: str, seconds: float) -> None:
    """Events of a chain of its own, one a transaction."""
    kit = _kit(code)
    from tests.casino.logs import note

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        note(kit, f"table/L{number}", 1)


def _dealer(kit: "Kit", table: str) -> str:
    """A table without tax, so that the tray never runs out of change, its players, and its dealer's Authorization."""
    kit.table(table, tax_bps=0)
    return kit.seated(table, stacks=(900_000,) * 4).http.headers["Authorization"]


def _kit(code: str) -> "Kit":
    """The house of this code, in a process that has just been started."""
    import django

    django.setup()
    from casino.houses.models import House
    from tests.casino.kit import Kit

    return Kit(House.objects.get(code=code))


def _events(kit: "Kit") -> int:
    from casino.audit.models import Event

    return Event.objects.filter(chain__house=kit.house).count()


class _Watcher:
    """Looks at the file outside the database, as an auditor's machine would, and remembers when each size was there."""

    def __init__(self, kit: "Kit") -> None:
        from casino.audit import outside

        self._path = outside.notes_file(outside.folders()[0], kit.house)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        #: (size of a checkpoint, when it was seen), in their order.
        self.seen: list[tuple[int, float]] = []

    def __enter__(self) -> "_Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def wait_for(self, size: int) -> None:
        """Wait until a checkpoint covers so many events."""
        deadline = time.monotonic() + 60
        while not self.seen or self.seen[-1][0] < size:
            if time.monotonic() > deadline:
                raise TimeoutError(f"no checkpoint of {size} events after a minute")
            time.sleep(POLL)

    def waits(self, kit: "Kit", before: int) -> list[tuple[float, float]]:
        """When each event of the log from leaf `before` on was written, and how many seconds it has waited."""
        from casino.audit.models import Leaf

        leaves = Leaf.objects.filter(house=kit.house, leaf_index__gte=before).order_by("leaf_index")
        found, checkpoints = [], iter(self.seen)
        size, seen = next(checkpoints)
        for index, at in leaves.values_list("leaf_index", "event__doc__at").iterator():
            while size <= index:
                size, seen = next(checkpoints)
            written = datetime.fromisoformat(at).timestamp()
            found.append((written, seen - written))
        return found

    def _watch(self) -> None:
        """Read what was appended, note by note: the line after the origin is the size."""
        with self._path.open(encoding="utf-8") as file:
            file.seek(0, os.SEEK_END)
            rest = ""
            while not self._stop.wait(POLL):
                rest += file.read()
                *blocks, rest = rest.split("\n\n")
                now = time.time()
                self.seen += [(int(block.split("\n")[1]), now) for block in blocks if not block.startswith("—")]
