"""Closed loop: every table plays hand after hand. Open loop: hands are due at moments that were drawn beforehand, and
the first request of a hand counts from its moment, whether a table was free or not."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from tests.load.measured import Result, Taken
from tests.load.parts import Parts
from tests.load.room import Room, Table

#: Seconds late from which on a hand counts as begun late.
LATE = 0.01


def closed(room: Room, parts: Parts, seconds: float, think: float) -> Result:
    """Every table plays for so long, with players who think for `think` seconds on average."""

    def hands(table: Table, begun: float, taken: Taken) -> Iterator[float]:
        while (now := time.monotonic()) - begun < seconds:
            yield now + table.pace.pause()

    name = f"closed loop, {len(room.tables)} tables, {1000 * think:.0f} ms of thought"
    return _run(room, parts, name, think, hands)


def open_(room: Room, parts: Parts, seconds: float, think: float, rate: float, seed: int) -> Result:
    """`rate` hands a second are due for so long, at random moments; whichever table is free takes the next."""
    choice = random.Random(seed)
    moments = []
    at = choice.expovariate(rate)
    while at < seconds:
        moments.append(at)
        at += choice.expovariate(rate)
    coming, lock = iter(moments), threading.Lock()

    def hands(table: Table, begun: float, taken: Taken) -> Iterator[float]:
        while True:
            with lock:
                moment = next(coming, None)
                if moment is None:
                    return
                taken.late += time.monotonic() - (begun + moment) > LATE
            yield begun + moment

    name = f"open loop, {len(room.tables)} tables, {1000 * think:.0f} ms of thought"
    return _run(room, parts, name, think, hands, rate)


def _run(
    room: Room,
    parts: Parts,
    name: str,
    think: float,
    hands: Callable[[Table, float, Taken], Iterator[float]],
    rate: float | None = None,
) -> Result:
    taken = room.take()
    room.think(think)
    before, moment = parts.cpu(), parts.now()
    begun = time.monotonic()

    def play(table: Table) -> None:
        for due in hands(table, begun, taken):
            table.play(due)
            table.make_ready()

    with ThreadPoolExecutor(len(room.tables)) as pool:
        for one in [pool.submit(play, table) for table in room.tables]:
            one.result()
    took = time.monotonic() - begun
    after = parts.cpu()
    cpu = {part: after[part] - before[part] for part in after}
    return Result(name, took, taken, cpu, parts.ages(room.credentials.house, moment), rate)
