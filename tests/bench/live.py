"""How soon hints come to many readers at once, and what that costs: `make bench ARGS=live`.

Every reader has a stream of one of ten tables or of the house. Somebody writes beside them, a few times a second, as a
room does. Measured is the time from before a write to the arrival of its hint at every reader that must get it, the
writes themselves with and without readers, and the CPU that the sending process takes.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from deploy.processes import Processes
from tests.bench.http import usage
from tests.deploy.web_and_hints import running

TABLES = 10
#: Streams of one token; it may have eight.
OF_A_TOKEN = 8
#: Seconds between two writes.
PAUSE = 0.05
GOAL_MS = 500
#: Seconds within which every stream has begun.
OPENING = 120.0


@dataclass
class Measured:
    """What came of one run."""

    streams: int
    writes: int
    #: Seconds from before a write to the arrival of its hint, of every reader.
    latencies: list[float] = field(default_factory=list)
    #: Seconds that a write took, with nobody following and with all of them.
    alone: list[float] = field(default_factory=list)
    followed: list[float] = field(default_factory=list)
    #: Hints that a reader had twice, or not at all.
    wrong: int = 0
    #: CPU of the sending process, as a part of one core: while something happens, and while nothing does.
    busy: float | None = None
    idle: float | None = None

    def lines(self) -> Iterator[str]:
        """For people."""
        yield (
            f"{self.streams} streams, {self.writes} writes: a hint comes after {_ms(self.latencies, 0.5)} ms (median), "
            f"{_ms(self.latencies, 0.99)} ms (p99), {_ms(self.latencies, 1.0)} ms (last)  goal {GOAL_MS} ms"
        )
        yield (
            f"a write takes {_ms(self.alone, 0.5)} ms with nobody following (p99 {_ms(self.alone, 0.99)} ms), "
            f"{_ms(self.followed, 0.5)} ms with all of them (p99 {_ms(self.followed, 0.99)} ms)"
        )
        if self.busy is not None and self.idle is not None:
            yield f"the sending process takes {self.busy:.1%} of a core meanwhile, {self.idle:.1%} while nobody writes"


def _ms(seconds: list[float], part: float) -> str:
    return f"{sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * part))] * 1e3:.1f}"


def run(*, quick: bool) -> None:
    """Measure, and print it."""
    with running() as up:
        print(*measure(up.processes, up.port, streams=200, writes=40 if quick else 400).lines(), sep="\n", flush=True)


def measure(processes: Processes, port: int, *, streams: int, writes: int) -> Measured:
    """So many readers of ten tables and of the house, so many writes."""
    from django.db import connections

    from casino.staff.models import Role, TerminalKind
    from tests.casino.kit import Kit

    kit = Kit.found()
    for number in range(1, TABLES + 1):
        kit.table(f"T{number}")
    tokens = [kit.token(Role.FLOOR, TerminalKind.OFFICE, "") for _ in range(-(-streams // OF_A_TOKEN))]
    found = Measured(streams, writes)
    with ThreadPoolExecutor(1) as writer:
        asyncio.run(_measured(found, processes, port, kit, tokens, writer))
        writer.submit(connections.close_all).result()
    kit.close()
    return found


def _write(kit: Any, number: int) -> tuple[tuple[str, int], float, float]:
    """A write at one of the tables: its place in the trail, the seconds it took, and when it began."""
    from tests.casino.live.readers import happen

    chain = f"table/T{number % TABLES + 1}"
    begun = time.monotonic()
    seq = happen(kit.house, chain, version=number)
    return (chain, seq), time.monotonic() - begun, begun


async def _measured(
    found: Measured, processes: Processes, port: int, kit: Any, tokens: list[str], writer: Executor
) -> None:
    for number in range(found.writes):
        _, took, _ = await asyncio.get_running_loop().run_in_executor(writer, _write, kit, number)
        found.alone.append(took)
        await asyncio.sleep(PAUSE)
    # By place in the trail: when it came to whom.
    arrived: dict[tuple[str, int], list[float]] = defaultdict(list)
    #: How many readers follow each chain.
    followed: dict[str, int] = defaultdict(int)
    asked = []
    for number in range(found.streams):
        # Every twentieth follows the house, as the floor does; the others a table each.
        table = None if number % 20 == 0 else number % TABLES + 1
        for code in range(1, TABLES + 1) if table is None else [table]:
            followed[f"table/T{code}"] += 1
        asked.append(("stream" if table is None else f"tables/T{table}/stream", tokens[number // OF_A_TOKEN]))
    readers = await opened(port, asked, arrived)
    await asyncio.sleep(2)
    hints = processes.pid_of("hints")
    began, cpu = time.monotonic(), _cpu(hints)
    await asyncio.sleep(3)
    if cpu is not None:
        found.idle = ((_cpu(hints) or 0) - cpu) / (time.monotonic() - began)
    began, cpu, times = time.monotonic(), _cpu(hints), {}
    for number in range(found.writes):
        place, took, begun = await asyncio.get_running_loop().run_in_executor(writer, _write, kit, number)
        times[place] = begun
        found.followed.append(took)
        await asyncio.sleep(PAUSE)
    if cpu is not None:
        found.busy = ((_cpu(hints) or 0) - cpu) / (time.monotonic() - began)
    await _until(lambda: all(len(arrived[place]) >= followed[place[0]] for place in times), 20)
    for place, begun in times.items():
        found.latencies += [at - begun for at in arrived[place]]
        found.wrong += abs(len(arrived[place]) - followed[place[0]])
    for reader in readers:
        assert not reader.done(), reader.result()
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


async def _until(well: Any, seconds: float) -> None:
    """Wait until this holds, or the time is over."""
    until = time.monotonic() + seconds
    while not well() and time.monotonic() < until:
        await asyncio.sleep(0.05)


async def opened(
    port: int, asked: Iterable[tuple[str, str]], arrived: dict[tuple[str, int], list[float]]
) -> list[asyncio.Task[str]]:
    """Readers of streams by path and token, each of which has begun. A stream begins with what was last: one that opens
    after a second write has the first no more."""
    begun = []
    readers = []
    for path, token in asked:
        begun.append(asyncio.Event())
        readers.append(asyncio.create_task(_read(port, path, token, arrived, begun[-1])))
    await _until(lambda: all(one.is_set() for one in begun), OPENING)
    assert all(one.is_set() for one in begun), f"not every stream has begun after {OPENING} s"
    return readers


async def _read(
    port: int, path: str, token: str, arrived: dict[tuple[str, int], list[float]], begun: asyncio.Event
) -> str:
    """Read a stream to its end, which it must not have; what it began with."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        lines = (f"GET /api/v1/{path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}", "", "")
        writer.write("\r\n".join(lines).encode())
        status = await reader.readline()
        while line := await reader.readline():
            if line.startswith(b"data: "):
                hint = json.loads(line[6:])
                if hint:  # a sign of life holds nothing
                    arrived[hint["chain"], hint["seq"]].append(time.monotonic())
                    begun.set()
        return f"{path} has ended: {status!r}"
    finally:
        writer.close()


def _cpu(pid: int) -> float | None:
    """CPU seconds of a process until now, None where there is no /proc."""
    if not usage.measurable():
        return None
    return usage.of_trees({"hints": pid}, usage.processes())["hints"]
