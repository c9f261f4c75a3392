"""A crowd of client processes for one subject: started once, each with a connection of its own, recorded when to run.

`python -m tests.bench.ledger.crowd SUBJECT CLIENTS` prints its stage and how many statements a settlement takes, then
answers one line of JSON for each line: how many settlements the first `clients` of the crowd made between a common
start and a common stop, and how long one took. `Crowd` is the other end of that conversation.
"""

import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.bench.ledger.workload import Settlement, Stage, settlements, tables_of

CHECKOUT = Path(__file__).resolve().parents[3]
SETTLE_DOWN = 0.03
"""Seconds from telling the last client to the common start."""


class Crowd:
    """The parent's end: a process that has set Django up and forked the clients."""

    def __init__(self, subject: str, clients: int) -> None:
        from tests.bench.ledger.subjects import SUBJECTS

        self.subject = subject
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.ledger.crowd", subject, str(clients)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=CHECKOUT,
            env=os.environ | {"DJANGO_SETTINGS_MODULE": SUBJECTS[subject].settings},
        )
        self.statements: int = self._answer()["statements"]
        """Sent through Django for a settlement; BEGIN and COMMIT are not counted."""
        self.latencies: list[tuple[float, float]] = []
        """Of each run that was asked for: median and 99th percentile of a settlement, in milliseconds."""

    def rate(self, clients: int, seconds: float, *, hot: bool) -> float:
        """Settlements per second of the first `clients` processes together."""
        assert self.process.stdin is not None
        print(json.dumps({"clients": clients, "seconds": seconds, "hot": hot}), file=self.process.stdin, flush=True)
        answer = self._answer()
        self.latencies.append((statistics.median(answer["p50"]), max(answer["p99"])))
        return sum(answer["counts"]) / seconds

    def close(self) -> None:
        """Let all of them end."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.close()
            raise RuntimeError(f"the clients of {self.subject} ended; their errors are above")
        answer: dict[str, Any] = json.loads(line)
        return answer


@dataclass(frozen=True, slots=True)
class Order:
    """What a client is recorded: when to start and stop (`time.monotonic`, which all processes share), and where."""

    start: float
    stop: float
    hot: bool


def host(name: str, clients: int) -> None:
    """Set Django up, open the accounts, fork the clients and pass orders on until the input ends."""
    import django

    django.setup()
    from django.db import connections

    from tests.bench.ledger.subjects import SUBJECTS

    stage = SUBJECTS[name].open()
    connections.close_all()
    context = multiprocessing.get_context("fork")
    pipes: list[Connection] = []
    for number in range(clients):
        ours, theirs = context.Pipe()
        context.Process(target=client, args=(name, stage, number, theirs, [*pipes, ours]), daemon=True).start()
        theirs.close()
        pipes.append(ours)
    statements = [pipe.recv() for pipe in pipes]  # connected
    print(json.dumps(stage.as_dict() | {"statements": statements[0]}), flush=True)
    for line in sys.stdin:
        wanted = json.loads(line)
        start = time.monotonic() + SETTLE_DOWN
        order = Order(start, start + wanted["seconds"], wanted["hot"])
        asked = pipes[: wanted["clients"]]
        for pipe in asked:
            pipe.send(order)
        done = [pipe.recv() for pipe in asked]
        print(json.dumps({name: [one[name] for one in done] for name in ("counts", "p50", "p99")}), flush=True)


def client(name: str, stage: Stage, number: int, pipe: Connection, inherited: list[Connection]) -> None:
    """Connect, then settle whenever recorded to; answer with the settlements that were done before the stop."""
    for other in inherited:
        other.close()  # or nobody would notice that the host is gone
    from django.db import connection

    from tests.bench.ledger.subjects import SUBJECTS

    subject = SUBJECTS[name]
    settle = subject.settle(stage)
    connection.ensure_connection()
    work = {hot: settlements(stage, tables_of(number), hot=hot, first=500_000 * hot) for hot in (False, True)}
    pipe.send(_statements(settle, list(islice(work[False], subject.batch))))
    while True:
        try:
            order: Order = pipe.recv()
        except EOFError:
            return
        time.sleep(max(0.0, order.start - time.monotonic()))
        pipe.send(_until(order.stop, settle, work[order.hot], subject.batch))


def _statements(settle: Any, settlements: list[Settlement]) -> int:
    """How many statements Django is asked to execute for a settlement, or a batch."""
    from django.db import connection

    sent = 0

    def count(execute: Any, *arguments: Any) -> Any:
        nonlocal sent
        sent += 1
        return execute(*arguments)

    with connection.execute_wrapper(count):
        settle(settlements)
    return sent


def _until(stop: float, settle: Any, work: Iterator[Settlement], batch: int) -> dict[str, float]:
    """How many settlements were over when the time was, and milliseconds of one call (median, 99th percentile); the
    last one, which the end cut off, is made but not counted."""
    taken: list[float] = []
    started = time.monotonic()
    while True:
        settle(list(islice(work, batch)))
        now = time.monotonic()
        if now > stop:
            break
        taken.append((now - started) * 1000)
        started = now
    quantiles = statistics.quantiles(taken, n=100) if len(taken) > 1 else [0.0] * 99
    return {"counts": len(taken) * batch, "p50": quantiles[49], "p99": quantiles[98]}


if __name__ == "__main__":
    host(sys.argv[1], int(sys.argv[2]))
