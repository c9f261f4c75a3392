"""A crowd of client processes for one subject: started once, each with a connection of its own, told when to run.

`python -m tests.bench.ledger.crowd SUBJECT CLIENTS` prints its stage, then answers one line of JSON for each line: how
many settlements the first `clients` of the crowd made between a common start and a common stop. `Crowd` is the other
end of that conversation.
"""

import json
import multiprocessing
import os
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
        self._answer()

    def rate(self, clients: int, seconds: float, *, hot: bool) -> float:
        """Settlements per second of the first `clients` processes together."""
        assert self.process.stdin is not None
        print(json.dumps({"clients": clients, "seconds": seconds, "hot": hot}), file=self.process.stdin, flush=True)
        return sum(self._answer()["counts"]) / seconds

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
    """What a client is told: when to start and stop (`time.monotonic`, which all processes share), and where."""

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
    for pipe in pipes:
        pipe.recv()  # connected
    print(json.dumps(stage.as_dict()), flush=True)
    for line in sys.stdin:
        wanted = json.loads(line)
        start = time.monotonic() + SETTLE_DOWN
        order = Order(start, start + wanted["seconds"], wanted["hot"])
        asked = pipes[: wanted["clients"]]
        for pipe in asked:
            pipe.send(order)
        print(json.dumps({"counts": [pipe.recv() for pipe in asked]}), flush=True)


def client(name: str, stage: Stage, number: int, pipe: Connection, inherited: list[Connection]) -> None:
    """Connect, then settle whenever told to; answer with the settlements that were done before the stop."""
    for other in inherited:
        other.close()  # or nobody would notice that the host is gone
    from django.db import connection

    from tests.bench.ledger.subjects import SUBJECTS

    subject = SUBJECTS[name]
    settle = subject.settle(stage)
    connection.ensure_connection()
    work = {hot: settlements(stage, tables_of(number), hot=hot, first=500_000 * hot) for hot in (False, True)}
    pipe.send("ready")
    while True:
        try:
            order: Order = pipe.recv()
        except EOFError:
            return
        time.sleep(max(0.0, order.start - time.monotonic()))
        pipe.send(_until(order.stop, settle, work[order.hot], subject.batch))


def _until(stop: float, settle: Any, work: Iterator[Settlement], batch: int) -> int:
    """How many settlements were over when the time was; the last one, which it cut off, is made but not counted."""
    done = 0
    while True:
        settle(list(islice(work, batch)))
        if time.monotonic() > stop:
            return done
        done += batch


if __name__ == "__main__":
    host(sys.argv[1], int(sys.argv[2]))
